import type { MessageName, Messages } from './schema.ts';

/** Request and response message of each operation (behaviour.md, table A). `Empty` is `google.protobuf.Empty`: `{}`. */
interface Shapes {
  readonly SendMessage: readonly ['SendMessageRequest', 'SendMessageResponse'];
  readonly SendStreamingMessage: readonly ['SendMessageRequest', 'StreamResponse'];
  readonly GetTask: readonly ['GetTaskRequest', 'Task'];
  readonly ListTasks: readonly ['ListTasksRequest', 'ListTasksResponse'];
  readonly CancelTask: readonly ['CancelTaskRequest', 'Task'];
  readonly SubscribeToTask: readonly ['SubscribeToTaskRequest', 'StreamResponse'];
  readonly CreateTaskPushNotificationConfig: readonly ['TaskPushNotificationConfig', 'TaskPushNotificationConfig'];
  readonly GetTaskPushNotificationConfig: readonly ['GetTaskPushNotificationConfigRequest', 'TaskPushNotificationConfig'];
  readonly ListTaskPushNotificationConfigs: readonly ['ListTaskPushNotificationConfigsRequest', 'ListTaskPushNotificationConfigsResponse'];
  readonly DeleteTaskPushNotificationConfig: readonly ['DeleteTaskPushNotificationConfigRequest', 'Empty'];
  readonly GetExtendedAgentCard: readonly ['GetExtendedAgentCardRequest', 'AgentCard'];
}

/** The eleven operations; the name is also the JSON-RPC method and the gRPC method (RPC-03). */
export type OperationName = keyof Shapes;

/** What an operation is asked with. */
export type RequestOf<N extends OperationName> = Messages[Shapes[N][0]];

/** What an operation answers with; for a streaming one, each item. */
export type ResponseOf<N extends OperationName> = Shapes[N][1] extends MessageName
  ? Messages[Shapes[N][1]]
  : Readonly<Record<string, never>>;

/** HTTP methods of the REST binding. */
export type HttpMethod = 'GET' | 'POST' | 'DELETE';

/** How one operation looks on every wire. */
export interface Operation<N extends OperationName = OperationName> {
  readonly name: N;
  readonly request: Shapes[N][0];
  readonly response: Shapes[N][1];
  readonly isStreaming: boolean;
  /** The first method is the one our client uses, the others are served too. */
  readonly httpMethods: readonly [HttpMethod, ...HttpMethod[]];
  /** Below the interface's URL, or below `/{tenant}` (TEN-04). Names in braces are JSON names of request fields. */
  readonly path: string;
  /** Whether the rest of the request is the body of a POST. Otherwise it is the query (REST-04). */
  readonly hasBody: boolean;
}

/** The table that every binding and every transport of the client loops over. */
export const operations: { readonly [N in OperationName]: Operation<N> } = {
  SendMessage: {
    name: 'SendMessage',
    request: 'SendMessageRequest',
    response: 'SendMessageResponse',
    isStreaming: false,
    httpMethods: ['POST'],
    path: '/message:send',
    hasBody: true,
  },
  SendStreamingMessage: {
    name: 'SendStreamingMessage',
    request: 'SendMessageRequest',
    response: 'StreamResponse',
    isStreaming: true,
    httpMethods: ['POST'],
    path: '/message:stream',
    hasBody: true,
  },
  GetTask: {
    name: 'GetTask',
    request: 'GetTaskRequest',
    response: 'Task',
    isStreaming: false,
    httpMethods: ['GET'],
    path: '/tasks/{id}',
    hasBody: false,
  },
  ListTasks: {
    name: 'ListTasks',
    request: 'ListTasksRequest',
    response: 'ListTasksResponse',
    isStreaming: false,
    httpMethods: ['GET'],
    path: '/tasks',
    hasBody: false,
  },
  CancelTask: {
    name: 'CancelTask',
    request: 'CancelTaskRequest',
    response: 'Task',
    isStreaming: false,
    httpMethods: ['POST'],
    path: '/tasks/{id}:cancel',
    hasBody: true,
  },
  // GET in the proto, POST in the prose: serve both, send POST (REST-05, AMB-10)
  SubscribeToTask: {
    name: 'SubscribeToTask',
    request: 'SubscribeToTaskRequest',
    response: 'StreamResponse',
    isStreaming: true,
    httpMethods: ['POST', 'GET'],
    path: '/tasks/{id}:subscribe',
    hasBody: false,
  },
  CreateTaskPushNotificationConfig: {
    name: 'CreateTaskPushNotificationConfig',
    request: 'TaskPushNotificationConfig',
    response: 'TaskPushNotificationConfig',
    isStreaming: false,
    httpMethods: ['POST'],
    path: '/tasks/{taskId}/pushNotificationConfigs',
    hasBody: true,
  },
  GetTaskPushNotificationConfig: {
    name: 'GetTaskPushNotificationConfig',
    request: 'GetTaskPushNotificationConfigRequest',
    response: 'TaskPushNotificationConfig',
    isStreaming: false,
    httpMethods: ['GET'],
    path: '/tasks/{taskId}/pushNotificationConfigs/{id}',
    hasBody: false,
  },
  ListTaskPushNotificationConfigs: {
    name: 'ListTaskPushNotificationConfigs',
    request: 'ListTaskPushNotificationConfigsRequest',
    response: 'ListTaskPushNotificationConfigsResponse',
    isStreaming: false,
    httpMethods: ['GET'],
    path: '/tasks/{taskId}/pushNotificationConfigs',
    hasBody: false,
  },
  DeleteTaskPushNotificationConfig: {
    name: 'DeleteTaskPushNotificationConfig',
    request: 'DeleteTaskPushNotificationConfigRequest',
    response: 'Empty',
    isStreaming: false,
    httpMethods: ['DELETE'],
    path: '/tasks/{taskId}/pushNotificationConfigs/{id}',
    hasBody: false,
  },
  GetExtendedAgentCard: {
    name: 'GetExtendedAgentCard',
    request: 'GetExtendedAgentCardRequest',
    response: 'AgentCard',
    isStreaming: false,
    httpMethods: ['GET'],
    path: '/extendedAgentCard',
    hasBody: false,
  },
};

/** All operations, in the order of the table. */
export const allOperations: readonly Operation[] = Object.values(operations);

/** The operation that a JSON-RPC or gRPC method names. */
export function operationNamed(method: string): Operation | undefined {
  // true: an own key of the table is an operation's name
  return Object.hasOwn(operations, method) ? operations[method as OperationName] : undefined;
}

/** Full path of the gRPC service; a method's path is this, a slash, and the operation's name. */
export const GRPC_SERVICE = '/lf.a2a.v1.A2AService';
