import { isInterrupted, isTerminal } from '../protocol/states.ts';
import type { Task, TaskState } from '../protocol/types.ts';
import { TaskFold } from './fold.ts';
import type { TaskRow } from './store.ts';
import type { Tail } from './tail.ts';

/** Bytes of folds a replica keeps. */
const FOLDS_BYTES_MAX = 64 * 1_048_576;

// What a fold costs beside the bodies in it: 2 KB were measured for a task of one question and one answer, whose bodies are 400 bytes. Without
// it a cache full of small tasks took 20 times its limit (case 100).
const FOLD_BYTES = 2_048;

// A short log that rests, ended or paused, is folded anew faster than its place is worth: most tasks are read once more, when they come to
// rest, and a task that waits for its user for a month costs its rows and nothing else (case 100).
const SHORT_BYTES = 16_384;

/** A bounded cache of folds "task up to seq": a later read folds only what is new. */
export class Folds {
  readonly #tail: Tail;
  readonly #bytesMax: number;
  readonly #byTask = new Map<string, { readonly fold: TaskFold; bytes: number }>();
  #bytes = 0;

  constructor(tail: Tail, bytesMax: number = FOLDS_BYTES_MAX) {
    this.#tail = tail;
    this.#bytesMax = bytesMax;
  }

  /** Up to where the task is folded here: what a read may leave out. */
  reach(taskId: string): number {
    return this.#byTask.get(taskId)?.fold.seq ?? 0;
  }

  /**
   * The task exactly as of `seq`, never later: an answer must not show what was committed after it (P2, case 35). Undefined when the task
   * was purged meanwhile.
   */
  async foldTo({ id, contextId }: Pick<TaskRow, 'id' | 'contextId'>, seq: number): Promise<Task | undefined> {
    let fold = this.#cached(id, seq) ?? new TaskFold(id, contextId);
    while (fold.seq < seq) {
      const { entries, isGone } = await this.#tail.read(id, fold.seq);
      if (isGone || entries.length === 0) return undefined;
      // another reader may have moved the shared fold past us during the read: then start over with one of our own
      if (fold.seq > seq) fold = new TaskFold(id, contextId);
      for (const entry of entries) if (entry.seq === fold.seq + 1 && entry.seq <= seq) fold.apply(entry);
    }
    const task = fold.task();
    if (task && isAtRest(task.status.state) && fold.bytes < SHORT_BYTES) this.#drop(id);
    else this.#keep(fold);
    return task;
  }

  /** The log that is known under this id was purged. */
  forget(taskId: string): void {
    this.#drop(taskId);
  }

  /**
   * A key that outlives its purged task begins the log anew under the same id. Nothing follows the end of a log (P3) and none shrinks: one
   * that does is another one.
   */
  forgetAnother({ id, seq }: Pick<TaskRow, 'id' | 'seq'>): void {
    const fold = this.#byTask.get(id)?.fold;
    if (fold && (seq < fold.seq || (seq > fold.seq && fold.isEnded))) this.#drop(id);
  }

  #cached(taskId: string, seq: number): TaskFold | undefined {
    const fold = this.#byTask.get(taskId)?.fold;
    return fold && fold.seq <= seq ? fold : undefined;
  }

  #drop(taskId: string): void {
    this.#bytes -= this.#byTask.get(taskId)?.bytes ?? 0;
    this.#byTask.delete(taskId);
    this.#tail.forget(taskId);
  }

  #keep(fold: TaskFold): void {
    const known = this.#byTask.get(fold.id);
    if (known && known.fold.seq > fold.seq) return;
    if (known) this.#bytes -= known.bytes;
    this.#byTask.delete(fold.id);
    const bytes = FOLD_BYTES + fold.bytes;
    this.#byTask.set(fold.id, { fold, bytes });
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) this.#shrink();
  }

  #shrink(): void {
    for (const [taskId, oldest] of this.#byTask) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#bytes -= oldest.bytes;
      this.#byTask.delete(taskId);
    }
  }
}

function isAtRest(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}
