import { backoffMs } from '../ground/backoff.ts';
import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import type { Patience } from './options.ts';
import { isWorthAnotherTry } from './trouble.ts';

/** Longest hint that is followed; a server that wants more gets the usual tries. */
const HINT_MS_MAX = 60_000;

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
  for (let tried = 0; ; tried++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted(); // the time of the whole call is up: that is what is told, not the try it ended
      if (tried >= patience.tries || !isWorthAnotherTry(error)) throw error;
      await pause(tried, error.retryAfterMs, parts);
    }
  }
}

/** Waits before repeat number `tried` (from 0): longer each time, and at least as long as the server asked for. Ends when the signal fires. */
export async function pause(tried: number, hintMs: number | undefined, { patience, clock, random, signal }: RetryParts): Promise<void> {
  const hint = hintMs !== undefined && hintMs <= HINT_MS_MAX ? hintMs : 0;
  await sleep(clock, Math.max(hint, backoffMs(patience, tried, random)), signal);
}
