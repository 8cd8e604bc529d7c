import type { Signal } from '../ground/signal.ts';
import type { Scope } from '../log/entry.ts';
import type { Cursor } from '../log/follow.ts';
import type { TaskRow } from '../log/store.ts';
import { taskNotFound, unsupportedOperation } from '../protocol/errors.ts';
import { isTerminal } from '../protocol/states.ts';
import type { SubscribeToTaskRequest, Task } from '../protocol/types.ts';
import { toStreamItem } from './answers.ts';
import type { Call, StreamItem } from './call.ts';
import { checkStreaming } from './gate.ts';
import { type SharedParts, scopeOf } from './parts.ts';
import { watch } from './watch.ts';

/**
 * SubscribeToTask: the task as it stands, then every entry above it, until the task has ended (SUB-05, SUB-06). With a valid Last-Event-ID
 * it continues an earlier stream: no snapshot, the entries above the cursor, also when the task has ended meanwhile (AMB-03).
 */
export async function subscribeToTask(parts: SharedParts, call: Call, request: SubscribeToTaskRequest): Promise<AsyncIterable<StreamItem>> {
  checkStreaming(parts);
  const open = parts.calls.open(call);
  try {
    const start = await startOf(parts, { taskId: request.id, scope: scopeOf(parts, call), cursor: cursorOf(call.lastEventId) });
    return open.carry(taskItems(parts, start, open.signal));
  } catch (error) {
    open[Symbol.dispose]();
    throw error;
  }
}

/** Where a subscription begins. */
interface Start {
  readonly contextId: string;
  readonly from: Cursor;
  /** Absent for a continuation. */
  readonly task?: Task;
}

interface Wish {
  readonly taskId: string;
  readonly scope: Scope;
  readonly cursor: number | undefined;
}

async function startOf({ log }: SharedParts, { taskId, scope, cursor }: Wish): Promise<Start> {
  if (cursor !== undefined) {
    const row = await log.row(taskId, scope);
    if (row === undefined) throw taskNotFound(taskId);
    // a cursor above the log is of no log of ours: as if none had come
    if (cursor <= row.seq) {
      if (cursor === row.seq) refuseEnded(row);
      return { contextId: row.contextId, from: { taskId, after: cursor } };
    }
  }
  const snapshot = await log.read(taskId, scope);
  if (snapshot === undefined) throw taskNotFound(taskId);
  const { row, task } = snapshot;
  refuseEnded(row); // on the read that gave the snapshot and its seq, so there is no moment between them (AMB-02)
  return { contextId: row.contextId, from: { taskId, after: row.seq }, task };
}

/** SUB-03: there is nothing to follow. The client fetches the end with GetTask. */
function refuseEnded({ id, state }: TaskRow): void {
  if (isTerminal(state)) throw unsupportedOperation(`The task has ended (${state}): read it with GetTask.`, { taskId: id, state });
}

/** Digits, small enough to be a number of ours; anything else is as no header. */
function cursorOf(lastEventId: string | undefined): number | undefined {
  return lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
}

async function* taskItems(parts: SharedParts, { contextId, from, task }: Start, signal: Signal): AsyncGenerator<StreamItem> {
  if (task !== undefined) yield { seq: from.after, item: { task } };
  for await (const entries of watch(parts, from, signal)) {
    for (const entry of entries) {
      const item = toStreamItem(entry, contextId);
      if (item !== undefined) yield item;
    }
  }
}
