import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';

/**
 * A moment's wait for a lock that another process holds: 1 to 5 ms by chance, so that many who wait do not ask in step. A pending timer
 * does not keep a program alive, but somebody waits for this one: a script that only writes must not end in the middle of it.
 */
export async function patience({ clock, random }: { readonly clock: Clock; readonly random: Random }): Promise<void> {
  const { port1 } = new MessageChannel();
  port1.addEventListener('message', () => {}); // an open port that is listened to keeps the loop alive
  port1.start();
  try {
    await sleep(clock, 1 + 4 * random.fraction());
  } finally {
    port1.close();
  }
}
