import { settled } from '../ground/settled.ts';
import type { Entry, EntryRow } from './entry.ts';
import { parseEntry } from './parse.ts';
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, type EntriesOfTask, type Store } from './store.ts';

/** What a read of a tail gives: the next entries (perhaps none), or that the task is no longer there. */
export interface TailBatch {
  readonly entries: readonly Entry[];
  readonly isGone: boolean;
}

interface Want {
  readonly taskId: string;
  readonly after: number;
  readonly promise: Promise<TailBatch>;
  readonly resolve: (batch: TailBatch) => void;
  readonly reject: (error: unknown) => void;
}

/** Bytes of recent entries a replica keeps for its followers. */
const RECENT_BYTES_MAX = 16 * 1_048_576;

/** What an entry costs beside its body: small ones must not look free (P11). */
const ENTRY_BYTES = 512;

/**
 * The shared read of all followers of a replica: what they want while one read is under way goes together into the next one, equal wants
 * are one want, and what was just read is kept for the follower that comes a moment later.
 */
export class Tail {
  readonly #store: Store;
  readonly #recent: RecentEntries;
  #wants = new Map<string, Want>();
  #isReading = false;

  constructor(store: Store, recentBytesMax: number = RECENT_BYTES_MAX) {
    this.#store = store;
    this.#recent = new RecentEntries(recentBytesMax);
  }

  /** Entries above `after`, at most BATCH_ENTRIES_MAX and about BATCH_BYTES_MAX; none if the log does not reach further. */
  read(taskId: string, after: number): Promise<TailBatch> {
    const recent = this.#recent.above(taskId, after);
    if (recent) return Promise.resolve({ entries: recent, isGone: false });
    const name = `${after}:${taskId}`;
    const known = this.#wants.get(name);
    if (known) return known.promise;
    const { promise, resolve, reject } = withResolvers<TailBatch>();
    this.#wants.set(name, { taskId, after, promise, resolve, reject });
    if (!this.#isReading) {
      this.#isReading = true;
      void settled.then(() => this.#readAll()); // lets the followers that woke together ask together
    }
    return promise;
  }

  /** Rows that were read together with the task's row are kept like any others. */
  offer(taskId: string, rows: readonly EntryRow[]): void {
    this.#recent.add(
      taskId,
      rows.map((row) => parseEntry(taskId, row)),
    );
  }

  /** Reads until nobody wants anything; every failure goes to those who asked. */
  async #readAll(): Promise<void> {
    while (this.#wants.size > 0) {
      const wants = [...this.#wants.values()].slice(0, BATCH_ENTRIES_MAX);
      // out of the map before the read: whoever asks during it may know of a newer commit and needs a read of its own
      for (const want of wants) this.#wants.delete(`${want.after}:${want.taskId}`);
      try {
        const answers = await this.#store.entries({ wants, entriesMax: BATCH_ENTRIES_MAX, bytesMax: BATCH_BYTES_MAX });
        wants.forEach((want, index) => this.#answer(want, answers[index]));
      } catch (error) {
        for (const want of wants) want.reject(error);
      }
    }
    this.#isReading = false;
  }

  #answer(want: Want, answer: EntriesOfTask | undefined): void {
    if (!answer) {
      // no room for it in this read: it goes with the next one, together with whoever has asked the same meanwhile
      this.read(want.taskId, want.after).then(want.resolve, want.reject);
      return;
    }
    const entries = answer.rows.map((row) => parseEntry(want.taskId, row));
    this.#recent.add(want.taskId, entries);
    want.resolve({ entries, isGone: answer.isGone });
  }
}

/** The newest stretch of some logs, least recently used first out. */
class RecentEntries {
  readonly #bytesMax: number;
  readonly #byTask = new Map<string, { entries: Entry[]; bytes: number }>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Undefined when it cannot tell: the store has to. Never an empty list, for the log may have grown. */
  above(taskId: string, after: number): readonly Entry[] | undefined {
    const entries = this.#byTask.get(taskId)?.entries;
    const first = entries?.[0];
    const last = entries?.at(-1);
    if (!entries || !first || !last || after + 1 < first.seq || after >= last.seq) return undefined;
    const from = after + 1 - first.seq;
    let bytes = 0;
    let to = from;
    while (to < entries.length && to - from < BATCH_ENTRIES_MAX && (to === from || bytes < BATCH_BYTES_MAX))
      bytes += entries[to++]?.bytes ?? 0;
    return entries.slice(from, to);
  }

  add(taskId: string, entries: readonly Entry[]): void {
    const first = entries[0];
    if (!first) return;
    const known = this.#byTask.get(taskId);
    const isNext = known?.entries.at(-1)?.seq === first.seq - 1;
    if (known && !isNext && (known.entries.at(-1)?.seq ?? 0) >= (entries.at(-1)?.seq ?? 0)) return; // nothing newer than what is kept
    const kept = known && isNext ? known : { entries: [], bytes: 0 };
    if (known && !isNext) this.#bytes -= known.bytes;
    for (const entry of entries) {
      kept.entries.push(entry);
      const bytes = entry.bytes + ENTRY_BYTES;
      kept.bytes += bytes;
      this.#bytes += bytes;
    }
    this.#trim(kept);
    this.#byTask.delete(taskId);
    this.#byTask.set(taskId, kept);
    for (const [id, old] of this.#byTask) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#bytes -= old.bytes;
      this.#byTask.delete(id);
    }
  }

  /** One long log keeps its newest stretch only; it is cut by half so that the cut is paid once in many additions. */
  #trim(kept: { entries: Entry[]; bytes: number }): void {
    if (kept.entries.length <= 4 * BATCH_ENTRIES_MAX && kept.bytes <= 4 * BATCH_BYTES_MAX) return;
    const dropped = kept.entries.splice(0, Math.ceil(kept.entries.length / 2));
    const bytes = dropped.reduce((sum, entry) => sum + entry.bytes + ENTRY_BYTES, 0);
    kept.bytes -= bytes;
    this.#bytes -= bytes;
  }
}

// Promise.withResolvers came with Node 22
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((ok, fail) => {
    resolve = ok;
    reject = fail;
  });
  return { promise, resolve, reject };
}
