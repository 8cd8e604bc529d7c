import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';

/** A short wait, and by what it is measured. */
export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
  readonly msMin: number;
  readonly msMax: number;
}

/** How long to wait before asking again for a lock that another process holds. */
export const LOCK_WAIT: Pick<Patience, 'msMin' | 'msMax'> = { msMin: 1, msMax: 5 };

/**
 * A wait of some milliseconds, by chance, so that many who wait do not ask in step. A pending timer does not keep a program alive, but
 * somebody waits for this one: a script that only writes must not end in the middle of it.
 */
export async function patience({ clock, random, msMin, msMax }: Patience): Promise<void> {
  const { port1 } = new MessageChannel();
  port1.addEventListener('message', () => {}); // an open port that is listened to keeps the loop alive
  port1.start();
  try {
    await sleep(clock, msMin + (msMax - msMin) * random.fraction());
  } finally {
    port1.close();
  }
}
