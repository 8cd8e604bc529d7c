import { Deferred } from '../ground/deferred.ts';
import { settled } from '../ground/settled.ts';
import type { Entry, EntryRow } from './entry.ts';
import { parseEntry } from './parse.ts';
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, type EntriesOfTask, type Store } from './store.ts';

/** What a read of a tail gives: the next entries (perhaps none), or that the task is no longer there. */
export interface TailBatch {
  readonly entries: readonly Entry[];
  readonly isGone: boolean;
}

/** What one or more followers wait for: the entries of a task above `after`. */
interface Want {
  readonly taskId: string;
  readonly after: number;
  readonly batch: Deferred<TailBatch>;
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
  /** By task, nearly always one of each: followers of a task mostly stand at the same entry. */
  readonly #wants = new Map<string, Want[]>();
  #isReading = false;

  constructor(store: Store, recentBytesMax: number = RECENT_BYTES_MAX) {
    this.#store = store;
    this.#recent = new RecentEntries(recentBytesMax);
  }

  /** Entries above `after`, at most BATCH_ENTRIES_MAX and about BATCH_BYTES_MAX; none if the log does not reach further. */
  read(taskId: string, after: number): Promise<TailBatch> {
    const recent = this.#recent.above(taskId, after);
    if (recent) return Promise.resolve({ entries: recent, isGone: false });
    const wants = this.#wants.get(taskId);
    const known = wants?.find((want) => want.after === after);
    if (known) return known.batch.promise;
    const want: Want = { taskId, after, batch: new Deferred() };
    if (wants) wants.push(want);
    else this.#wants.set(taskId, [want]);
    if (!this.#isReading) {
      this.#isReading = true;
      void settled.then(() => this.#readAll()); // lets the followers that woke together ask together
    }
    return want.batch.promise;
  }

  /** Rows that came by another way than a read of the tail, from a task's read or an own commit, are kept like any others. */
  offer(taskId: string, rows: readonly EntryRow[]): void {
    if (rows.length > 0)
      this.#recent.add(
        taskId,
        rows.map((row) => parseEntry(taskId, row)),
      );
  }

  /** Nobody is expected to ask for the entries of this task soon: a log that rests and has been folded. */
  forget(taskId: string): void {
    this.#recent.drop(taskId);
  }

  /** Reads until nobody wants anything; every failure goes to those who asked. */
  async #readAll(): Promise<void> {
    while (this.#wants.size > 0) {
      const wants = this.#takeWants();
      try {
        const answers = await this.#store.entries({ wants, entriesMax: BATCH_ENTRIES_MAX, bytesMax: BATCH_BYTES_MAX });
        for (let index = 0; index < wants.length; index++) this.#answer(wants[index], answers[index]);
      } catch (error) {
        for (const want of wants) want.batch.reject(error);
      }
    }
    this.#isReading = false;
  }

  /** Out of the map before the read: whoever asks during it may know of a newer commit and needs a read of its own. */
  #takeWants(): readonly Want[] {
    const taken: Want[] = [];
    for (const [taskId, wants] of this.#wants) {
      if (taken.length >= BATCH_ENTRIES_MAX) break;
      for (const want of wants) taken.push(want);
      this.#wants.delete(taskId);
    }
    return taken;
  }

  #answer(want: Want | undefined, answer: EntriesOfTask | undefined): void {
    if (!want) return;
    if (!answer) {
      // no room for it in this read: it goes with the next one, together with whoever has asked the same meanwhile
      want.batch.resolve(this.read(want.taskId, want.after));
      return;
    }
    const { taskId } = want;
    const entries = answer.rows.map((row) => parseEntry(taskId, row));
    this.#recent.add(taskId, entries);
    want.batch.resolve({ entries, isGone: answer.isGone });
  }
}

interface Kept {
  readonly entries: Entry[];
  bytes: number;
}

/** The newest stretch of some logs, least recently used first out. */
class RecentEntries {
  readonly #bytesMax: number;
  readonly #byTask = new Map<string, Kept>();
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
    const [first] = entries;
    const last = entries.at(-1);
    if (!first || !last) return;
    const known = this.#byTask.get(taskId);
    const knownTo = known?.entries.at(-1)?.seq ?? 0;
    const isNext = knownTo === first.seq - 1;
    if (!isNext && knownTo >= last.seq) return; // nothing newer than what is kept
    if (known) this.#remove(taskId, known); // it comes back at the end: the least recently used stand in front
    const kept = known && isNext ? known : { entries: [], bytes: 0 };
    for (const entry of entries) {
      kept.entries.push(entry);
      kept.bytes += entry.bytes + ENTRY_BYTES;
    }
    trim(kept);
    this.#byTask.set(taskId, kept);
    this.#bytes += kept.bytes;
    if (this.#bytes > this.#bytesMax) this.#shrink();
  }

  drop(taskId: string): void {
    const kept = this.#byTask.get(taskId);
    if (kept) this.#remove(taskId, kept);
  }

  #remove(taskId: string, { bytes }: Kept): void {
    this.#byTask.delete(taskId);
    this.#bytes -= bytes;
  }

  #shrink(): void {
    for (const [taskId, oldest] of this.#byTask) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#remove(taskId, oldest);
    }
  }
}

/** One long log keeps its newest stretch only; it is cut by half so that the cut is paid once in many additions. */
function trim(kept: Kept): void {
  if (kept.entries.length <= 4 * BATCH_ENTRIES_MAX && kept.bytes <= 4 * BATCH_BYTES_MAX) return;
  const dropped = kept.entries.splice(0, Math.ceil(kept.entries.length / 2));
  for (const entry of dropped) kept.bytes -= entry.bytes + ENTRY_BYTES;
}
