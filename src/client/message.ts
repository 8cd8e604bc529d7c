import type { Random } from '../ground/random.ts';
import type { Content } from '../protocol/parts.ts';
import type { Message, Part, SendMessageConfiguration, SendMessageRequest, Struct, TaskPushNotificationConfig } from '../protocol/types.ts';
import type { KeyOptions } from './calls.ts';

/** A message of the user's: only its parts are needed, the rest is filled in. */
export type MessageDraft = Pick<Message, 'parts'> & Partial<Message>;

/** What a send can be told. */
export interface SendOptions extends KeyOptions {
  /** Goes on with this task; without it a new one begins (TURN-16). */
  readonly taskId?: string;
  /** The conversation the message belongs to. */
  readonly contextId?: string;
  /** Metadata of the request; the message may have its own. */
  readonly metadata?: Struct;
  readonly acceptedOutputModes?: readonly string[];
  /** Most messages of the history to get back; 0 is none, absent is the agent's choice (HIST-05). */
  readonly historyLength?: number;
  /** A webhook for the task's news. */
  readonly pushNotificationConfig?: TaskPushNotificationConfig;
}

/** The request that a send makes of what it was given. */
export function sendRequest(what: Content | MessageDraft, options: SendOptions, random: Random): SendMessageRequest {
  const { metadata } = options;
  const configuration = configurationOf(options);
  return {
    message: toMessage(what, options, random),
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** The same request, answered as soon as the task exists (SEND-09). */
export function withoutWaiting(request: SendMessageRequest): SendMessageRequest {
  return { ...request, configuration: { ...request.configuration, returnImmediately: true } };
}

function toMessage(what: Content | MessageDraft, { taskId, contextId }: SendOptions, random: Random): Message {
  const draft = typeof what === 'object' && 'parts' in what ? what : { parts: partsOf(what) };
  return {
    role: 'ROLE_USER',
    ...draft,
    messageId: draft.messageId ?? random.uuid(),
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
  };
}

// nothing is checked here: the agent does, and names the field (ERR-10)
function partsOf(content: Content): readonly Part[] {
  if (typeof content === 'string') return [{ text: content }];
  return isList(content) ? content : [content];
}

function isList(content: Part | readonly Part[]): content is readonly Part[] {
  return Array.isArray(content);
}

function configurationOf(options: SendOptions): SendMessageConfiguration {
  const { acceptedOutputModes, historyLength, pushNotificationConfig } = options;
  return {
    ...(acceptedOutputModes === undefined ? {} : { acceptedOutputModes }),
    ...(historyLength === undefined ? {} : { historyLength }),
    ...(pushNotificationConfig === undefined ? {} : { taskPushNotificationConfig: pushNotificationConfig }),
  };
}
