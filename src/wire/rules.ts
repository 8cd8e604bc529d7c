import { PARTS_MAX, STRINGS_MAX, VALUE_DEPTH_MAX } from '../protocol/limits.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import type { FieldPath } from './schema.ts';

/** How a reader treats what it meets: two readers are made from one table by two sets of rules. */
export interface ReadRules {
  /** Code of the error that names all violations, and how its message begins. */
  readonly refusal: { readonly code: ErrorCode; readonly opening: string };
  /** A required field that is missing: refuse the message, or fill in the default of its type where nothing depends on it. */
  readonly missing: 'refuse' | 'fill';
  /** An enum value that this version does not know. */
  readonly unknownEnum: 'refuse' | 'keep';
  /** U+0000 and lone surrogates, ids (protocol/ids.ts), ranges, texts that end up in headers. */
  readonly content: 'check' | 'trust';
  readonly partsMax: number;
  readonly stringsMax: number;
  readonly valueDepthMax: number;
}

/** For what comes from strangers: everything is checked before anything is done (ERR-09, JSON-15). */
export const requestRules: ReadRules = {
  refusal: { code: 'INVALID_PARAMS', opening: 'Invalid parameters' },
  missing: 'refuse',
  unknownEnum: 'refuse',
  content: 'check',
  partsMax: PARTS_MAX,
  stringsMax: STRINGS_MAX,
  valueDepthMax: VALUE_DEPTH_MAX,
};

/**
 * For what an agent answers to our client: other SDKs and later versions are not to make it throw (case 90). Types still hold, except that an
 * enum may have a value this version does not know.
 */
export const answerRules: ReadRules = {
  refusal: { code: 'INVALID_AGENT_RESPONSE', opening: 'The agent answered with something that is not A2A' },
  missing: 'fill',
  unknownEnum: 'keep',
  content: 'trust',
  partsMax: Infinity,
  stringsMax: Infinity,
  valueDepthMax: 1_000,
};

/** Fields under the rule for ids (case 95): they name things, are compared, and are keys of stores. */
export const idFields: ReadonlySet<FieldPath> = new Set<FieldPath>([
  'Message.messageId',
  'Message.contextId',
  'Message.taskId',
  'Message.referenceTaskIds',
  'Artifact.artifactId',
  'Task.id',
  'Task.contextId',
  'TaskStatusUpdateEvent.taskId',
  'TaskStatusUpdateEvent.contextId',
  'TaskArtifactUpdateEvent.taskId',
  'TaskArtifactUpdateEvent.contextId',
  'TaskPushNotificationConfig.tenant',
  'TaskPushNotificationConfig.id',
  'TaskPushNotificationConfig.taskId',
  'SendMessageRequest.tenant',
  'GetTaskRequest.tenant',
  'GetTaskRequest.id',
  'ListTasksRequest.tenant',
  'ListTasksRequest.contextId',
  'CancelTaskRequest.tenant',
  'CancelTaskRequest.id',
  'SubscribeToTaskRequest.tenant',
  'SubscribeToTaskRequest.id',
  'GetTaskPushNotificationConfigRequest.tenant',
  'GetTaskPushNotificationConfigRequest.taskId',
  'GetTaskPushNotificationConfigRequest.id',
  'DeleteTaskPushNotificationConfigRequest.tenant',
  'DeleteTaskPushNotificationConfigRequest.taskId',
  'DeleteTaskPushNotificationConfigRequest.id',
  'ListTaskPushNotificationConfigsRequest.tenant',
  'ListTaskPushNotificationConfigsRequest.taskId',
  'GetExtendedAgentCardRequest.tenant',
]);

/** Fields that are sent as headers to webhooks: a line break in one would add headers of a stranger's choice (case 45). */
export const headerFields: ReadonlySet<FieldPath> = new Set<FieldPath>([
  'TaskPushNotificationConfig.token',
  'AuthenticationInfo.scheme',
  'AuthenticationInfo.credentials',
]);

/** Ranges of integers (LIST-04, LIST-05, HIST-03); both ends belong to the range. */
export const ranges: Readonly<Partial<Record<FieldPath, readonly [least: number, most: number]>>> = {
  'SendMessageConfiguration.historyLength': [0, 2 ** 31 - 1],
  'GetTaskRequest.historyLength': [0, 2 ** 31 - 1],
  'ListTasksRequest.historyLength': [0, 2 ** 31 - 1],
  'ListTasksRequest.pageSize': [1, 100],
  // no explicit presence here: 0 is the same as absent
  'ListTaskPushNotificationConfigsRequest.pageSize': [0, 2 ** 31 - 1],
};

/** Required lists that may not be empty; the others may, although §5.7 says otherwise (JSON-16, AMB-21). */
export const filledLists: ReadonlySet<FieldPath> = new Set<FieldPath>(['Message.parts', 'Artifact.parts']);

/** Required strings whose empty value means something (LIST-07). */
export const emptyStrings: ReadonlySet<FieldPath> = new Set<FieldPath>(['ListTasksResponse.nextPageToken']);

/** What even a lenient reader needs: the folds and the calls of a client are keyed by these, or have no other content. */
export const neededAnyway: ReadonlySet<FieldPath> = new Set<FieldPath>([
  'Task.id',
  'TaskStatusUpdateEvent.taskId',
  'TaskStatusUpdateEvent.status',
  'TaskArtifactUpdateEvent.taskId',
  'TaskArtifactUpdateEvent.artifact',
  'Artifact.artifactId',
  'AgentInterface.url',
  'AgentInterface.protocolBinding',
]);

/** Oneofs that even a lenient reader wants to see set: without one of them there is no answer. Others may hold a kind of a later version. */
export const neededOneofs: ReadonlySet<string> = new Set(['SendMessageResponse.payload', 'StreamResponse.payload']);
