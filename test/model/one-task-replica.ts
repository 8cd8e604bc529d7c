import type { Step } from './explore.ts';
import { call, isSuspected, name, spend, start, tell } from './one-task-moves.ts';
import { declare, renew, sweep } from './one-task-store.ts';
import type { Ask, Call, Replica, Run, Setup, World } from './one-task.ts';
import { freshReplica, idOf, isLastWord, withCalls, withReplica } from './one-task.ts';
import { shelfOf } from './shelf.ts';

// What a replica does by itself, what befalls it, and who is taken for dead.

/** Runs, claims, looks, gives back and leaves. */
export function* replicaSteps(setup: Setup, world: World, by: number, replica: Replica): Generator<Step<World>> {
  const { row } = world.shelf;
  if (replica.run !== undefined) yield* runSteps(setup, world, by, replica.run);
  const isSilent = isSuspected(world, replica.id);
  const isFirst = setup.isNarrow !== true || !world.replicas.some(({ isClaiming }) => isClaiming);
  const isIdle = isFirst && replica.run === undefined && !isSilent && !replica.isClaiming && !replica.isDraining;
  if (isIdle && row?.phase === 'queued')
    yield { label: `${name(by)}: claims`, to: call(setup, withReplica(world, by, { isClaiming: true }), by, { verb: 'claim' }) };
  const isHeldHere = row?.phase === 'open' && row.holder === replica.id;
  if (setup.habits.looksForHeld && isHeldHere && row.fence > replica.started) {
    const { turn, attempt, fence } = row;
    const grant = { turn, attempt, fence, holder: replica.id };
    // a replica that drains starts nothing: the turn is given back
    yield {
      label: `${name(by)}: looks, is named as holder (fence ${fence})`,
      to: replica.isDraining ? withReplica(world, by, { started: fence, over: 'drain' }) : start(setup, world, by, { grant }),
    };
  }
  const why = isHeldHere && !replica.isReleasing && !isSilent ? whyRelease(replica, row) : undefined;
  if (why !== undefined && row !== undefined) {
    const ask: Ask = { verb: 'release', fence: row.fence, why };
    // an interrupt whose message is taken meanwhile has nobody to hand over to: the run is settled as lost
    const struck = { ...world, isStruck: world.isStruck || why === 'interrupt' };
    yield { label: `${name(by)}: gives the turn away (${why})`, to: call(setup, withReplica(struck, by, { isReleasing: true }), by, ask) };
  }
  if (replica.isDraining) yield* leaveSteps(setup, world, by, replica);
}

function whyRelease(
  { run, started, over, isDraining }: Replica,
  row: { readonly fence: number; readonly isInterrupted: boolean },
): Extract<Ask, { readonly verb: 'release' }>['why'] | undefined {
  if (run !== undefined) {
    if (run.fence !== row.fence) return undefined;
    if (row.isInterrupted && run.known === run.words.length) return 'interrupt';
    return isDraining ? 'drain' : undefined;
  }
  return over !== '' && started === row.fence ? over : undefined;
}

function* runSteps(setup: Setup, world: World, by: number, run: Run): Generator<Step<World>> {
  const program = setup.programs[run.turn - 1] ?? ['COMPLETED'];
  const next = program[run.at];
  const isTalking = setup.talksOn === true || !isLastWord(run.words.at(-1) ?? '');
  if (next !== undefined && isTalking && run.words.length - run.known < 2)
    yield { label: `${name(by)}: the agent says ${next}`, to: withReplica(world, by, { run: speak(world, run, next) }) };
  const from = run.isTroubled ? run.known : run.sent;
  const most = run.isTroubled ? 1 : (setup.flights ?? 1);
  if (run.words.length > from && run.flights < most) {
    const ask: Ask = { verb: 'append', no: run.no, fence: run.fence, first: from + 1, words: upToLast(run.words.slice(from)) };
    const sent = { ...run, sent: from + ask.words.length, flights: run.flights + 1, isMending: run.isTroubled };
    yield {
      label: `${name(by)}: sends #${ask.first} ${ask.words.join('+')}`,
      to: call(setup, withReplica(world, by, { run: sent }), by, ask),
    };
  }
  const { row } = world.shelf;
  // the look shows no turn of this fence here any more; last words may have closed it, and their answer will tell
  if (row !== undefined && row.fence > run.fence && run.words.length === run.known)
    yield {
      label: `${name(by)}: looks, is no holder any more (fence ${run.fence})`,
      to: withReplica(world, by, { run: undefined, over: 'drain' }),
    };
}

/** Nothing goes together with a last word but what stands before it: the store refuses such a batch for its shape. */
function upToLast(words: readonly string[]): readonly string[] {
  const last = words.findIndex(isLastWord);
  return last < 0 ? words : words.slice(0, last + 1);
}

/** `TAKE` takes the oldest message that waits at this moment; if none does, the agent goes on. */
function speak({ shelf: { row } }: World, run: Run, next: string): Run {
  const waiting = row?.waiting[0];
  if (next !== 'TAKE') return { ...run, at: run.at + 1, words: [...run.words, next] };
  return { ...run, at: run.at + 1, words: waiting === undefined ? run.words : [...run.words, `TAKE ${waiting}`] };
}

