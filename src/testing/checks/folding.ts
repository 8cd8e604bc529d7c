import { TaskFold } from '../../log/fold.ts';
import type { Task } from '../../protocol/types.ts';
import type { StoredTask } from './check.ts';
import { canonical } from './check.ts';

/** The task as of one entry. */
export function foldTo({ row, entries }: StoredTask, seq: number): Task | undefined {
  const fold = new TaskFold(row.id, row.contextId);
  for (const entry of entries.slice(0, seq)) fold.apply(entry);
  return fold.task();
}

// what a task came to is compared with every observer's view of it: a long log is folded and printed once
const ends = new WeakMap<StoredTask, string>();

/** The whole task as text that can be compared. */
export function wholeText(task: StoredTask): string {
  const known = ends.get(task);
  if (known !== undefined) return known;
  const text = canonical(foldTo(task, task.row.seq));
  ends.set(task, text);
  return text;
}

/** The newest messages, as many as were asked for (HIST-01 to HIST-05). */
export function shortened(task: Task | undefined, historyLength: number | undefined): Task | undefined {
  if (!task || historyLength === undefined) return task;
  const { history = [], ...rest } = task;
  const kept = historyLength === 0 ? [] : history.slice(-historyLength);
  return { ...rest, ...(kept.length > 0 ? { history: kept } : {}) };
}
