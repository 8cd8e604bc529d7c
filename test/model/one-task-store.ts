import { isTerminal } from '../../src/protocol/states.ts';
import type { AppendResult } from '../../src/log/store.ts';
import type { Answer, Ask, Call, Script, Setup, World } from './one-task.ts';
import { acceptAsk, appendAsk, grantOf, limitsOf } from './one-task.ts';
import type { Shelf } from './shelf.ts';
import { isHolderDead, NOW, scope, write, writeReplica } from './shelf.ts';

/** What a call did to the store, what its caller will hear, and the promise that it broke, if it did. */
interface Ran {
  readonly shelf: Shelf;
  readonly answer: Answer;
  readonly twins?: number;
  readonly losses?: number;
  readonly flaw?: string;
}

/** Runs a call in the store: one atomic step, with the decision functions of production. */
export function run(setup: Setup, world: World, call: Call): Ran {
  const { ask } = call;
  const seen = setup.habits.decidesUnderLock ? world.shelf : (call.read ?? world.shelf);
  const ran = decide(setup, { ...world, shelf: seen }, call, ask);
  // what was decided on an old row is written over the present one
  return seen === world.shelf || ran.shelf === seen
    ? { ...ran, shelf: seen === world.shelf ? ran.shelf : world.shelf }
    : {
        ...ran,
        shelf: {
          ...ran.shelf,
          log: [...world.shelf.log, ...ran.shelf.log.slice(seen.log.length)],
          keys: { ...world.shelf.keys, ...ran.shelf.keys },
        },
      };
}

function decide(setup: Setup, world: World, call: Call, ask: Ask): Ran {
  const { decisions } = setup;
  const { shelf } = world;
  const { row } = shelf;
  switch (ask.verb) {
    case 'accept':
      return accept(setup, shelf, ask, { script: scriptOf(setup, ask.client), replica: call.from });
    case 'cancel': {
      const { result, change } = decisions.cancel(row, { scope, taskId: 'task', body: '{}' }, NOW);
      return { shelf: write(shelf, change), answer: { kind: result.kind } };
    }
    case 'resume': {
      const { result, change } = decisions.resume(
        row,
        { agent: 'agent', taskId: 'task', replica: call.from, canStart: ask.canStart, limits: limitsOf(setup) },
        NOW,
      );
      return { shelf: write(shelf, change), answer: { kind: result.kind, ...(result.kind === 'resumed' ? grantOf(result.row) : {}) } };
    }
    case 'claim': {
      const change = row === undefined ? undefined : decisions.claim(row, call.from, NOW);
      return { shelf: write(shelf, change), answer: change === undefined ? { kind: 'none' } : { kind: 'claimed', ...grantOf(change.row) } };
    }
    case 'release': {
      const { result, change } = decisions.release(row, { taskId: 'task', fence: ask.fence, why: ask.why }, NOW);
      return { shelf: write(shelf, change), answer: { kind: result.kind }, losses: change !== undefined && ask.why === 'silence' ? 1 : 0 };
    }
    case 'append':
      return append(setup, shelf, ask);
  }
}

function scriptOf({ clients }: Setup, client: number): Script {
  const script = clients[client];
  if (script === undefined) throw new Error('model: every message is a client’s');
  return script;
}

function accept(
  setup: Setup,
  shelf: Shelf,
  ask: Extract<Ask, { readonly verb: 'accept' }>,
  by: { readonly script: Script; readonly replica: string },
): Ran {
  // an id made from a new key is another id: nothing of the first try is under it
  if (by.script.does === 'send' && ask.key !== by.script.key && shelf.row !== undefined)
    return { shelf, answer: { kind: 'accepted' }, twins: 1 };
  const { result, change } = setup.decisions.accept(shelf.row, shelf.keys[ask.key], acceptAsk(setup, ask, by), NOW);
  const after = write(shelf, change, change && { name: ask.key, record: change.key });
  if (result.kind !== 'accepted') {
    if (result.kind === 'busy' && shelf.row?.phase === 'open' && shelf.row.state === 'TASK_STATE_AUTH_REQUIRED')
      return { shelf: after, answer: { kind: result.kind }, flaw: 'ITA-07: a message to AUTH_REQUIRED is refused' };
    const isRecorded = shelf.log.some(({ kind, body }) => kind === 'message' && isMessageOf(body, by.script));
    return {
      shelf: after,
      answer: { kind: result.kind },
      ...(isRecorded ? { flaw: `P5: a message is refused (${result.kind}) that is in the log` } : {}),
    };
  }
  const isPast = result.row.fence !== after.row?.fence;
  const isTaken = shelf.row?.phase === 'open' && after.row?.turn !== shelf.row.turn;
  return {
    shelf: after,
    answer: { kind: 'accepted', ...grantOf(result.row) },
    ...(isPast
      ? { flaw: 'P4: an answer names a holder of the past' }
      : isTaken
        ? { flaw: 'P7: a message took the turn from a run that was well' }
        : {}),
  };
}

