import type { Signal } from '../ground/signal.ts';
import { isTerminal } from '../protocol/states.ts';
import type { Entry } from './entry.ts';
import type { Latch, Latches } from './latches.ts';
import type { Tail, TailBatch } from './tail.ts';

/** The log ends here: nothing follows a terminal status (P3). */
export function isSettled(entry: Entry): boolean {
  return entry.kind === 'status' && isTerminal(entry.state);
}

/** Where a follower stands: it wants what is above `after`. */
export interface Cursor {
  readonly taskId: string;
  readonly after: number;
}

/** What a follower gets: batches of entries, and once, at the end, that the task was purged. */
export type FollowItem = { readonly kind: 'entries'; readonly entries: readonly Entry[] } | { readonly kind: 'gone' };

/** What followers read and wait by. */
export interface FollowParts {
  readonly tail: Tail;
  readonly latches: Latches;
  readonly signal: Signal;
}

type Followed = IteratorResult<FollowItem, undefined>;

const finished: Followed = { done: true, value: undefined };

/**
 * Reads a log from a cursor on, batch by batch, waits for more, ends after the terminal entry, when the task is gone, or when the signal
 * fires. There is no queue: the cursor is the queue, so a slow consumer costs nothing (P11). Errors of the store reach the consumer. Written
 * out and not as a generator: every blocked call has one, and it is half the price.
 */
export class Follower implements AsyncIterableIterator<FollowItem, undefined> {
  readonly #parts: FollowParts;
  readonly #taskId: string;
  #after: number;
  #hint: Latch | undefined;
  #isOver = false;

  constructor({ taskId, after }: Cursor, parts: FollowParts) {
    this.#parts = parts;
    this.#taskId = taskId;
    this.#after = after;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Followed> {
    const { tail, latches, signal } = this.#parts;
    try {
      while (!this.#isOver && !signal.aborted) {
        this.#hint ??= latches.open(this.#taskId); // registered before the first read
        this.#hint.clear(this.#after); // before the read: a wake during it is kept
        const batch = await tail.read(this.#taskId, this.#after); // shared with the replica's other followers
        // `return` may have ended us during the read
        if (!this.#isOver && !signal.aborted) {
          const item = this.#take(batch);
          if (item) return { done: false, value: item };
          await this.#hint.next(signal);
        }
      }
    } catch (error) {
      this.#end();
      throw error;
    }
    return this.#end();
  }

  async return(): Promise<Followed> {
    return this.#end();
  }

  #take({ entries, isGone }: TailBatch): FollowItem | undefined {
    if (isGone) {
      this.#end();
      return { kind: 'gone' };
    }
    const last = entries.at(-1);
    if (!last) return undefined;
    this.#after = last.seq;
    if (isSettled(last)) this.#end();
    return { kind: 'entries', entries };
  }

  #end(): Followed {
    this.#isOver = true;
    this.#hint?.[Symbol.dispose]();
    this.#hint = undefined;
    return finished;
  }
}
