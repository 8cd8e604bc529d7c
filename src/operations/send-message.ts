import { unavailable } from '../protocol/errors.ts';
import type { SendMessageRequest, SendMessageResponse, Task } from '../protocol/types.ts';
import { accept, type Accepted } from './accept.ts';
import { taskAsOf, withHistory } from './answers.ts';
import type { Call } from './call.ts';
import { directReply } from './direct-reply.ts';
import { checkHistoryLength, checkNoWebhook } from './gate.ts';
import type { OpenCall } from './open-calls.ts';
import { OwnTurn } from './own-turn.ts';
import type { SharedParts } from './parts.ts';
import { watch } from './watch.ts';

/** What must hold before anything of a send is stored. */
export function checkSend({ configuration }: SendMessageRequest): void {
  checkHistoryLength(configuration?.historyLength, 'configuration.historyLength');
  checkNoWebhook(configuration?.taskPushNotificationConfig);
}

/** SendMessage: records the message, then waits on the log for the end of its turn, or answers at once (SEND-07, SEND-09). */
export async function sendMessage(parts: SharedParts, call: Call, request: SendMessageRequest): Promise<SendMessageResponse> {
  checkSend(request);
  const open = parts.calls.open(call);
  // not `using`: as the compiler has to write it out for Node 20, it costs a request more than its whole accept
  try {
    const message = parts.reply && (await directReply(parts, call, request));
    if (message !== undefined) return { message };
    const accepted = await accept(parts, call, request);
    const { configuration } = request;
    const task = configuration?.returnImmediately
      ? await taskAsOf(parts.log, accepted.row, accepted.seq)
      : await answerOf(parts, open, accepted);
    return { task: withHistory(task, configuration?.historyLength) };
  } finally {
    open[Symbol.dispose]();
  }
}

/**
 * Waits until the message's turn has ended the task or given it back to the user. The answer is the task as of the entry that says so:
 * whichever replica waits, it is the same one. A caller that leaves cancels nothing (STRM-15).
 */
async function answerOf(parts: SharedParts, open: OpenCall, accepted: Accepted): Promise<Task> {
  const { row, seq } = accepted;
  const own = new OwnTurn(accepted);
  const { blockingMs } = parts;
  const ceiling = blockingMs === undefined ? undefined : parts.clock.after(blockingMs, () => open.stop('ceiling'));
  try {
    for await (const entries of watch(parts, { taskId: row.id, after: accepted.after }, open.signal)) {
      for (const entry of entries) {
        own.see(entry);
        // a repeat reads what is past as well, but answers with nothing older than the task as it stands (SEND-08)
        if (entry.seq < seq || !own.isOver('blocked')) continue;
        const failure = own.failure();
        if (failure !== undefined) throw failure;
        return await taskAsOf(parts.log, row, entry.seq);
      }
    }
  } finally {
    ceiling?.cancel();
  }
  return presentTask(parts, open, accepted);
}

/** At the ceiling and at a shutdown the caller gets the task as it stands (AMB-24); the work goes on. */
async function presentTask({ log }: SharedParts, open: OpenCall, { row, seq }: Accepted): Promise<Task> {
  if (open.reason === 'gone') throw unavailable('The caller left before the answer.');
  const { agent, tenant, owner } = row;
  const present = await log.read(row.id, { agent, tenant, owner });
  return present?.task ?? taskAsOf(log, row, seq);
}