function* leaveSteps(setup: Setup, world: World, by: number, replica: Replica): Generator<Step<World>> {
  const isStill = replica.run === undefined && replica.serves < 0 && !world.calls.some((one) => one.by === by && one.stage !== 'late');
  if (isStill && world.shelf.row?.holder !== replica.id)
    yield {
      label: `${name(by)}: has drained and leaves`,
      to: withReplica(renew(setup, world, replica.id, 'leave'), by, { life: 'down', isDraining: false }),
    };
}

/** Who stood still for a lease, who is declared dead, and whose turn is swept. */
export function* leaseSteps(setup: Setup, world: World): Generator<Step<World>> {
  const { shelf, replicas, suspects } = world;
  for (const [id, { beat: count, diedAt }] of Object.entries(shelf.replicas)) {
    if (diedAt !== undefined) continue;
    const by = replicas.findIndex((one) => one.id === id);
    const observer = replicas.findIndex((one) => one.life === 'up' && one.id !== id);
    if (suspects[id] === undefined) {
      if (by < 0 || replicas[by]?.life !== 'up') yield { label: `time: ${id} stood still for a lease`, to: suspect(world, id, count) };
      else if (world.left.falseEnd > 0 && (setup.isNarrow !== true || shelf.row?.holder === id))
        yield {
          label: `FALSE end of the lease of ${id}, which lives`,
          isFault: true,
          to: { ...suspect(spend(world, 'falseEnd'), id, count), isStruck: true },
        };
    } else if (observer >= 0)
      yield { label: `${name(observer)}: declares ${id} dead if it still shows ${suspects[id]}`, to: declare(setup, world, id) };
  }
  if (replicas.some(({ life }) => life === 'up')) {
    const swept = sweep(setup, world);
    if (swept !== world) yield { label: `sweep: the turn of ${shelf.row?.holder ?? ''}, which is dead`, to: swept };
  }
}

const suspect = (world: World, id: string, count: number): World => ({ ...world, suspects: { ...world.suspects, [id]: count } });

/** Renews or hears of its death; pauses, drains, crashes and comes back. */
export function* fateSteps(setup: Setup, world: World, by: number, replica: Replica): Generator<Step<World>> {
  const row = world.shelf.replicas[replica.id];
  if (replica.life === 'up') {
    if (row?.diedAt !== undefined && !replica.ignoresDeath)
      yield { label: `${name(by)}: its renewal is refused, ${replica.id} is dead`, to: deathHeard(setup, world, by, replica) };
    if (isSuspected(world, replica.id)) {
      yield { label: `${name(by)}: renews`, to: renew(setup, world, replica.id, 'renew') };
      if (replica.run !== undefined && setup.onLost === 'retry')
        yield {
          label: `${name(by)}: no contact for a lease, stops its run`,
          to: withReplica(world, by, { run: undefined, over: 'silence' }),
        };
    }
    if (world.left.pause > 0)
      yield {
        label: `PAUSE ${name(by)}`,
        isFault: true,
        to: withReplica({ ...spend(world, 'pause'), isStruck: true }, by, { life: 'paused' }),
      };
    if (world.left.drain > 0 && !replica.isDraining)
      yield {
        label: `DRAIN ${name(by)}`,
        isFault: true,
        to: withReplica({ ...spend(world, 'drain'), isStruck: true }, by, { isDraining: true }),
      };
  }
  if (replica.life === 'paused') yield { label: `GOES ON ${name(by)}`, isFault: true, to: withReplica(world, by, { life: 'up' }) };
  if (replica.life !== 'down' && world.left.crash > 0)
    yield { label: `CRASH ${name(by)}`, isFault: true, to: crash(spend(world, 'crash'), by, replica) };
  if (replica.life === 'down' && world.left.restart > 0)
    yield { label: `RESTART ${name(by)}`, isFault: true, to: restart(setup, spend(world, 'restart'), by, replica) };
}

function nextId(by: number, id: string): string {
  return idOf(by, Number(id.slice(1)) + 1);
}

function deathHeard({ habits }: Setup, world: World, by: number, { id }: Replica): World {
  const left = { run: undefined, over: 'drain', isClaiming: false, isReleasing: false } as const;
  return habits.endsWithRefusal
    ? joined(withReplica(world, by, { ...left, id: nextId(by, id) }), nextId(by, id))
    : withReplica(world, by, { ...left, ignoresDeath: true });
}

function joined(world: World, id: string): World {
  return { ...world, shelf: { ...world.shelf, replicas: { ...shelfOf([id]).replicas, ...world.shelf.replicas } } };
}

/** Its answers reach nobody; what it has asked may still run. Whoever it served is told that it cannot know. */
function crash(world: World, by: number, replica: Replica): World {
  const calls = world.calls
    .filter((one) => one.by !== by || one.stage !== 'answered')
    .map((one): Call => (one.by === by ? { ...one, stage: 'late' } : one));
  const told = tell({ ...world, isStruck: true }, by, 'unknown');
  return withCalls(withReplica(told, by, { ...freshReplica(replica.id), life: 'down' }), calls);
}

function restart({ habits }: Setup, world: World, by: number, { id }: Replica): World {
  const newId = habits.drawsId ? nextId(by, id) : id;
  return joined(withReplica(world, by, freshReplica(newId)), newId);
}
