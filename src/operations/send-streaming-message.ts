import type { Entry } from '../log/entry.ts';
import type { SendMessageRequest, Task } from '../protocol/types.ts';
import { accept, type Accepted } from './accept.ts';
import { taskAsOf, withHistory } from './answers.ts';
import type { Call, StreamItem } from './call.ts';
import { directReply } from './direct-reply.ts';
import { checkStreaming } from './gate.ts';
import { OwnTurn, type Waiting } from './own-turn.ts';
import type { SharedParts } from './parts.ts';
import { checkSend } from './send-message.ts';
import { type Course, StreamItems, type StreamStart } from './stream-items.ts';

/**
 * SendStreamingMessage: the task as of the accept, then every entry of the log, until the task has ended or the message's turn, or a later
 * one, has asked its user (STRM-04, STRM-05, AMB-01). A direct answer is the only item of its stream (STRM-03).
 */
export async function sendStreamingMessage(
  parts: SharedParts,
  call: Call,
  request: SendMessageRequest,
): Promise<AsyncIterable<StreamItem>> {
  checkStreaming(parts);
  checkSend(request);
  const open = parts.calls.open(call);
  try {
    const message = await directReply(parts, call, request);
    if (message !== undefined) return new StreamItems(parts, open, { first: { item: { message } } });
    const accepted = await accept(parts, call, request);
    const task = await taskAsOf(parts.log, accepted.row, accepted.seq);
    return new StreamItems(parts, open, startOf(parts, accepted, withHistory(task, request.configuration?.historyLength)));
  } catch (error) {
    open[Symbol.dispose]();
    throw error;
  }
}

function startOf({ streamUntil }: SharedParts, accepted: Accepted, task: Task): StreamStart {
  const { row, seq, after } = accepted;
  const course = new TurnCourse(accepted, streamUntil === 'ended' ? 'following' : 'streamed');
  return { first: { seq, item: { task } }, log: { contextId: row.contextId, from: { taskId: row.id, after }, course } };
}

/** The entries above the accept, until the message's turn is over. */
class TurnCourse implements Course {
  readonly #own: OwnTurn;
  readonly #seq: number;
  readonly #waiting: Waiting;

  constructor(accepted: Accepted, waiting: Waiting) {
    this.#own = new OwnTurn(accepted);
    this.#seq = accepted.seq;
    this.#waiting = waiting;
  }

  /** The repeat of a send reads what the Task has said already, to know whether its turn is over. */
  isShown(entry: Entry): boolean {
    this.#own.see(entry);
    return entry.seq > this.#seq;
  }

  isLast(entry: Entry): boolean {
    return entry.seq >= this.#seq && this.#own.isOver(this.#waiting);
  }
}
