import type { Signal } from '../ground/signal.ts';
import { backoffMs } from '../ground/backoff.ts';
import { sleep } from '../ground/clock.ts';
import { StoreError } from '../log/store.ts';
import { type A2AError, internalError, isA2AError, unavailable } from '../protocol/errors.ts';
import type { Call } from './call.ts';
import type { OperationParts } from './parts.ts';

/** How long a write is tried again before its caller is told UNAVAILABLE. */
export const WRITE_PATIENCE_MS = 5_000;
const WRITE_BACKOFF = { firstMs: 20, mostMs: 1_000 };

/** True when the store says that it may work again later. */
export function isPassing(error: unknown): error is StoreError {
  return error instanceof StoreError && error.kind === 'unavailable';
}

/**
 * Repeats a write of unknown or no outcome, with back-off, until it is answered. That is safe for every verb of the store (P9): a message
 * keeps its key, a cancel finds itself done.
 */
export async function patiently<Result>(parts: OperationParts, signal: Signal, write: () => Promise<Result>): Promise<Result> {
  const { clock, random } = parts;
  const until = clock.monotonic() + WRITE_PATIENCE_MS;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      const waitMs = backoffMs(WRITE_BACKOFF, attempt, random);
      if (!isPassing(error) || signal.aborted || clock.monotonic() + waitMs > until) throw error;
      await sleep(clock, waitMs, signal);
    }
  }
}

/** What a caller is told of a failure: nothing of what is inside (case 71, case 95). What is ours goes to the operator in full. */
export function toCallerError(parts: OperationParts, call: Call, operation: string, error: unknown): A2AError {
  if (isA2AError(error)) return error;
  if (isPassing(error)) {
    parts.logger.warn('store unavailable', { operation, error: error.message });
    return unavailable('The agent cannot reach its tasks at present. Try again later.', 1_000, error);
  }
  const reference = call.reference ?? parts.random.uuid();
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  parts.logger.error('operation failed', { operation, reference, error: detail });
  return internalError(reference);
}
