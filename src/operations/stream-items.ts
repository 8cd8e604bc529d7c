import type { Entry } from '../log/entry.ts';
import type { Cursor } from '../log/follow.ts';
import { toStreamItem } from './answers.ts';
import type { StreamItem } from './call.ts';
import type { OpenCall } from './open-calls.ts';
import type { SharedParts } from './parts.ts';
import { watch } from './watch.ts';

/** Which entries of a log are on a stream, and which is its last. It is shown each entry once, in order. */
export interface Course {
  isShown(entry: Entry): boolean;
  /** Asked after `isShown`. */
  isLast(entry: Entry): boolean;
}

/** What a stream carries: an item at its beginning, the entries of a log, or both. */
export interface StreamStart {
  /** The task as it stands, or a direct answer; absent for a continuation. */
  readonly first?: StreamItem;
  /** Absent when nothing follows. */
  readonly log?: Followed;
}

/** The part of a log that a stream follows. */
export interface Followed {
  readonly contextId: string;
  readonly from: Cursor;
  readonly course: Course;
}

type Streamed = IteratorResult<StreamItem, undefined>;

const finished: Streamed = { done: true, value: undefined };
const none: readonly Entry[] = [];

/** Every entry, until the log ends by itself. */
export const everything: Course = { isShown: () => true, isLast: () => false };

/**
 * The items of one stream; keeps its call open for as long as they are read. Written out and not as a generator, because thousands of quiet
 * ones are open at once: a generator that waits costs a kilobyte, and holds the last batch of entries that it has given (P11).
 */
export class StreamItems implements AsyncIterableIterator<StreamItem, undefined> {
  readonly #open: OpenCall;
  readonly #log: Followed | undefined;
  readonly #watched: AsyncIterator<readonly Entry[], undefined> | undefined;
  #first: StreamItem | undefined;
  #entries = none;
  #next = 0;
  #isOver = false;

  constructor(parts: SharedParts, open: OpenCall, { first, log }: StreamStart) {
    this.#open = open;
    this.#log = log;
    this.#watched = log && watch(parts, log.from, open.signal);
    this.#first = first;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Streamed> {
    if (this.#isOver || this.#open.reason === 'gone') return this.#end();
    const item = this.#takeFirst() ?? this.#take();
    if (item) return Promise.resolve({ done: false, value: item });
    // handed on, not awaited: a function that waits costs a quiet stream half a kilobyte
    return this.#isOver || !this.#watched ? this.#end() : this.#watched.next().then(this.#onRead, this.#onError);
  }

  async return(): Promise<Streamed> {
    this.#open.stop('gone'); // a `next` may be waiting for the log: it must not hold up the one who leaves
    return this.#end();
  }

  #takeFirst(): StreamItem | undefined {
    const first = this.#first;
    this.#first = undefined;
    return first;
  }

  /** The next item among the entries that were read; the stream is over with the last one. */
  #take(): StreamItem | undefined {
    const { course = everything, contextId = '' } = this.#log ?? {};
    for (let entry = this.#entries[this.#next]; entry; entry = this.#entries[this.#next]) {
      this.#next += 1;
      const isShown = course.isShown(entry);
      this.#isOver = course.isLast(entry);
      const item = isShown ? toStreamItem(entry, contextId) : undefined;
      if (item || this.#isOver) return item;
    }
    this.#entries = none; // a quiet stream keeps nothing of what it has given
    this.#next = 0;
    return undefined;
  }

  readonly #onRead = ({ value: entries }: IteratorResult<readonly Entry[], undefined>): Promise<Streamed> => {
    if (!entries) return this.#end();
    this.#entries = entries;
    return this.next();
  };

  readonly #onError = (error: unknown): never => {
    this.#open[Symbol.dispose]();
    throw error;
  };

  async #end(): Promise<Streamed> {
    this.#isOver = true;
    this.#entries = none;
    this.#open[Symbol.dispose]();
    await this.#watched?.return?.();
    return finished;
  }
}