/** The answer to an append is held against the log at once: that is where a store breaks its word, whatever the writer makes of it. */
function append(setup: Setup, shelf: Shelf, ask: Extract<Ask, { readonly verb: 'append' }>): Ran {
  const { result, change } = setup.decisions.append(shelf.row, appendAsk(ask), NOW);
  const after = write(shelf, change);
  // nobody but the run itself has spoken last: it is nobody else's turn
  const isHolder =
    setup.talksOn !== true && shelf.row?.fence === ask.fence && shelf.log.at(-1)?.ordinal !== undefined && shelf.row.phase !== 'queued';
  const flaw =
    flawOf(result.kind, after, ask) ?? (isHolder && isRefused(result.kind) ? 'P7: words of the present fence are refused' : undefined);
  return { shelf: after, answer: { kind: result.kind }, ...(flaw === undefined ? {} : { flaw }) };
}

const isRefused = (kind: AppendResult['kind']): boolean => kind === 'fenced' || kind === 'terminal';

function flawOf(
  kind: AppendResult['kind'],
  { log, row }: Shelf,
  { no, first, words }: Extract<Ask, { readonly verb: 'append' }>,
): string | undefined {
  const stands = words.every((word, index) => log.some(({ body, ordinal }) => ordinal === first + index && isBodyOf(body, no, word)));
  if (kind === 'applied') return stands ? undefined : 'P9: an append was acknowledged that does not stand in the log';
  const last = log.at(-1);
  // nobody else has moved the task since: there is no reason to tell the writer anything but that it stands
  const isLast =
    last !== undefined && last.seq === row?.seq && isBodyOf(last.body, no, words.at(-1) ?? '') && last.state !== 'TASK_STATE_SUBMITTED';
  return stands && isLast && kind !== 'gap' ? `P9: the repeat of what stands last in the log is refused (${kind})` : undefined;
}

/** The body of a message is its key; a try that made itself a new one says so behind it. */
export const isMessageOf = (body: string, { key }: Pick<Script, 'key'>): boolean => body.split(' ', 1)[0] === key;

/** The entry says this word of this run; one that left AUTH_REQUIRED and handed over says nothing. */
export const isBodyOf = (body: string, no: number, word: string): boolean =>
  body === `${no} ${word}` || (word === 'LEAVE' && body === '{}');

/** Settles the open turn of a dead holder, as any replica does. */
export function sweep(setup: Setup, world: World): World {
  const { shelf } = world;
  const change = shelf.row === undefined ? undefined : setup.decisions.sweep(shelf.row, isHolderDead(shelf), NOW);
  return change === undefined ? world : { ...world, shelf: write(shelf, change), losses: world.losses + 1 };
}

/** Marks a suspect dead, if its counter still shows what was seen. */
export function declare(setup: Setup, world: World, suspect: string): World {
  const { [suspect]: seen = 0, ...suspects } = world.suspects;
  const dead = setup.decisions.declareDead(world.shelf.replicas[suspect], { replica: suspect, beat: seen }, NOW);
  return { ...world, suspects, shelf: writeReplica(world.shelf, dead) };
}

/** A replica's renewal, or its leave. */
export function renew(setup: Setup, world: World, replica: string, own: 'renew' | 'leave'): World {
  return { ...world, shelf: writeReplica(world.shelf, setup.decisions.ownBeat(world.shelf.replicas[replica], own, NOW)) };
}

/** The task has ended, or waits for its user. */
export function isAtRest({ row }: Shelf): boolean {
  return row === undefined || isTerminal(row.state) || row.phase === 'closed';
}
