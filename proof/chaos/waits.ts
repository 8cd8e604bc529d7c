import { callerClock, sleep } from '../../src/ground/clock.ts';

export const pause = (ms: number): Promise<void> => sleep(callerClock, ms);

/** Looks again and again until there is something to see; fails with the name of what was waited for. */
export async function eventually<Found>(
  what: string,
  look: () => Promise<Found | undefined | false> | Found | undefined | false,
  ms = 15_000,
): Promise<Found> {
  for (const end = callerClock.monotonic() + ms; callerClock.monotonic() < end; await pause(20)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`waited ${ms} ms in vain for: ${what}`);
}
