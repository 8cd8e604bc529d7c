import type { StatusBody } from '../entry.ts';
import type { TaskRow } from '../store.ts';
import type { Draft } from './change.ts';
import { place, putStatus, raiseFence } from './change.ts';
import { closeTurn } from './turns.ts';

/** Why a rule settles a task that nobody else settles. */
export type FailureCode = 'LOST' | 'QUEUE_TIMEOUT' | 'EXPIRED';

/** A failure as the user reads it. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
}

/** A turn whose run is gone: what is said of it, and whether it counts against `triesMax`. */
export interface Loss {
  readonly isCounted: boolean;
  readonly message: string;
}

/**
 * Settles an open turn whose run is gone, by the policy it was accepted under (P6). Only the rows of the turn decide: whichever replica
 * sweeps, and however often, the outcome is the same.
 */
export function settleLost(draft: Draft, loss: Loss): void {
  const { limits, tries } = draft.row;
  if (limits.onLost === 'ask') giveBack(draft, loss.message);
  else if (limits.onLost === 'retry' && !(loss.isCounted && tries + 1 >= limits.triesMax)) requeue(draft, loss);
  else fail(draft, { code: 'LOST', message: loss.message });
}

/** FAILED with a reason, in the place of silence. The fence rises: the run may only be paused, and would go on writing. */
export function fail(draft: Draft, failure: Failure): void {
  closeTurn(draft, { state: 'TASK_STATE_FAILED', body: failureBody(draft.row, failure) });
  raiseFence(draft);
}

/** Gives the turn back to its user; a message that waits is the user's answer already, and gets the next turn. */
function giveBack(draft: Draft, message: string): void {
  const { fence } = draft.row;
  closeTurn(draft, { state: 'TASK_STATE_INPUT_REQUIRED', body: failureBody(draft.row, { code: 'LOST', message }) });
  if (draft.row.fence === fence) raiseFence(draft);
}

/** Queues the same turn for another run. The attempt rises with every new run, the tries with losses only ⚖. */
function requeue(draft: Draft, { isCounted }: Loss): void {
  const lost: StatusBody = { metadata: { 'chorus/lost': { attempt: draft.row.attempt } } };
  raiseFence(draft);
  putStatus(draft, { turn: draft.row.turn, state: 'TASK_STATE_SUBMITTED', body: JSON.stringify(lost) });
  draft.row.attempt += 1;
  if (isCounted) draft.row.tries += 1;
  place(draft, { phase: 'queued', queuedAt: draft.at });
}

/** The body is made of columns alone, so that a late or repeated sweep writes the same words. */
function failureBody(row: TaskRow, { code, message }: Failure): string {
  const body: StatusBody = {
    message: {
      messageId: `${row.id}-${row.seq + 1}`,
      contextId: row.contextId,
      taskId: row.id,
      role: 'ROLE_AGENT',
      parts: [{ text: message }],
    },
    metadata: { 'chorus/error': { code, message } },
  };
  return JSON.stringify(body);
}
