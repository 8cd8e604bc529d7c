import { isTerminal } from '../../protocol/states.ts';
import type { TaskState } from '../../protocol/types.ts';
import type { TurnLimits } from '../store.ts';
import type { Draft } from './change.ts';
import { EMPTY_BODY, place, put, putStatus, raiseFence } from './change.ts';

/** Numbers the next turn. Its fence is a new one: what the turn before still has in flight can never pass for its words (P4). */
export function beginTurn(draft: Draft, { limits, isResumed }: { readonly limits: TurnLimits; readonly isResumed: boolean }): void {
  raiseFence(draft);
  const { row } = draft;
  row.turn += 1;
  row.attempt = 1;
  row.tries = 0;
  row.limits = limits;
  row.isResumed = isResumed;
}

/** Says that the turn just begun waits for a replica, or is held by the one that brought it: state and turn in one commit (P5). */
export function announceTurn(draft: Draft, { answers, holder }: { readonly answers: number; readonly holder: string | undefined }): void {
  draft.row.answers = answers;
  const state = holder === undefined ? 'TASK_STATE_SUBMITTED' : 'TASK_STATE_WORKING';
  putStatus(draft, { turn: draft.row.turn, state, answers, body: EMPTY_BODY });
  place(draft, holder === undefined ? { phase: 'queued', queuedAt: draft.at } : { phase: 'open', holder });
}

/** How a turn ends: with a status, or without one (`state` absent: a turn that stays on AUTH_REQUIRED). */
export interface Ending {
  readonly state?: TaskState | undefined;
  readonly body: string;
  /** Present when the turn itself says it, absent when a store does. */
  readonly ordinal?: number;
}

/**
 * Ends the newest turn. The fence stays ⚖: a repeat of the last append, after its acknowledgement was lost, must still meet its own fence
 * and ordinal. Where messages wait, they are not lost to a turn that did not know of them: the next one gets its turn in the same commit.
 */
export function closeTurn(draft: Draft, ending: Ending): void {
  const next = nextWaiting(draft, ending);
  if (next !== undefined) {
    handOver(draft, ending, next);
    return;
  }
  const { state, body, ordinal } = ending;
  const { row } = draft;
  if (state === undefined) put(draft, { kind: 'closed', turn: row.turn, ordinal, body });
  else putStatus(draft, { turn: row.turn, state, ordinal, body });
  if (row.waiting.length > 0) row.waiting = [];
  place(draft, { phase: 'closed' });
}

/** The message whose turn comes next; none after FAILED, REJECTED and CANCELED, which end the task for all who wait. */
function nextWaiting(draft: Draft, { state }: Ending): number | undefined {
  const isLast = state !== undefined && isTerminal(state) && state !== 'TASK_STATE_COMPLETED';
  return isLast ? undefined : draft.row.waiting[0];
}

/**
 * SUBMITTED stands in the place of the state that would have ended or paused the task ⚖: nobody may see COMPLETED or INPUT_REQUIRED of a
 * task that goes on. The entry keeps the fence and ordinal of the run that said it, so that a repeat finds it; its turn is the one it opens.
 */
export function handOver(draft: Draft, ending: Ending, next: number): void {
  const { row } = draft;
  const body = ending.state === undefined ? EMPTY_BODY : ending.body;
  putStatus(draft, { turn: row.turn + 1, state: 'TASK_STATE_SUBMITTED', answers: next, ordinal: ending.ordinal, body });
  beginTurn(draft, { limits: row.limits, isResumed: false });
  row.answers = next;
  row.waiting = row.waiting.filter((seq) => seq !== next);
  place(draft, { phase: 'queued', queuedAt: draft.at });
}
