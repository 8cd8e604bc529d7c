import type { Signal } from './signal.ts';

/** Time, handed in, so that a lab can own it. */
export interface Clock {
  /** Milliseconds that only ever grow; for durations. */
  monotonic(): number;
  /** Milliseconds since the epoch; for timestamps only, it may jump. */
  wall(): number;
  /** Runs `task` once after `ms`. Cancelling it before that stops it. */
  after(ms: number, task: () => void): Timer;
}

/** A pending call of `Clock.after`. */
export interface Timer {
  cancel(): void;
}

/** The machine's own clock. A pending timer does not keep the process alive: a server's background parts must not. */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    const given: unknown = timer;
    // Node's timers are objects with unref; elsewhere they are numbers and nothing has to be done
    if (typeof given === 'object' && given !== null && 'unref' in given && typeof given.unref === 'function') given.unref();
    return new Pending(timer);
  },
};

/** A class, because every quiet stream holds one: an object with a function of its own takes five times as much. */
class Pending implements Timer {
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(timer: ReturnType<typeof setTimeout>) {
    this.#timer = timer;
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * The same, but a pending timer keeps the process alive. For a client: between two tries no socket does, and a program that waits for an
 * answer must not end in the middle of its wait.
 */
export const callerClock: Clock = {
  monotonic: systemClock.monotonic,
  wall: systemClock.wall,
  after(ms, task) {
    return new Pending(setTimeout(task, ms));
  },
};

/** Resolves after `ms`, or at once when the signal fires: whoever sleeps looks at the signal afterwards. */
export function sleep(clock: Clock, ms: number, signal?: Signal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}
