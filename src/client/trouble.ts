import type { ErrorCode } from '../protocol/errors.ts';
import { A2AError, isA2AError } from '../protocol/errors.ts';
import { fromRestError } from '../wire/error-reading.ts';
import type { RestAnswer } from '../wire/error-reading.ts';

/** Nothing came, or not all of it: worth another try. */
export function noAnswer(message: string, cause?: unknown): A2AError {
  return new A2AError('UNAVAILABLE', message, cause === undefined ? {} : { cause });
}

/** Something came that is not A2A: another try would bring the same. */
export function badAnswer(message: string, cause?: unknown): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', message, cause === undefined ? {} : { cause });
}

/** True if another try may help: the agent, or what stands before it, was not there. */
export function isWorthAnotherTry(error: unknown): error is A2AError {
  return isA2AError(error) && error.code === 'UNAVAILABLE';
}

/** True for an error with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is A2AError {
  return isA2AError(error) && codes.includes(error.code);
}

/** What a failed `fetch` says of its reason, in a word: the code of the system's error, if there is one. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}

/**
 * Statuses of something between the caller and the agent that could not reach it, or was asked too often. 408 too: whoever waits for the first
 * request on a connection that was opened in advance gives up with it, and meets the request on its way.
 */
const gatewayStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** The error that an HTTP answer tells. Whatever a gateway writes into the body, its status says that another try may help. */
export function errorOf(answer: RestAnswer): A2AError {
  return withStatus(answer, fromRestError(answer));
}

/** The same for an error that the body told by itself. */
export function withStatus({ status, retryAfter }: RestAnswer, told: A2AError): A2AError {
  if (told.code === 'UNAVAILABLE' || !gatewayStatuses.has(status)) return told;
  const hint = told.retryAfterMs ?? fromRestError({ status, ...(retryAfter === undefined ? {} : { retryAfter }) }).retryAfterMs;
  return new A2AError('UNAVAILABLE', told.message, {
    metadata: told.metadata,
    cause: told,
    ...(hint === undefined ? {} : { retryAfterMs: hint }),
  });
}
