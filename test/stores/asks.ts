import type { EntryRow } from '../../src/log/entry.ts';
import type { AcceptAsk, Store, TaskRow } from '../../src/log/store.ts';
import { limits, scope } from '../../src/testing/store-suite/bench.ts';

/** A message that opens a task of this id. */
export function acceptAsk(taskId: string, over: Partial<AcceptAsk> = {}): AcceptAsk {
  const body = JSON.stringify({ message: { messageId: taskId }, caller: {} });
  const message = { taskId, isNew: true, contextId: 'context', key: 'key', digest: 'digest', body };
  return { ...message, scope, replica: 'A', canStart: true, whileWorking: 'refuse', limits, ...over };
}

/** A task's row and its whole log. */
export async function logOf(store: Store, taskId: string): Promise<{ readonly row: TaskRow; readonly log: readonly EntryRow[] }> {
  const log: EntryRow[] = [];
  for (;;) {
    const found = await store.read({ taskId, after: log.length });
    if (found === undefined) throw new Error(`no task ${taskId}`);
    log.push(...found.rows);
    if (log.length >= found.row.seq) return { row: found.row, log };
  }
}
