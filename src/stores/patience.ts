import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import type { Signal } from '../ground/signal.ts';
import { MessageChannel } from 'node:worker_threads';

/** A short wait, and by what it is measured. */
export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
  readonly msMin: number;
  readonly msMax: number;
  /** Ends the wait early. */
  readonly signal?: Signal;
}

/** How long to wait before asking again for a lock that another process holds. */
export const LOCK_WAIT: Pick<Patience, 'msMin' | 'msMax'> = { msMin: 1, msMax: 5 };

/**
 * A wait of some milliseconds, by chance, so that many who wait do not ask in step. A pending timer does not keep a program alive, but
 * somebody waits for this one: a script that only writes must not end in the middle of it.
 */
export async function patience({ clock, random, msMin, msMax, signal }: Patience): Promise<void> {
  keepAlive(1);
  try {
    await sleep(clock, msMin + (msMax - msMin) * random.fraction(), signal);
  } finally {
    keepAlive(-1);
  }
}

// an open port that is listened to keeps the loop alive while it is held; one for all waits, for each costs as much as a failed try
const { port1 } = new MessageChannel();
port1.on('message', () => {}).unref();
let waits = 0;

function keepAlive(change: 1 | -1): void {
  waits += change;
  if (waits > 0) port1.ref();
  else port1.unref();
}
