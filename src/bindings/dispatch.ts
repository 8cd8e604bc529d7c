import type { Call, Operations, StreamItem } from '../operations/call.ts';
import type { Operation, OperationName, RequestOf } from '../wire/operations.ts';
import { readMessage } from '../wire/reader.ts';

/** What an operation gave: one value to print, or a stream whose items follow. */
export type Answer =
  | { readonly kind: 'value'; readonly value: object }
  | { readonly kind: 'stream'; readonly items: AsyncIterable<StreamItem> };

type Verbs = { readonly [N in OperationName]: (operations: Operations, call: Call, request: RequestOf<N>) => Promise<Answer> };

const value = async (answer: Promise<object>): Promise<Answer> => ({ kind: 'value', value: await answer });
const stream = async (answer: Promise<AsyncIterable<StreamItem>>): Promise<Answer> => ({ kind: 'stream', items: await answer });

// the one place where a name on the wire meets the operation behind it
const verbs: Verbs = {
  SendMessage: (operations, call, request) => value(operations.sendMessage(call, request)),
  SendStreamingMessage: (operations, call, request) => stream(operations.sendStreamingMessage(call, request)),
  GetTask: (operations, call, request) => value(operations.getTask(call, request)),
  ListTasks: (operations, call, request) => value(operations.listTasks(call, request)),
  CancelTask: (operations, call, request) => value(operations.cancelTask(call, request)),
  SubscribeToTask: (operations, call, request) => stream(operations.subscribeToTask(call, request)),
  CreateTaskPushNotificationConfig: (operations, call, request) => value(operations.createTaskPushNotificationConfig(call, request)),
  GetTaskPushNotificationConfig: (operations, call, request) => value(operations.getTaskPushNotificationConfig(call, request)),
  ListTaskPushNotificationConfigs: (operations, call, request) => value(operations.listTaskPushNotificationConfigs(call, request)),
  DeleteTaskPushNotificationConfig: (operations, call, request) => value(operations.deleteTaskPushNotificationConfig(call, request)),
  GetExtendedAgentCard: (operations, call, request) => value(operations.getExtendedAgentCard(call, request)),
};

/** A request that was read: its tenant, and the operation waiting for its call. */
export interface Prepared {
  /** '' when the request names none. */
  readonly tenant: string;
  run(operations: Operations, call: Call): Promise<Answer>;
}

/** Reads the JSON of a request; INVALID_PARAMS names what is wrong with it (ERR-09, ERR-10). */
export function prepare<N extends OperationName>(operation: Operation<N>, json: unknown): Prepared {
  const request: RequestOf<N> = readMessage(operation.request, json);
  return { tenant: request.tenant ?? '', run: (operations, call) => verbs[operation.name](operations, call, request) };
}
