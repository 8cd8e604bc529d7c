import type { Signal } from '../ground/signal.ts';
import { backoffMs } from '../ground/backoff.ts';
import { sleep } from '../ground/clock.ts';
import type { Entry } from '../log/entry.ts';
import type { Cursor, Follower, FollowItem } from '../log/follow.ts';
import { taskNotFound } from '../protocol/errors.ts';
import type { OperationParts } from './parts.ts';
import { isPassing } from './trouble.ts';

/** How long a follower waits for a store that does not answer before it gives up. */
export const READ_PATIENCE_MS = 30_000;
const READ_BACKOFF = { firstMs: 50, mostMs: 2_000 };

type Watched = IteratorResult<readonly Entry[], undefined>;
type WatchParts = Pick<OperationParts, 'log' | 'clock' | 'random'>;

const finished: Watched = { done: true, value: undefined };

/**
 * Follows a task from a cursor on for one call. A store that is away for a while costs its readers time, not their stream: the cursor
 * stands, so nothing is missed. Ends after the terminal entry or when the signal fires; a purge is TaskNotFound, never a bare end.
 */
export function watch(parts: WatchParts, from: Cursor, signal: Signal): AsyncIterableIterator<readonly Entry[], undefined> {
  return new Watcher(parts, from, signal);
}

class Watcher implements AsyncIterableIterator<readonly Entry[], undefined> {
  readonly #parts: WatchParts;
  readonly #taskId: string;
  readonly #signal: Signal;
  #after: number;
  #follower: Follower;
  #failures = 0;
  #failingSince = 0;

  constructor(parts: WatchParts, from: Cursor, signal: Signal) {
    this.#parts = parts;
    this.#taskId = from.taskId;
    this.#after = from.after;
    this.#signal = signal;
    this.#follower = parts.log.follow(from, signal);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** No async function: while a stream is quiet, each of those that wait for it costs half a kilobyte. */
  next(): Promise<Watched> {
    return this.#signal.aborted ? this.return() : this.#follower.next().then(this.#onItem, this.#onTrouble);
  }

  async return(): Promise<Watched> {
    await this.#follower.return();
    return finished;
  }

  readonly #onItem = ({ value: item }: IteratorResult<FollowItem, undefined>): Watched => {
    if (!item) return finished;
    if (item.kind === 'gone') throw taskNotFound(this.#taskId);
    this.#failures = 0;
    this.#after = item.entries.at(-1)?.seq ?? this.#after;
    return { done: false, value: item.entries };
  };

  /** Throws what will not pass, or has not for too long; else a follower of the same cursor goes on after a while. */
  readonly #onTrouble = async (error: unknown): Promise<Watched> => {
    const { log, clock, random } = this.#parts;
    if (!isPassing(error)) throw error;
    if (this.#failures === 0) this.#failingSince = clock.monotonic();
    else if (clock.monotonic() - this.#failingSince > READ_PATIENCE_MS) throw error;
    await sleep(clock, backoffMs(READ_BACKOFF, this.#failures, random), this.#signal);
    this.#failures += 1;
    this.#follower = log.follow({ taskId: this.#taskId, after: this.#after }, this.#signal);
    return this.next();
  };
}
