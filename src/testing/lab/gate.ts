import type { Clock } from '../../ground/clock.ts';

/**
 * Where a replica meets the world. Its timers, the answers to its calls, the calls themselves, hints and requests pass here: while it is
 * paused they wait, as those of a stopped process do, and once it is dead none of them gets through any more. What runs between two passes
 * is code that waits for nothing, and no process is stopped in the middle of that.
 */
export class Gate {
  readonly #clock: Clock;
  #state: 'open' | 'shut' | 'gone' = 'open';
  #held: (() => void)[] = [];

  /** Time for letting go what waited: the lab's own, which never stands still. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isPaused(): boolean {
    return this.#state === 'shut';
  }

  get isDead(): boolean {
    return this.#state === 'gone';
  }

  /** Does this now, when the replica goes on, or never. */
  pass(work: () => void): void {
    if (this.#state === 'open') work();
    else if (this.#state === 'shut') this.#held.push(work);
  }

  /** The outcome of a promise, through the gate. */
  through<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(
        (value) => this.pass(() => resolve(value)),
        (error: unknown) => this.pass(() => reject(error instanceof Error ? error : new Error(String(error)))),
      );
    });
  }

  pause(): void {
    if (this.#state === 'open') this.#state = 'shut';
  }

  /** One after another, each at rest before the next, as the loop of a process takes up what came meanwhile. */
  goOn(): void {
    if (this.#state !== 'shut') return;
    this.#state = 'open';
    for (const work of this.#held.splice(0)) this.#clock.after(0, () => this.pass(work));
  }

  kill(): void {
    this.#state = 'gone';
    this.#held = [];
  }
}
