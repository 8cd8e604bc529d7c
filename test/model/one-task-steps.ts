import type { Step } from './explore.ts';
import { call, isSuspected, name, spend, start, tell, withClient } from './one-task-moves.ts';
import { fateSteps, leaseSteps, replicaSteps } from './one-task-replica.ts';
import { run as runInStore } from './one-task-store.ts';
import type { Answer, Ask, Call, Replica, Run, Script, Setup, World } from './one-task.ts';
import { isLastWord, withCalls, withReplica } from './one-task.ts';

// What may happen next in the model of one task. Each step is one thing that one party does; between any two of them any other may happen.

/** All steps that can be taken from here. */
export function* stepsOf(setup: Setup, world: World): Generator<Step<World>> {
  if (world.flaw !== '') return;
  for (let client = 0; client < world.clients.length; client++) yield* clientSteps(setup, world, client);
  for (const one of world.calls) yield* callSteps(setup, world, one);
  for (let by = 0; by < world.replicas.length; by++) {
    const replica = world.replicas[by];
    if (replica === undefined) continue;
    if (replica.life === 'up') yield* replicaSteps(setup, world, by, replica);
    yield* fateSteps(setup, world, by, replica);
  }
  yield* leaseSteps(setup, world);
}

// -- clients --

function* clientSteps(setup: Setup, world: World, at: number): Generator<Step<World>> {
  const client = world.clients[at];
  const script = setup.clients[at];
  if (client === undefined || script === undefined) return;
  if (client.at !== 'idle' || !isWanted(script, world)) return;
  for (let by = 0; by < world.replicas.length; by++) {
    const replica = world.replicas[by];
    if (replica?.life !== 'up' || replica.serves >= 0 || (script.via ?? by) !== by) continue;
    const ask = askOf(setup, world, { by: replica, at });
    if (ask === undefined) continue;
    const serving = withReplica(withClient(world, at, { ...client, at: 'waits' }), by, { serves: at });
    yield { label: `client: ${script.does} ${script.key} -> ${name(by)}`, to: call(setup, serving, by, ask) };
  }
}

function isWanted({ does, whenCalm }: Script, { shelf: { row }, replicas, suspects }: World): boolean {
  if (
    whenCalm === true &&
    (Object.keys(suspects).length > 0 || !replicas.some(({ ignoresDeath, id }) => ignoresDeath || !id.endsWith('1')))
  )
    return false;
  switch (does) {
    case 'send':
      return true;
    case 'answer':
      return row?.state === 'TASK_STATE_INPUT_REQUIRED';
    case 'resume':
      return row?.state === 'TASK_STATE_AUTH_REQUIRED' && row.phase === 'closed';
    case 'add':
    case 'cancel':
      return row !== undefined;
  }
}

function askOf(setup: Setup, world: World, { by, at }: { readonly by: Replica; readonly at: number }): Ask | undefined {
  const script = setup.clients[at];
  if (script === undefined) return undefined;
  const canStart = script.hasRoom !== false && by.run === undefined && !by.isDraining && !isSuspected(world, by.id);
  if (script.does === 'cancel') return { verb: 'cancel', client: at };
  if (script.does === 'resume') return { verb: 'resume', client: at, canStart };
  const isFirst = setup.habits.keepsKey || world.clients[at]?.tries === 0;
  return { verb: 'accept', client: at, key: isFirst ? script.key : `${script.key} again`, canStart };
}

// -- calls under way --

function* callSteps(setup: Setup, world: World, one: Call): Generator<Step<World>> {
  const others = world.calls.filter((other) => other !== one);
  const replica = world.replicas[one.by];
  if (one.stage === 'answered') {
    if (replica?.life !== 'up') return;
    const without = withCalls(world, others);
    yield { label: `${name(one.by)}: hears "${one.answer?.kind}" to ${textOf(one.ask)}`, to: hear(setup, without, one, one.answer) };
    if (world.left.cut > 0)
      yield {
        label: `CUT the answer to ${textOf(one.ask)} of ${one.from} is lost`,
        isFault: true,
        to: hear(setup, spend(without, 'cut'), one, undefined),
      };
    return;
  }
  const isLate = one.stage === 'late';
  const ran = runInStore(setup, world, one);
  const after: World = {
    ...world,
    shelf: ran.shelf,
    twins: world.twins + (ran.twins ?? 0),
    losses: world.losses + (ran.losses ?? 0),
    flaw: ran.flaw ?? '',
  };
  yield {
    label: `store: ${textOf(one.ask)} of ${one.from}${isLate ? ' runs LATE' : ''} = ${ran.answer.kind}`,
    to: isLate
      ? withCalls(after, others)
      : ran.answer.kind === 'none'
        ? withReplica(withCalls(after, others), one.by, { isClaiming: false }) // a claim that found nothing leaves its replica as it was
        : withCalls(after, [...others, answered(one, ran.answer)]),
  };
  if (isLate) yield { label: `link: ${textOf(one.ask)} of ${one.from} never runs`, to: withCalls(world, others) };
  else if (world.left.cut > 0 && replica?.life === 'up') {
    const late = withCalls(spend(world, 'cut'), [...others, { ...one, stage: 'late' }]);
    yield { label: `CUT before ${textOf(one.ask)} of ${one.from} ran`, isFault: true, to: hear(setup, late, one, undefined) };
  }
}

