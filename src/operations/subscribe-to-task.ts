import type { Scope } from '../log/entry.ts';
import type { TaskRow } from '../log/store.ts';
import { taskNotFound, unsupportedOperation } from '../protocol/errors.ts';
import { isTerminal } from '../protocol/states.ts';
import type { SubscribeToTaskRequest } from '../protocol/types.ts';
import type { Call, StreamItem } from './call.ts';
import { checkStreaming } from './gate.ts';
import { type SharedParts, scopeOf } from './parts.ts';
import type { StreamStart } from './stream-items.ts';
import { everything, StreamItems } from './stream-items.ts';

/**
 * SubscribeToTask: the task as it stands, then every entry above it, until the task has ended (SUB-05, SUB-06). With a valid Last-Event-ID
 * it continues an earlier stream: no snapshot, the entries above the cursor, also when the task has ended meanwhile (AMB-03).
 */
export async function subscribeToTask(parts: SharedParts, call: Call, request: SubscribeToTaskRequest): Promise<AsyncIterable<StreamItem>> {
  checkStreaming(parts);
  const open = parts.calls.open(call);
  try {
    const start = await startOf(parts, { taskId: request.id, scope: scopeOf(parts, call), cursor: cursorOf(call.lastEventId) });
    return new StreamItems(parts, open, start);
  } catch (error) {
    open[Symbol.dispose]();
    throw error;
  }
}

interface Wish {
  readonly taskId: string;
  readonly scope: Scope;
  readonly cursor: number | undefined;
}

async function startOf({ log }: SharedParts, { taskId, scope, cursor }: Wish): Promise<StreamStart> {
  if (cursor !== undefined) {
    const row = await log.row(taskId, scope);
    if (row === undefined) throw taskNotFound(taskId);
    // a cursor above the log is of no log of ours: as if none had come
    if (cursor <= row.seq) {
      if (cursor === row.seq) refuseEnded(row);
      return { log: { contextId: row.contextId, from: { taskId, after: cursor }, course: everything } };
    }
  }
  const snapshot = await log.read(taskId, scope);
  if (snapshot === undefined) throw taskNotFound(taskId);
  const { row, task } = snapshot;
  refuseEnded(row); // on the read that gave the snapshot and its seq, so there is no moment between them (AMB-02)
  const { contextId, seq } = row;
  return { first: { seq, item: { task } }, log: { contextId, from: { taskId, after: seq }, course: everything } };
}

/** SUB-03: there is nothing to follow. The client fetches the end with GetTask. */
function refuseEnded({ id, state }: TaskRow): void {
  if (isTerminal(state)) throw unsupportedOperation(`The task has ended (${state}): read it with GetTask.`, { taskId: id, state });
}

/** Digits, small enough to be a number of ours; anything else is as no header. */
function cursorOf(lastEventId: string | undefined): number | undefined {
  return lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
}
