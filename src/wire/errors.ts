import type { Logger } from '../ground/logger.ts';
import type { A2AError } from '../protocol/errors.ts';
import { internalError, isA2AError, isErrorCode } from '../protocol/errors.ts';
import type { Json, Struct } from '../protocol/types.ts';
import { errorTable } from './error-table.ts';

/** `ErrorInfo.domain` of every error (behaviour.md, table B). */
export const ERROR_DOMAIN = 'a2a-protocol.org';

/** `@type` of the details we write and read (ERR-18, ERR-19). */
export const detailTypes = {
  errorInfo: 'type.googleapis.com/google.rpc.ErrorInfo',
  badRequest: 'type.googleapis.com/google.rpc.BadRequest',
  retryInfo: 'type.googleapis.com/google.rpc.RetryInfo',
} as const;

/** The `error` member of a JSON-RPC response (RPC-06). */
export interface JsonRpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data: readonly Struct[];
}

/** A REST error: status, headers and body (REST-11). */
export interface RestErrorParts {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly error: { readonly code: number; readonly status: string; readonly message: string; readonly details: readonly Struct[] };
  };
}

/**
 * The error a caller may see for whatever was thrown. Errors made for callers pass; of anything else nothing is shown but a reference id, under
 * which the logger has it in full (case 71). The id is handed in, because chance is.
 */
export function toA2AError(thrown: unknown, { referenceId, logger }: { readonly referenceId: string; readonly logger?: Logger }): A2AError {
  if (isA2AError(thrown) && isErrorCode(thrown.code)) return thrown;
  const text = thrown instanceof Error ? (thrown.stack ?? `${thrown.name}: ${thrown.message}`) : String(thrown);
  logger?.error('unexpected error', { referenceId, error: text });
  return internalError(referenceId);
}

/** The details of an error, as every binding carries them: ErrorInfo always (RPC-08, REST-12), BadRequest and RetryInfo if there is cause. */
export function errorDetails(error: A2AError): readonly Struct[] {
  const details: Struct[] = [{ '@type': detailTypes.errorInfo, reason: error.code, domain: ERROR_DOMAIN, ...metadataOf(error) }];
  if (error.violations.length > 0) {
    const fieldViolations: Json = error.violations.map(({ field, description }) => ({ field, description }));
    details.push({ '@type': detailTypes.badRequest, fieldViolations });
  }
  if (error.retryAfterMs !== undefined) details.push({ '@type': detailTypes.retryInfo, retryDelay: `${error.retryAfterMs / 1_000}s` });
  return details;
}

function metadataOf({ metadata }: A2AError): { readonly metadata?: Struct } {
  return Object.keys(metadata).length === 0 ? {} : { metadata };
}

/** The error as a JSON-RPC error object (RPC-06 to RPC-11). The generic categories begin with the protocol's own words. */
export function toJsonRpcError(error: A2AError): JsonRpcErrorObject {
  const { jsonRpc, opening } = errorTable[error.code];
  const message = opening === undefined || error.message.startsWith(opening) ? error.message : `${opening}: ${error.message}`;
  return { code: jsonRpc, message, data: errorDetails(error) };
}

/**
 * The error as a REST answer (REST-11 to REST-14), with `Retry-After` when there is a hint (ERR-15). A binding that found the path but not the
 * method gives 405 as the status.
 */
export function toRestError(error: A2AError, status: number = errorTable[error.code].http): RestErrorParts {
  const row = errorTable[error.code];
  return {
    status,
    headers: error.retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(error.retryAfterMs / 1_000))) },
    body: { error: { code: status, status: row.status, message: error.message, details: errorDetails(error) } },
  };
}
