import type { Signal } from '../ground/signal.ts';
import { pushNotSupported } from '../protocol/errors.ts';
import type { Task } from '../protocol/types.ts';
import { turnLimits } from '../turn/options.ts';
import type { Call, Operations, StreamItem } from './call.ts';
import { cancelTask } from './cancel-task.ts';
import { extendedCardRefusal } from './extended-card.ts';
import { checkExtensions } from './gate.ts';
import { getTask } from './get-task.ts';
import { LateReplies } from './late-replies.ts';
import { listTasks } from './list-tasks.ts';
import { OpenCalls } from './open-calls.ts';
import type { OperationParts, SharedParts } from './parts.ts';
import { resumeTask } from './resume-task.ts';
import { sendMessage } from './send-message.ts';
import { sendStreamingMessage } from './send-streaming-message.ts';
import { subscribeToTask } from './subscribe-to-task.ts';
import { toCallerError } from './trouble.ts';

/** The operations of one replica, with what its agent needs to drain them. */
export interface ReplicaOperations extends Operations {
  /** Streams and unanswered sends on this replica. */
  readonly openCalls: number;
  /** Resolves when there are none, or the signal fires. */
  untilIdle(signal: Signal): Promise<void>;
  /** Ends them: streams without an end event, blocked sends with the task as it stands. New ones are refused from here on. */
  close(): void;
  /** Goes on with a task that stands on AUTH_REQUIRED, without a message. */
  resumeTask(taskId: string): Promise<Task>;
}

/** Joins the operations of one replica. */
export function createOperations(parts: OperationParts): ReplicaOperations {
  const calls = new OpenCalls();
  const shared: SharedParts = {
    ...parts,
    calls,
    limits: turnLimits(parts.settings),
    lateReplies: new LateReplies(parts.settings.runawayMax),
  };
  const unary = <Request, Response>(name: string, operation: Operation<Request, Response>) => guarded(shared, name, operation);
  const noPush = async (): Promise<never> => {
    throw pushNotSupported(); // PUSH-01
  };
  return {
    sendMessage: unary('SendMessage', sendMessage),
    sendStreamingMessage: streaming(shared, 'SendStreamingMessage', sendStreamingMessage),
    getTask: unary('GetTask', getTask),
    listTasks: unary('ListTasks', listTasks),
    cancelTask: unary('CancelTask', cancelTask),
    subscribeToTask: streaming(shared, 'SubscribeToTask', subscribeToTask),
    createTaskPushNotificationConfig: unary('CreateTaskPushNotificationConfig', noPush),
    getTaskPushNotificationConfig: unary('GetTaskPushNotificationConfig', noPush),
    listTaskPushNotificationConfigs: unary('ListTaskPushNotificationConfigs', noPush),
    deleteTaskPushNotificationConfig: unary('DeleteTaskPushNotificationConfig', noPush),
    getExtendedAgentCard: async () => {
      throw extendedCardRefusal(parts);
    },
    get openCalls() {
      return calls.count;
    },
    untilIdle: (signal) => calls.untilNone(signal),
    close: () => calls.close(),
    async resumeTask(taskId) {
      await parts.ready?.();
      return resumeTask(shared, taskId);
    },
  };
}

type Operation<Request, Response> = (parts: SharedParts, call: Call, request: Request) => Promise<Response>;

/** Whatever goes wrong inside, a caller sees an A2AError (ERR-01). */
function guarded<Request, Response>(parts: SharedParts, name: string, operation: Operation<Request, Response>) {
  return async (call: Call, request: Request): Promise<Response> => {
    try {
      checkExtensions(parts, call);
      const starting = parts.ready?.();
      if (starting !== undefined) await starting;
      return await operation(parts, call, request);
    } catch (error) {
      throw toCallerError(parts, call, name, error);
    }
  };
}

/** The same for what goes wrong while a stream is read (AMB-12). */
function streaming<Request>(parts: SharedParts, name: string, operation: Operation<Request, AsyncIterable<StreamItem>>) {
  const open = guarded(parts, name, operation);
  return async (call: Call, request: Request): Promise<AsyncIterable<StreamItem>> => {
    const items = (await open(call, request))[Symbol.asyncIterator]();
    return new GuardedItems(items, (error) => {
      throw toCallerError(parts, call, name, error);
    });
  };
}

/** No async functions: each that waits costs a quiet stream half a kilobyte. */
class GuardedItems implements AsyncIterableIterator<StreamItem> {
  readonly #items: AsyncIterator<StreamItem>;
  readonly #fail: (error: unknown) => never;

  constructor(items: AsyncIterator<StreamItem>, fail: (error: unknown) => never) {
    this.#items = items;
    this.#fail = fail;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamItem>> {
    return this.#items.next().catch(this.#fail);
  }

  async return(): Promise<IteratorResult<StreamItem>> {
    return (await this.#items.return?.()) ?? { done: true, value: undefined };
  }
}
