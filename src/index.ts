/** The agent's side: `createAgent`, and the words its code is written with. */
export { createAgent, type Agent } from './agent/agent.ts';
export { memory } from './agent/memory.ts';
export type { MemoryOptions } from './agent/memory.ts';
export type { AgentOptions } from './agent/options.ts';
export type { Identify, IncomingRequest, WireLimits } from './bindings/exchange.ts';
export type { Clock, Timer } from './ground/clock.ts';
export type { LogFields, Logger } from './ground/logger.ts';
export { silentLogger } from './ground/logger.ts';
export type { Random } from './ground/random.ts';
export type { Caller } from './log/entry.ts';
export type { OnLost, StoreSource, WakeSource, WhileWorking } from './log/store.ts';
export type { CardDraft } from './protocol/card.ts';
export {
  A2AError,
  type A2AErrorDetails,
  contentTypeNotSupported,
  type ErrorCode,
  type FieldViolation,
  invalidParams,
  isA2AError,
  taskNotFound,
  unavailable,
  unsupportedOperation,
} from './protocol/errors.ts';
export { textOf } from './protocol/parts.ts';
export type { AgentCard, AgentSkill, Artifact, Json, Message, Part, Role, Struct, Task, TaskState, TaskStatus } from './protocol/types.ts';
export type { TurnOptions } from './turn/options.ts';
export type {
  ArtifactOptions,
  ArtifactWriter,
  Content,
  Inbox,
  Outcome,
  Reply,
  ReplyContext,
  Run,
  RunResult,
  SayOptions,
  Turn,
} from './turn/turn.ts';
