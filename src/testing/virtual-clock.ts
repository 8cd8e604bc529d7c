import { assert } from '../ground/assert.ts';
import type { Clock, Timer } from '../ground/clock.ts';
import { Heap } from '../stores/heap.ts';

/** Where a virtual clock begins unless told otherwise: 2026-01-01T00:00:00Z. */
const START_MS = 1_767_225_600_000;

/** Rounds of the loop in which code that waits for nothing but promises and immediates comes to rest. */
const SETTLE_ROUNDS = 3;

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/**
 * A clock that stands still until a test moves it: hours pass in milliseconds, and the same moves give the same order of events. Hand it to
 * `createAgent({ clock })` or to any part that takes a `Clock`.
 *
 * @example
 * ```ts
 * import { VirtualClock } from 'chorus-a2a/testing';
 *
 * const clock = new VirtualClock();
 * clock.after(60_000, () => console.log('a minute later'));
 * await clock.advance(60_000);
 * ```
 */
export class VirtualClock implements Clock {
  #now = 0;
  #wallOffset: number;
  #orders = 0;
  readonly #alarms = new Heap<Alarm>(isBefore);

  constructor({ wallMs = START_MS }: { readonly wallMs?: number } = {}) {
    this.#wallOffset = wallMs;
  }

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return this.#wallOffset + this.#now;
  }

  after(ms: number, task: () => void): Timer {
    const alarm: Alarm = { at: this.#now + Math.max(0, ms), order: this.#orders++, task };
    this.#alarms.add(alarm);
    return { cancel: () => this.#alarms.remove(alarm) };
  }

  /** Moves time on by `ms`. What falls due on the way runs at its own time, in order; after each, everything else comes to rest first. */
  async advance(ms: number): Promise<void> {
    assert(ms >= 0, 'virtual clock: time does not run backwards');
    const end = this.#now + ms;
    await this.settle();
    for (let alarm = this.#next(end); alarm; alarm = this.#next(end)) {
      this.#now = alarm.at;
      this.#alarms.remove(alarm);
      alarm.task();
      await this.settle();
    }
    this.#now = end;
  }

  /** Lets everything that waits for no time come to rest. */
  async settle(): Promise<void> {
    for (let round = 0; round < SETTLE_ROUNDS; round++) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Moves the wall clock only, as an operator or a time server does: durations do not notice. */
  jump(ms: number): void {
    this.#wallOffset += ms;
  }

  #next(end: number): Alarm | undefined {
    const { first } = this.#alarms;
    return first !== undefined && first.at <= end ? first : undefined;
  }
}

/** Alarms of one moment go off in the order in which they were set. */
function isBefore(one: Alarm, other: Alarm): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
