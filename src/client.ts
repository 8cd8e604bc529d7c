/**
 * The client: `connect` to an agent by its URL, its card, or the agent object itself. Runs wherever there is `fetch`.
 */
export { answerText, isTask } from './client/answers.ts';
export type { CallOptions, KeyOptions } from './client/calls.ts';
export type { Client, ListFilter, OpenOptions } from './client/client.ts';
export { connect } from './client/connect.ts';
export type { LocalAgent } from './client/connect.ts';
export type { Fetch } from './client/http.ts';
export type { MessageDraft, SendOptions } from './client/message.ts';
export type { Binding, ConnectOptions, HeaderSource, RetryOptions } from './client/options.ts';
export type { StreamingName, StreamItem, UnaryName } from './client/question.ts';
export type { CancelOptions, FollowOptions, GetOptions, TaskHandle, TaskSendOptions, WaitOptions } from './client/task-handle.ts';
export type { TaskStream } from './client/task-stream.ts';
export type { Clock, Timer } from './ground/clock.ts';
export type { Random } from './ground/random.ts';
export { A2AError, type ErrorCode, type FieldViolation, isA2AError } from './protocol/errors.ts';
export type { Content } from './protocol/parts.ts';
export { textOf } from './protocol/parts.ts';
export { isInterrupted, isTerminal } from './protocol/states.ts';
export type {
  AgentCard,
  AgentInterface,
  Artifact,
  Json,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  Part,
  Role,
  StreamResponse,
  Struct,
  Task,
  TaskArtifactUpdateEvent,
  TaskState,
  TaskStatus,
  TaskStatusUpdateEvent,
} from './protocol/types.ts';
export type { RequestOf, ResponseOf } from './wire/operations.ts';
