import { TaskFold } from '../../log/fold.ts';
import type { Task } from '../../protocol/types.ts';
import type { StoredTask } from './check.ts';

/** The task as of one entry. */
export function foldTo({ row, entries }: StoredTask, seq: number): Task | undefined {
  const fold = new TaskFold(row.id, row.contextId);
  for (const entry of entries.slice(0, seq)) fold.apply(entry);
  return fold.task();
}

/** The newest messages, as many as were asked for (HIST-01 to HIST-05). */
export function shortened(task: Task | undefined, historyLength: number | undefined): Task | undefined {
  if (!task || historyLength === undefined) return task;
  const { history = [], ...rest } = task;
  const kept = historyLength === 0 ? [] : history.slice(-historyLength);
  return { ...rest, ...(kept.length > 0 ? { history: kept } : {}) };
}
