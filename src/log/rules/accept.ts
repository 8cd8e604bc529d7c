import { assert } from '../../ground/assert.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { Scope } from '../entry.ts';
import type { AcceptAsk, AcceptResult, TaskRow } from '../store.ts';
import { WAITING_MAX } from '../store.ts';
import type { Change, Draft } from './change.ts';
import { draftOf, put } from './change.ts';
import { announceTurn, beginTurn } from './turns.ts';

/** What a store keeps of an accepted message under (task, key), for as long as the task lives. */
export interface KeyRecord {
  readonly digest: string;
  readonly seq: number;
  readonly messageSeq: number;
  readonly turn?: number;
}

/** What accept writes beside the change. */
export interface Acceptance extends Change {
  readonly key: KeyRecord;
}

/** A decision: what to answer and what, if anything, to write. */
export interface AcceptDecision {
  readonly result: AcceptResult;
  readonly change?: Acceptance;
}

/** True if the caller may know of the task. Everybody else is told what is told of an unknown id (P10). */
export function isInScope(row: TaskRow, scope: Scope): boolean {
  return row.agent === scope.agent && row.tenant === scope.tenant && row.owner === scope.owner;
}

/**
 * Decides on a user's message. `row` and `known` are read under one lock. The order of the checks is a rule of its own ⚖: a recorded key
 * comes before every refusal, or a repeat after a lost answer would be refused for what its first try has done.
 */
export function decideAccept(row: TaskRow | undefined, known: KeyRecord | undefined, ask: AcceptAsk, now: number): AcceptDecision {
  if (row === undefined) return ask.isNew ? openTask(ask, now) : { result: { kind: 'absent' } };
  if (!isInScope(row, ask.scope)) return { result: { kind: 'absent' } };
  if (known !== undefined) return { result: repeat(row, known, ask) };
  // a new task's id is made from its key: an id without that key is not this caller's retry
  if (ask.isNew) return { result: { kind: 'keyMismatch' } };
  if (ask.contextId !== undefined && ask.contextId !== row.contextId) return { result: { kind: 'contextMismatch' } };
  if (isTerminal(row.state)) return { result: { kind: 'terminal', state: row.state } };
  return row.phase === 'closed' ? openTurn(draftOf(row, now), ask) : joinTurn(row, ask, now);
}

/** The first result once more, with the turn's present holder: a grant whose acknowledgement was lost is not lost ⚖. */
function repeat(row: TaskRow, known: KeyRecord, ask: AcceptAsk): AcceptResult {
  if (known.digest !== ask.digest) return { kind: 'keyMismatch' };
  const { seq, messageSeq, turn } = known;
  return { kind: 'accepted', isRepeat: true, seq, messageSeq, ...(turn === undefined ? {} : { turn }), row };
}

/** A task that no entry has touched yet. */
function blankRow(ask: AcceptAsk, now: number): TaskRow {
  assert(ask.contextId !== undefined, 'accept: a new task comes with its context');
  const { agent, tenant, owner } = ask.scope;
  return {
    agent,
    tenant,
    owner,
    id: ask.taskId,
    contextId: ask.contextId,
    state: 'TASK_STATE_SUBMITTED',
    statusAt: now,
    statusSeq: 0,
    seq: 0,
    bytes: 0,
    turn: 0,
    phase: 'closed',
    answers: 0,
    isResumed: false,
    fence: 0,
    attempt: 0,
    tries: 0,
    ordinal: 0,
    waiting: [],
    isInterrupted: false,
    limits: ask.limits,
  };
}

function openTask(ask: AcceptAsk, now: number): AcceptDecision {
  return openTurn(draftOf(blankRow(ask, now), now), ask);
}

/** The message and the change of state it causes stand or fall together (P5): no reader ever sees one without the other. */
function openTurn(draft: Draft, ask: AcceptAsk): AcceptDecision {
  beginTurn(draft, { limits: ask.limits, isResumed: false });
  const { turn } = draft.row;
  put(draft, { kind: 'message', turn, body: ask.body });
  const messageSeq = draft.row.seq;
  announceTurn(draft, { answers: messageSeq, holder: ask.canStart ? ask.replica : undefined });
  return accepted(draft, ask, { messageSeq, turn });
}

/**
 * A message to a task whose turn is queued or open (AMB-07). A turn that holds on AUTH_REQUIRED waits for exactly this message: it is
 * never refused, whatever the option says ⚖, and never interrupted by it.
 */
function joinTurn(row: TaskRow, ask: AcceptAsk, now: number): AcceptDecision {
  const isAwaited = row.phase === 'open' && row.state === 'TASK_STATE_AUTH_REQUIRED';
  if (ask.whileWorking === 'refuse' && !isAwaited) return { result: { kind: 'busy', state: row.state } };
  if (row.waiting.length >= WAITING_MAX) return { result: { kind: 'full' } };
  const draft = draftOf(row, now);
  put(draft, { kind: 'message', turn: 0, body: ask.body });
  const messageSeq = draft.row.seq;
  const isInterrupting = ask.whileWorking === 'interrupt' && row.phase === 'open' && !isAwaited;
  draft.row.waiting = [...row.waiting, messageSeq];
  if (isInterrupting) draft.row.isInterrupted = true;
  return accepted(draft, ask, { messageSeq });
}

function accepted(draft: Draft, ask: AcceptAsk, made: { readonly messageSeq: number; readonly turn?: number }): AcceptDecision {
  const { row, entries } = draft;
  return {
    result: { kind: 'accepted', isRepeat: false, seq: row.seq, ...made, row, written: entries },
    change: { row, entries, key: { digest: ask.digest, seq: row.seq, ...made } },
  };
}
