import type { Signal } from '../ground/signal.ts';
import type { Caller } from '../log/entry.ts';
import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '../protocol/types.ts';

/** What a binding knows of a request beside its parameters. */
export interface Call {
  /** Who calls, as `identify` told it; `{}` is the anonymous caller. */
  readonly caller: Caller;
  /** '' when the request names none. Routing, not rights: those come from `caller` alone (TEN-06, AMB-20). */
  readonly tenant: string;
  /** Fires when the caller is gone. Whoever opens a call fires it at the latest when the connection ends: it frees what the call holds. */
  readonly signal: Signal;
  /** The header of that name; without one every request is a new one (AMB-05). */
  readonly idempotencyKey?: string;
  /** The header of that name, as it came: what it means is decided here (AMB-03). */
  readonly lastEventId?: string;
  /** What the caller opted into (EXT-02). */
  readonly extensions: readonly string[];
  /** Id under which the binding logs this request; internal errors refer to it. */
  readonly reference?: string;
}

/** One item of a stream. `seq` is its cursor (SSE `id:`); a direct message has none. */
export interface StreamItem {
  readonly seq?: number;
  readonly item: StreamResponse;
}

/**
 * The eleven operations of A2A (behaviour.md, table A), without a word of any wire. Each throws A2AError only. A streaming one rejects
 * when the call fails before its first item; what its iteration throws comes after items were given: one error item, then the end
 * (AMB-12). An iteration that ends without a terminal status and without an error was cut by a shutdown: come back elsewhere.
 */
export interface Operations {
  sendMessage(call: Call, request: SendMessageRequest): Promise<SendMessageResponse>;
  sendStreamingMessage(call: Call, request: SendMessageRequest): Promise<AsyncIterable<StreamItem>>;
  getTask(call: Call, request: GetTaskRequest): Promise<Task>;
  listTasks(call: Call, request: ListTasksRequest): Promise<ListTasksResponse>;
  cancelTask(call: Call, request: CancelTaskRequest): Promise<Task>;
  subscribeToTask(call: Call, request: SubscribeToTaskRequest): Promise<AsyncIterable<StreamItem>>;
  createTaskPushNotificationConfig(call: Call, request: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig>;
  getTaskPushNotificationConfig(call: Call, request: GetTaskPushNotificationConfigRequest): Promise<TaskPushNotificationConfig>;
  listTaskPushNotificationConfigs(
    call: Call,
    request: ListTaskPushNotificationConfigsRequest,
  ): Promise<ListTaskPushNotificationConfigsResponse>;
  deleteTaskPushNotificationConfig(call: Call, request: DeleteTaskPushNotificationConfigRequest): Promise<Record<string, never>>;
  getExtendedAgentCard(call: Call, request: GetExtendedAgentCardRequest): Promise<AgentCard>;
}
