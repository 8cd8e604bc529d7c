import { backoffMs } from '../ground/backoff.ts';
import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import { A2AError, isA2AError } from '../protocol/errors.ts';
import type { Patience } from './options.ts';
import { isWorthAnotherTry } from './trouble.ts';

/** Longest hint that a call waits for; who is told to come back later than that is told so. */
const HINT_MS_MAX = 30_000;

/** What repeats need. */
export interface RetryParts {
  readonly patience: Patience;
  readonly clock: Clock;
  readonly random: Random;
  /** The time of all tries together. */
  readonly signal: AbortSignal;
}

/**
 * Tries until there is an answer: an error that is worth another try (nothing came, UNAVAILABLE) is followed by one, after a growing pause
 * and not before the server's hint. Only for requests that may be repeated: reads, and sends that carry a key.
 */
export async function withRetries<T>(attempt: () => Promise<T>, parts: RetryParts): Promise<T> {
  const { patience, signal } = parts;
  let last: A2AError | undefined;
  for (let tried = 0; ; tried++) {
    throwIfOver(signal, last);
    try {
      return await attempt();
    } catch (error) {
      throwIfOver(signal, last);
      if (tried >= patience.tries || !isWorthAnotherTry(error) || (error.retryAfterMs ?? 0) > HINT_MS_MAX) throw error;
      last = error;
      await pause(tried, error.retryAfterMs, parts);
    }
  }
}

/** The time of the whole call is up: that is what is told, and what the tries before had met is its cause. */
function throwIfOver({ aborted, reason }: AbortSignal, last: A2AError | undefined): void {
  if (!aborted) return;
  if (!isA2AError(reason) || last === undefined) throw reason;
  throw new A2AError(reason.code, `${reason.message} The last try: ${last.message}`, { cause: last });
}

/** Waits before repeat number `tried` (from 0): longer each time, and at least as long as the server asked for. Ends when the signal fires. */
export async function pause(tried: number, hintMs: number | undefined, { patience, clock, random, signal }: RetryParts): Promise<void> {
  await sleep(clock, Math.max(Math.min(hintMs ?? 0, HINT_MS_MAX), backoffMs(patience, tried, random)), signal);
}
