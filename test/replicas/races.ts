import type { Seen } from '../../src/testing/probe.ts';
import { collect, rounds } from './support.ts';

const MET_MS_MAX = 80_000;

/**
 * Plays a race so many times, and then on until each of its outcomes was met: no machine is so fast or so slow that a round more does not
 * help, as long as the race itself is moved towards what is missing.
 */
export async function untilMet<Outcome extends string>(
  outcomes: readonly Outcome[],
  count: number,
  play: () => Promise<readonly Outcome[]>,
): Promise<void> {
  const missing = new Set(outcomes);
  const end = Date.now() + rounds(600_000, MET_MS_MAX);
  for (let round = 0; round < count || missing.size > 0; round++) {
    if (round >= count && Date.now() > end) throw new Error(`never met in ${round} rounds: ${[...missing].join(', ')}`);
    for (const outcome of await play()) missing.delete(outcome);
  }
}

const SILENT_MS_MIN = 20;

/**
 * Where to aim at a moment that each machine has elsewhere: a script is silent first, and what races with it waits about as long. Each shot
 * moves the next one, faster and faster while it is far off, so both sides of the moment are hit on any machine: a silence can always grow
 * until nothing is too late, a wait until nothing is too early.
 */
export class Aim {
  #offsetMs = 0;
  #stepMs = 4;
  #wasLate: boolean | undefined;

  /** How long the script is silent before it begins. */
  get silentMs(): number {
    return Math.max(SILENT_MS_MIN, Math.ceil(-this.#offsetMs));
  }

  /** How long to wait before the shot. */
  get waitMs(): number {
    return this.silentMs + this.#offsetMs;
  }

  /** The last shot came behind the moment, or before it. */
  adjust(isLate: boolean): void {
    this.#stepMs = isLate === this.#wasLate ? this.#stepMs * 1.5 : Math.max(1, this.#stepMs / 2);
    this.#wasLate = isLate;
    this.#offsetMs += isLate ? -this.#stepMs : this.#stepMs;
  }
}

/** A stream that is open, so that nothing done from here on comes before it: its first item is here, and `all` of its items when it has ended. */
export async function opened(stream: AsyncGenerator<Seen>): Promise<{ readonly all: Promise<Seen[]> }> {
  const first = await stream.next();
  const all = (async () => [...(first.done ? [] : [first.value]), ...(await collect(stream))])();
  all.catch(() => undefined); // whoever wants it meets its error there
  return { all };
}