const answered = ({ by, from, ask }: Call, answer: Answer): Call => ({ by, from, ask, stage: 'answered', answer });

function textOf(ask: Ask): string {
  switch (ask.verb) {
    case 'accept':
      return `accept ${ask.key}`;
    case 'append':
      return `append #${ask.first} ${ask.words.join('+')} (fence ${ask.fence})`;
    case 'release':
      return `release for ${ask.why} (fence ${ask.fence})`;
    default:
      return ask.verb;
  }
}

/** A replica hears what became of its call; undefined: it cannot know. */
function hear(setup: Setup, world: World, one: Call, answer: Answer | undefined): World {
  const { ask, by } = one;
  switch (ask.verb) {
    case 'cancel':
      return tell(world, by, answer?.kind ?? 'unknown');
    case 'accept':
    case 'resume':
      return tell(start(setup, world, by, answer), by, answer?.kind ?? 'unknown');
    case 'claim':
      return withReplica(start(setup, world, by, answer), by, { isClaiming: false });
    case 'release':
      return hearRelease(withReplica(world, by, { isReleasing: false }), by, { fence: ask.fence, answer });
    case 'append':
      return hearAppend(setup, world, by, { ask, answer });
  }
}

function hearRelease(world: World, by: number, { fence, answer }: { readonly fence: number; readonly answer: Answer | undefined }): World {
  const isOver = answer !== undefined && world.replicas[by]?.run?.fence === fence;
  return isOver ? withReplica(world, by, { run: undefined, over: 'drain' }) : world;
}

// -- the writer of a run --

type AppendCall = Extract<Ask, { readonly verb: 'append' }>;

function hearAppend(
  setup: Setup,
  world: World,
  by: number,
  { ask, answer }: { readonly ask: AppendCall; readonly answer: Answer | undefined },
): World {
  const run = world.replicas[by]?.run;
  if (run?.no !== ask.no) return world;
  const flights = run.flights - 1;
  const last = ask.first + ask.words.length - 1;
  if (answer?.kind === 'applied')
    return said(world, by, { ...run, flights, known: Math.max(run.known, last), ...(run.isMending ? mended : {}) });
  if (answer === undefined && !setup.habits.waitsForOutcome) return withReplica(world, by, { run: undefined, over: 'drain' });
  // the first trouble only says that all shall be asked again, alone; a gap is one too
  if (answer === undefined || !run.isMending || answer.kind === 'gap')
    return withReplica(world, by, {
      run: { ...run, flights, isTroubled: true, isMending: false, isDoubtful: run.isDoubtful || answer === undefined },
    });
  return refused(setup, world, by, { ...run, flights });
}

const mended = { isTroubled: false, isMending: false } as const;

/** All words stand: a run that has said its last one is over. */
function said(world: World, by: number, run: Run): World {
  const isOver = run.known === run.words.length && isLastWord(run.words.at(-1) ?? '');
  return withReplica(world, by, isOver ? { run: undefined, over: 'drain' } : { run });
}

/** Asked alone and in order, and refused: after a doubt the log tells what became of the words. */
function refused({ habits }: Setup, world: World, by: number, run: Run): World {
  const own = world.shelf.log.filter(
    ({ fence, ordinal, body }) => fence === run.fence && ordinal !== undefined && (body.startsWith(`${run.no} `) || body === '{}'),
  );
  const applied = Math.max(run.known, ...own.map(({ ordinal = 0 }) => ordinal));
  const known = habits.looksIntoLog && run.isDoubtful ? applied : run.known;
  const over = withReplica(world, by, { run: undefined, over: 'drain' });
  return known < applied ? { ...over, flaw: 'P9: a run believes that words were refused which stand in the log' } : over;
}
