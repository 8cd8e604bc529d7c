import { systemRandom } from '../ground/random.ts';
import type { Message, Part, SendMessageRequest } from '../protocol/types.ts';
import { headerNames } from '../wire/headers.ts';
import type { RequestHeaders } from './probe-wire.ts';

/** What a send may say beside its text. */
export interface SendWords {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly messageId?: string;
  readonly parts?: readonly Part[];
  readonly referenceTaskIds?: readonly string[];
  readonly returnImmediately?: boolean;
  readonly historyLength?: number;
  readonly key?: string;
}

/** How a stream is opened. */
export interface StreamWords {
  /** The reader's name in the history; a reader that connects again keeps it. Each stream has a new one by itself. */
  readonly reader?: string;
  readonly signal?: AbortSignal;
}

/** A request to send a message with these words. */
export function sendRequest(text: string, words: SendWords): SendMessageRequest {
  const { taskId, contextId, messageId = systemRandom.uuid(), parts = [{ text }], referenceTaskIds } = words;
  const message: Message = {
    messageId,
    role: 'ROLE_USER',
    parts,
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(referenceTaskIds === undefined ? {} : { referenceTaskIds }),
  };
  const { returnImmediately, historyLength } = words;
  const configuration = {
    ...(returnImmediately === undefined ? {} : { returnImmediately }),
    ...(historyLength === undefined ? {} : { historyLength }),
  };
  return { message, ...(Object.keys(configuration).length > 0 ? { configuration } : {}) };
}

/** What a fact tells of a message. */
export function named({ messageId, taskId }: Message): { readonly messageId: string; readonly taskId?: string } {
  return { messageId, ...(taskId === undefined ? {} : { taskId }) };
}

/** How much of the history is wanted. */
export function trimmed({ historyLength }: { readonly historyLength?: number }): { readonly historyLength?: number } {
  return historyLength === undefined ? {} : { historyLength };
}

/** What a request says of the history it wants. */
export function configured(request: object): { readonly historyLength?: number } {
  const configuration: unknown = 'configuration' in request ? request.configuration : undefined;
  return typeof configuration === 'object' && configuration !== null ? configuration : {};
}

/** The header that lets a repeat find its first try. */
export function keyHeader({ key }: SendWords): RequestHeaders {
  return key === undefined ? {} : { [headerNames.idempotencyKey]: key };
}

/** Of the words of a streamed send, those about the stream. */
export function readerOf({ reader, signal }: StreamWords): StreamWords {
  return { ...(reader === undefined ? {} : { reader }), ...(signal ? { signal } : {}) };
}
