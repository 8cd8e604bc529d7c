import type { SendMessageRequest } from '../protocol/types.ts';
import type { Calls } from './calls.ts';
import { withoutWaiting } from './message.ts';
import type { StreamItem } from './question.ts';

/** Where the items of one try come from: a connection, or one look at the task. */
export interface Source {
  /** True once the agent has answered. */
  readonly isOpen: boolean;
  readonly retryMs?: number | undefined;
  /** Gives what follows only so long to end by itself. */
  hurry(ms: number): void;
  items(): AsyncIterable<StreamItem>;
}

/** How a stream begins. */
export type Opening =
  | { readonly kind: 'send'; readonly request: SendMessageRequest; readonly key: string }
  | { readonly kind: 'follow'; readonly taskId: string; readonly after?: string | undefined };

/** What one try goes on from. */
export interface Position {
  readonly opening: Opening;
  /** Known once the agent has taken the message. */
  readonly taskId: string | undefined;
  readonly after: string | undefined;
  readonly canStream: boolean;
  readonly signal: AbortSignal;
}

/** The next source: the send until the agent has taken it, always under the same key, then the task. An agent that does not stream is looked at. */
export async function nextSource(calls: Calls, { opening, taskId, after, canStream, signal }: Position): Promise<Source> {
  if (taskId !== undefined) {
    return canStream ? calls.open('SubscribeToTask', { id: taskId }, { after, signal }) : lookAt(calls, taskId, signal);
  }
  if (opening.kind === 'follow') return calls.open('SubscribeToTask', { id: opening.taskId }, { after, signal }); // a follow knows its task
  const { request, key } = opening;
  if (canStream) return calls.open('SendStreamingMessage', request, { key, signal });
  return once(async () => ({ item: await calls.call('SendMessage', withoutWaiting(request), { key, signal }) }));
}

/** The task as it stands now, as a stream of one item: for agents that do not stream, and for a task whose stream is refused because it has ended (SUB-03). */
export function lookAt(calls: Calls, taskId: string, signal: AbortSignal): Source {
  return once(async () => ({ item: { task: await calls.call('GetTask', { id: taskId }, { signal }) } }));
}

function once(ask: () => Promise<StreamItem>): Source {
  let isOpen = false;
  return {
    get isOpen() {
      return isOpen;
    },
    hurry: () => undefined,
    async *items() {
      const item = await ask();
      isOpen = true;
      yield item;
    },
  };
}
