import { isTerminal } from '../../protocol/states.ts';
import type { CancelAsk, CancelResult, ReleaseAsk, ReleaseResult, ResumeAsk, ResumeResult, TaskRow } from '../store.ts';
import { isInScope } from './accept.ts';
import type { Change, Draft } from './change.ts';
import { draftOf, EMPTY_BODY, isDue, place, putStatus, raiseFence } from './change.ts';
import { fail, settleLost } from './lost.ts';
import { announceTurn, beginTurn, closeTurn, handOver } from './turns.ts';

/** A decision: what to answer and what, if anything, to write. */
export interface Decision<Result> {
  readonly result: Result;
  readonly change?: Change;
}

const changeOf = ({ row, entries }: Draft): Change => ({ row, entries });

/**
 * Decides on a cancel: one commit settles the task, takes the turn from its holder and drops what waits (P8). CANCELED answered means
 * CANCELED stored (case 93): the first terminal write wins, under the lock.
 */
export function decideCancel(row: TaskRow | undefined, ask: CancelAsk, now: number): Decision<CancelResult> {
  if (row === undefined || !isInScope(row, ask.scope)) return { result: { kind: 'absent' } };
  if (row.state === 'TASK_STATE_CANCELED') return { result: { kind: 'canceled', isRepeat: true, row } };
  if (isTerminal(row.state)) return { result: { kind: 'settled', state: row.state } };
  const draft = draftOf(row, now);
  closeTurn(draft, { state: 'TASK_STATE_CANCELED', body: ask.body });
  raiseFence(draft);
  return { result: { kind: 'canceled', isRepeat: false, row: draft.row }, change: changeOf(draft) };
}

/**
 * Opens a queued turn for a replica, or says that there is nothing to open: another claim was first, or the turn is past its time and
 * the sweep's. The fence rises, so the claim of a replica that paused here cannot write into the run of another one (P4).
 */
export function decideClaim(row: TaskRow, replica: string, now: number): Change | undefined {
  if (row.phase !== 'queued' || isDue(row, now)) return undefined;
  const draft = draftOf(row, now);
  raiseFence(draft);
  putStatus(draft, { turn: row.turn, state: 'TASK_STATE_WORKING', body: EMPTY_BODY });
  place(draft, { phase: 'open', holder: replica });
  return changeOf(draft);
}

/** Gives an open turn away, under its fence: one that was swept, canceled or handed over meanwhile is no longer the caller's to give. */
export function decideRelease(row: TaskRow | undefined, ask: ReleaseAsk, now: number): Decision<ReleaseResult> {
  if (row === undefined || row.fence !== ask.fence || row.phase !== 'open') return { result: { kind: 'fenced' } };
  const draft = draftOf(row, now);
  const next = row.waiting[0];
  if (ask.why === 'interrupt' && next !== undefined) handOver(draft, { body: EMPTY_BODY }, next);
  else settleLost(draft, lossOf[ask.why]);
  return { result: { kind: 'released', row: draft.row }, change: changeOf(draft) };
}

/** An interrupt whose message was taken meanwhile has nobody to hand over to: the run was told to stop, so it is settled. */
const lossOf = {
  drain: { isCounted: false, message: 'The replica that ran this task shut down before the task had ended.' },
  interrupt: { isCounted: false, message: 'The run of this task was interrupted and did not end in time.' },
  silence: { isCounted: true, message: 'The replica that ran this task had no contact for too long.' },
} as const;

/**
 * Opens the next turn of a task that stands on AUTH_REQUIRED without anybody running it, for the message it answered last. A callback
 * that comes twice, or to two replicas, finds the turn opened: it is resumed once.
 */
export function decideResume(row: TaskRow | undefined, ask: ResumeAsk, now: number): Decision<ResumeResult> {
  if (row === undefined || row.agent !== ask.agent) return { result: { kind: 'absent' } };
  if (row.state !== 'TASK_STATE_AUTH_REQUIRED' || row.phase !== 'closed') return { result: { kind: 'notPaused', state: row.state } };
  const draft = draftOf(row, now);
  beginTurn(draft, { limits: ask.limits, isResumed: true });
  announceTurn(draft, { answers: row.answers, holder: ask.canStart ? ask.replica : undefined });
  return { result: { kind: 'resumed', row: draft.row }, change: changeOf(draft) };
}

/** Settles what nobody else will (P6): the open turn of a dead replica, a turn nobody claims, a pause nobody ends. */
export function decideSweep(row: TaskRow, isHolderDead: boolean, now: number): Change | undefined {
  if (isTerminal(row.state)) return undefined;
  const draft = draftOf(row, now);
  if (row.phase === 'open') {
    if (!isHolderDead) return undefined;
    settleLost(draft, { isCounted: true, message: 'The replica that ran this task was lost before the task had ended.' });
    return changeOf(draft);
  }
  if (!isDue(row, now)) return undefined;
  fail(
    draft,
    row.phase === 'queued'
      ? { code: 'QUEUE_TIMEOUT', message: 'No replica had room for this task in time.' }
      : { code: 'EXPIRED', message: 'No answer came in time, so the task has ended.' },
  );
  return changeOf(draft);
}

/** Terminal, and past its retention. */
export function isPurgeable(row: TaskRow, now: number): boolean {
  return isTerminal(row.state) && isDue(row, now);
}
