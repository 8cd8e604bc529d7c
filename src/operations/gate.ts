import { A2AError, invalidParams, pushNotSupported, unsupportedOperation } from '../protocol/errors.ts';
import type { Call } from './call.ts';
import type { OperationParts } from './parts.ts';

/** A required extension that the caller did not opt into (EXT-03, EXT-05). */
export function checkExtensions({ capabilities }: OperationParts, call: Call): void {
  if (capabilities.extensions === undefined) return;
  const missing = capabilities.extensions.filter(({ uri, required }) => required && uri && !call.extensions.includes(uri));
  if (missing.length === 0) return;
  const uris = missing.map(({ uri }) => uri).join(', ');
  throw new A2AError('EXTENSION_SUPPORT_REQUIRED', `This agent requires the A2A extensions ${uris}: name them in A2A-Extensions.`, {
    metadata: { extensions: uris },
  });
}

/** Streaming operations exist only where the card says so (STRM-01, SUB-01, CAP-03). */
export function checkStreaming({ capabilities }: OperationParts): void {
  if (!capabilities.streaming) throw unsupportedOperation('This agent does not stream. Send without streaming and read the task.');
}

/** An inline webhook on an agent without push is refused before anything is stored, never dropped silently (SEND-14, AMB-23). */
export function checkNoWebhook(config: unknown): void {
  if (config !== undefined) throw pushNotSupported();
}

/** HIST-03, LIST-05. */
export function checkHistoryLength(historyLength: number | undefined, field: string): void {
  if (historyLength !== undefined && !(Number.isInteger(historyLength) && historyLength >= 0))
    throw invalidParams(field, `a whole number of at least 0 was expected, ${historyLength} came`);
}
