import type { Signal } from '../ground/signal.ts';
import type { SendMessageRequest, Task } from '../protocol/types.ts';
import { accept, type Accepted } from './accept.ts';
import { taskAsOf, toStreamItem, withHistory } from './answers.ts';
import type { Call, StreamItem } from './call.ts';
import { directReply } from './direct-reply.ts';
import { checkStreaming } from './gate.ts';
import { OwnTurn } from './own-turn.ts';
import type { SharedParts } from './parts.ts';
import { checkSend } from './send-message.ts';
import { watch } from './watch.ts';

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
    if (message !== undefined) return open.carry(only({ item: { message } }));
    const accepted = await accept(parts, call, request);
    const task = await taskAsOf(parts.log, accepted.row, accepted.seq);
    return open.carry(turnItems(parts, { accepted, task: withHistory(task, request.configuration?.historyLength) }, open.signal));
  } catch (error) {
    open[Symbol.dispose]();
    throw error;
  }
}

async function* only(item: StreamItem): AsyncGenerator<StreamItem> {
  yield item;
}

async function* turnItems(
  parts: SharedParts,
  { accepted, task }: { readonly accepted: Accepted; readonly task: Task },
  signal: Signal,
): AsyncGenerator<StreamItem> {
  const { row, seq, after } = accepted;
  yield { seq, item: { task } };
  const own = new OwnTurn(accepted);
  const waiting = parts.streamUntil === 'ended' ? 'following' : 'streamed';
  for await (const entries of watch(parts, { taskId: row.id, after }, signal)) {
    for (const entry of entries) {
      own.see(entry);
      // the repeat of a send reads what the Task has said already, to know whether its turn is over
      const item = entry.seq > seq ? toStreamItem(entry, row.contextId) : undefined;
      if (item !== undefined) yield item;
      if (entry.seq >= seq && own.isOver(waiting)) return;
    }
  }
}
