import type { Entry } from '../log/entry.ts';
import type { TaskLog } from '../log/task-log.ts';
import { taskNotFound } from '../protocol/errors.ts';
import type { Task } from '../protocol/types.ts';
import type { StreamItem } from './call.ts';

/** The task with no more history than asked for, from the newest end; 0 leaves the member out (HIST-01 to HIST-05). */
export function withHistory(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined || task.history === undefined || task.history.length <= historyLength) return task;
  const { history, ...rest } = task;
  return historyLength === 0 ? rest : { ...rest, history: history.slice(-historyLength) };
}

/** The task as of `seq`, for an answer that a commit has decided; a task that was purged since is not there any more (GET-06). */
export async function taskAsOf(log: TaskLog, row: { readonly id: string; readonly contextId: string }, seq: number): Promise<Task> {
  const task = await log.foldTo(row, seq);
  if (task === undefined) throw taskNotFound(row.id);
  return task;
}

/**
 * An entry as observers see it. Messages of users are never on a stream, for there a `message` means "direct answer" (STRM-03, AMB-35);
 * so the ids on the wire rise with holes.
 */
export function toStreamItem(entry: Entry, contextId: string): StreamItem | undefined {
  const known = made.get(entry);
  if (known !== undefined) return known;
  const item = makeItem(entry, contextId);
  if (item !== undefined) made.set(entry, item);
  return item;
}

// the followers of a task share its entries, so they share the items too, and whoever prints one prints it for all
const made = new WeakMap<Entry, StreamItem>();

function makeItem(entry: Entry, contextId: string): StreamItem | undefined {
  const { taskId, seq } = entry;
  if (entry.kind === 'status') {
    const { state, message, metadata, at } = entry;
    const status = { state, ...(message ? { message } : {}), timestamp: new Date(at).toISOString() };
    return { seq, item: { statusUpdate: { taskId, contextId, status, ...(metadata ? { metadata } : {}) } } };
  }
  if (entry.kind === 'artifact') {
    const { artifact, append, lastChunk, metadata } = entry;
    const marks = { ...(append ? { append } : {}), ...(lastChunk ? { lastChunk } : {}) };
    return { seq, item: { artifactUpdate: { taskId, contextId, artifact, ...marks, ...(metadata ? { metadata } : {}) } } };
  }
  return undefined;
}
