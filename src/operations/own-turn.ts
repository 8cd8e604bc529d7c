import type { Entry } from '../log/entry.ts';
import { isTerminal } from '../protocol/states.ts';
import type { A2AError } from '../protocol/errors.ts';
import type { TaskState } from '../protocol/types.ts';
import { recordedError } from './recorded-error.ts';

/** A message whose end somebody waits for. */
export interface Awaited {
  readonly taskId: string;
  readonly messageSeq: number;
  /** The turn it opened; absent while it waits for one. */
  readonly turn?: number;
}

/** Who waits for the end of a turn: a blocking send, a send's stream, or a send's stream that stays until the task has ended. */
export type Waiting = 'blocked' | 'streamed' | 'following';

/** Where a turn rests without having ended the task. */
const rests: Readonly<Record<Waiting, readonly TaskState[]>> = {
  // SEND-07: the caller has to act, so it must be told
  blocked: ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'],
  // the credentials come by another way and the turn goes on: streams stay open over AUTH_REQUIRED (ITA-05, AMB-01)
  streamed: ['TASK_STATE_INPUT_REQUIRED'],
  // AMB-01: an agent may keep a send's stream open over the question too, as a subscription is
  following: [],
};

/**
 * Tells from the log alone when the turn of one message is over, so that every replica answers alike. Sees the entries above the message, in
 * order. A message that waits has no turn yet: its own is the one that takes it from the inbox, or the one that is opened for it.
 */
export class OwnTurn {
  readonly #taskId: string;
  readonly #messageSeq: number;
  #turn: number | undefined;
  #status: (Entry & { readonly kind: 'status' }) | undefined;
  #hasSpoken = false;

  constructor({ taskId, messageSeq, turn }: Awaited) {
    this.#taskId = taskId;
    this.#messageSeq = messageSeq;
    this.#turn = turn;
  }

  see(entry: Entry): void {
    if (this.#turn === undefined && this.#takes(entry)) {
      this.#turn = entry.turn;
      this.#status = undefined; // what was said before the message was taken is no answer to it
    }
    // a status that opens a turn may carry an ordinal (the run before said it): it is not this turn's word
    const isAgents = entry.ordinal !== undefined && entry.turn === this.#turn && !isOpening(entry);
    const isFailure = entry.kind === 'status' && entry.state === 'TASK_STATE_FAILED';
    if (isAgents && !isFailure) this.#hasSpoken = true;
    if (entry.kind === 'status') this.#status = entry;
  }

  /** The task has ended, or the turn of the message, or a later one, rests in a state for which this caller was waiting. */
  isOver(caller: Waiting): boolean {
    const status = this.#status;
    if (status === undefined) return false;
    if (isTerminal(status.state)) return true;
    return this.#turn !== undefined && status.turn >= this.#turn && rests[caller].includes(status.state);
  }

  /** The error that ended the turn before the agent had said anything: its blocking sender gets it in place of the task (P7). */
  failure(): A2AError | undefined {
    const status = this.#status;
    if (status?.state !== 'TASK_STATE_FAILED' || status.turn !== this.#turn || this.#hasSpoken) return undefined;
    return recordedError(status.metadata, this.#taskId);
  }

  #takes(entry: Entry): boolean {
    if (entry.kind === 'taken') return entry.messages.includes(this.#messageSeq);
    return entry.kind === 'status' && entry.answers === this.#messageSeq;
  }
}

function isOpening(entry: Entry): boolean {
  return entry.kind === 'status' && entry.answers !== undefined;
}
