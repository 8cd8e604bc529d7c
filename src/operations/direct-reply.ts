import { internalError, isA2AError, unavailable } from '../protocol/errors.ts';
import { cloneJson } from '../protocol/json.ts';
import { textOf, toParts } from '../protocol/parts.ts';
import type { Message, SendMessageRequest } from '../protocol/types.ts';
import type { Reply } from '../turn/turn.ts';
import type { Call } from './call.ts';
import type { SharedParts } from './parts.ts';

/** How long `reply` may take. */
export const REPLY_MS = 30_000;

/**
 * A bare Message in answer to small talk (SEND-02), if the agent has `reply` and it wants to: decided before anything is stored. A message
 * that names a task belongs to it and is answered with it (SEND-19).
 */
export async function directReply(parts: SharedParts, call: Call, request: SendMessageRequest): Promise<Message | undefined> {
  const { reply, random } = parts;
  const { message } = request;
  if (reply === undefined || message.taskId !== undefined) return undefined;
  const content = await ask(parts, call, { reply, request });
  if (content === undefined) return undefined;
  const contextId = message.contextId ?? random.uuid(); // TURN-02, TURN-23
  return { messageId: random.uuid(), contextId, role: 'ROLE_AGENT', parts: toParts(content) };
}

/** Runs agent code outside any turn: a time limit, and errors that tell nothing of what is inside (case 71). */
async function ask(
  parts: SharedParts,
  call: Call,
  { reply, request }: { readonly reply: Reply; readonly request: SendMessageRequest },
): ReturnType<typeof callReply> {
  parts.lateReplies.check();
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  call.signal.addEventListener('abort', stop, { once: true });
  const late = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(new Error(`reply: no answer within ${REPLY_MS} ms`)), {
      once: true,
    });
  });
  const timer = parts.clock.after(REPLY_MS, stop);
  try {
    const code = callReply(reply, call, request, controller.signal);
    controller.signal.addEventListener('abort', () => parts.lateReplies.add(code), { once: true });
    return await Promise.race([code, late]);
  } catch (error) {
    if (isA2AError(error)) throw error;
    if (call.signal.aborted) throw unavailable('The caller left before the answer.');
    const reference = call.reference ?? parts.random.uuid();
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    parts.logger.error('reply failed', { reference, error: detail });
    throw internalError(reference);
  } finally {
    timer.cancel();
    call.signal.removeEventListener('abort', stop);
  }
}

async function callReply(reply: Reply, call: Call, request: SendMessageRequest, signal: AbortSignal): Promise<Awaited<ReturnType<Reply>>> {
  const { caller, tenant } = call;
  const message = cloneJson(request.message); // agent code may change what it is given; the request goes on to `run`
  const context = {
    text: textOf(message),
    caller: tenant === '' ? caller : { ...caller, tenant },
    metadata: request.metadata ?? {},
    signal,
  };
  return reply(message, context);
}
