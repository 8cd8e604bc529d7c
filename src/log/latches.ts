import type { Signal } from '../ground/signal.ts';
/**
 * A hint that a log grew, for one follower ⚖: registered before the first read, cleared before each read, set by any hint since. So a hint
 * that arrives while the read is under way is kept, and with no hint lost nobody waits for a poll.
 */
export interface Latch extends Disposable {
  /** Call before a read of entries above `cursor`; hints about what is at or below it say nothing new. */
  clear(cursor: number): void;
  /** Resolves when a hint has come since `clear`, or the signal fires. */
  next(signal: Signal): Promise<void>;
}

/** A task that somebody on this replica follows, and the least cursor among its followers. */
export interface Watched {
  readonly taskId: string;
  readonly seq: number;
}

/** All latches of a replica. */
export class Latches {
  readonly #byTask = new Map<string, OneLatch[]>();

  /** True while anybody follows anything: the tick then polls. */
  get isWatching(): boolean {
    return this.#byTask.size > 0;
  }

  /** True while anybody follows this task. */
  isFollowed(taskId: string): boolean {
    return this.#byTask.has(taskId);
  }

  open(taskId: string): Latch {
    const latch = new OneLatch(taskId, this);
    const latches = this.#byTask.get(taskId);
    if (latches) latches.push(latch);
    else this.#byTask.set(taskId, [latch]);
    return latch;
  }

  /** Forgets a latch. */
  close(latch: OneLatch): void {
    const latches = this.#byTask.get(latch.taskId);
    const place = latches?.indexOf(latch) ?? -1;
    if (!latches || place < 0) return;
    if (latches.length === 1) this.#byTask.delete(latch.taskId);
    else latches.splice(place, 1);
  }

  /** The log of a task is said to reach `seq`. */
  set(taskId: string, seq: number): void {
    for (const latch of this.#byTask.get(taskId) ?? []) latch.set(seq);
  }

  /** Anything may have happened. */
  setAll(): void {
    for (const latches of this.#byTask.values()) for (const latch of latches) latch.set(Number.POSITIVE_INFINITY);
  }

  watched(): Watched[] {
    return [...this.#byTask].map(([taskId, latches]) => ({ taskId, seq: Math.min(...latches.map((latch) => latch.cursor)) }));
  }
}

class OneLatch implements Latch {
  readonly taskId: string;
  cursor = 0;
  #isSet = false;
  #wakeUp: (() => void) | undefined;
  readonly #owner: Latches;

  constructor(taskId: string, owner: Latches) {
    this.taskId = taskId;
    this.#owner = owner;
  }

  clear(cursor: number): void {
    this.cursor = cursor;
    this.#isSet = false;
  }

  set(seq: number): void {
    if (seq <= this.cursor) return;
    this.#isSet = true;
    this.#wakeUp?.();
  }

  next(signal: Signal): Promise<void> {
    if (this.#isSet || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#wakeUp = undefined;
        resolve();
      };
      this.#wakeUp = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }

  [Symbol.dispose](): void {
    this.#wakeUp?.();
    this.#owner.close(this);
  }
}
