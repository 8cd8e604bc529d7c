import type { Signal } from '../ground/signal.ts';
import type { Backoff } from '../ground/backoff.ts';
import { backoffMs } from '../ground/backoff.ts';
import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import { StoreError } from '../log/store.ts';

/** Pauses between tries of a store call: short, for most outages are a lock; a second at most, so that an end of the outage is soon seen. */
export const STORE_BACKOFF: Backoff = { firstMs: 20, mostMs: 1_000 };

/** How long, and under whose signal, a call is repeated. */
export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: Signal;
}

/**
 * Repeats a call that is harmless when it runs twice until the store answers, without a limit of its own: the signal is the limit.
 * Undefined when the signal fired first. What repeating cannot mend is thrown.
 */
export async function persist<T>(call: () => Promise<T>, { clock, random, signal }: Patience): Promise<T | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind === 'unstorable') throw error;
      await sleep(clock, backoffMs(STORE_BACKOFF, attempt, random), signal);
    }
  }
  return undefined;
}
