import type { Clock, Timer } from '../ground/clock.ts';
import type { A2AError } from '../protocol/errors.ts';

/** What a deadline is made of. */
export interface DeadlineParts {
  readonly clock: Clock;
  /** `Infinity` for none. */
  readonly ms: number;
  /** Fires the deadline's own signal as well. */
  readonly signal?: AbortSignal | undefined;
  /** What to say when the time is up; it becomes the signal's reason. */
  readonly error: () => A2AError;
}

/** A signal that fires when its time is up, or when the signal above it does. Close it, or the timer and the listener stay. */
export class Deadline {
  readonly #clock: Clock;
  readonly #error: () => A2AError;
  readonly #above: AbortSignal | undefined;
  readonly #controller = new AbortController();
  #ms: number;
  /** `Infinity` while the time stands still. */
  #due: number;
  #timer: Timer | undefined;
  /** Nothing moves the time any more. */
  #isSet = false;

  constructor({ clock, ms, signal, error }: DeadlineParts) {
    this.#clock = clock;
    this.#error = error;
    this.#above = signal;
    this.#ms = ms;
    this.#due = clock.monotonic() + ms;
    if (signal?.aborted) this.#follow();
    else {
      signal?.addEventListener('abort', this.#follow);
      this.#arm();
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The time starts anew. A timer that is under way is left alone and looks again when it fires, so this costs next to nothing. */
  touch(): void {
    if (this.#isSet) return;
    this.#due = this.#clock.monotonic() + this.#ms;
    if (!this.#timer) this.#arm();
  }

  /** The time stands still until the next `touch`. */
  hold(): void {
    if (!this.#isSet) this.#due = Infinity;
  }

  /** From now on only so long, whatever comes. */
  last(ms: number): void {
    if (this.#isSet) return;
    this.#timer?.cancel();
    this.#isSet = true;
    this.#due = this.#clock.monotonic() + ms;
    this.#arm();
  }

  /** Fires at once, for a reason of the caller's. */
  abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.close();
  }

  close(): void {
    this.#isSet = true;
    this.#timer?.cancel();
    this.#above?.removeEventListener('abort', this.#follow);
  }

  readonly #follow = (): void => this.abort(this.#above?.reason);

  #arm(): void {
    this.#timer = undefined;
    if (this.#due === Infinity) return;
    this.#timer = this.#clock.after(Math.max(0, this.#due - this.#clock.monotonic()), () => {
      if (this.#clock.monotonic() < this.#due) this.#arm();
      else this.abort(this.#error());
    });
  }
}
