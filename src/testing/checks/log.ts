import type { Entry } from '../../log/entry.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { StoredTask, Violation } from './check.ts';
import type { Evidence } from './check.ts';

/** P1: 1, 2, 3 … and time that never runs backwards: nothing is older than the status that it follows, whatever the clocks did. */
export function* denseLogs({ stored }: Evidence): Generator<Violation> {
  for (const [taskId, { row, entries }] of stored) {
    const wrong = entries.findIndex((entry, index) => entry.seq !== index + 1);
    if (wrong !== -1) yield { promise: 'P1', taskId, says: `entry ${wrong + 1} of the log has seq ${entries[wrong]?.seq}` };
    if (row.seq !== entries.length)
      yield { promise: 'P1', taskId, says: `the row knows ${row.seq} entries, the log has ${entries.length}` };
    const back = entries.findIndex((entry) => entry.at < statusTimeBefore(entry, entries));
    if (back !== -1) yield { promise: 'P1', taskId, says: `time runs backwards at entry ${back + 1}` };
  }
}

function statusTimeBefore({ seq }: Entry, entries: readonly Entry[]): number {
  return entries.findLast((entry) => entry.seq < seq && entry.kind === 'status')?.at ?? 0;
}

/** P3: at most one terminal status, nothing after it, and the row says the same. */
export function* terminalIsFinal({ stored }: Evidence): Generator<Violation> {
  for (const [taskId, { row, entries }] of stored) {
    const ends = entries.filter(isEnd);
    if (ends.length > 1) yield { promise: 'P3', taskId, says: `the log ends ${ends.length} times: ${ends.map(said).join(', ')}` };
    const [end] = ends;
    if (!end) continue;
    const later = entries.filter((entry) => entry.seq > end.seq);
    if (later.length > 0) yield { promise: 'P3', taskId, says: `after ${said(end)} stand ${later.map(said).join(', ')}` };
    if (end.kind === 'status' && row.state !== end.state)
      yield { promise: 'P3', taskId, says: `the row says ${row.state}, the log ${said(end)}` };
  }
}

/** P4: the fence never falls, so nothing of a superseded holder stands behind its successor's first word. */
export function* oneHolder({ stored }: Evidence): Generator<Violation> {
  for (const [taskId, { entries }] of stored) {
    for (const [index, entry] of entries.entries()) {
      const before = entries[index - 1];
      if (before && entry.fence < before.fence) {
        yield { promise: 'P4', taskId, says: `${said(entry)} under fence ${entry.fence} stands behind fence ${before.fence}` };
      }
    }
  }
}

/** P4 and P9: what one run says is numbered 1, 2, 3 …: none missing, none twice. */
export function* denseOrdinals({ stored }: Evidence): Generator<Violation> {
  for (const [taskId, { entries }] of stored) {
    const last = new Map<number, number>();
    for (const entry of entries) {
      if (entry.ordinal === undefined) continue;
      const before = last.get(entry.fence) ?? 0;
      if (entry.ordinal <= before)
        yield { promise: 'P9', taskId, says: `${said(entry)} repeats ordinal ${entry.ordinal} of fence ${entry.fence}` };
      else if (entry.ordinal > before + 1) {
        yield {
          promise: 'P7',
          taskId,
          says: `before ${said(entry)} ordinals ${before + 1}..${entry.ordinal - 1} of fence ${entry.fence} are lost`,
        };
      }
      last.set(entry.fence, Math.max(before, entry.ordinal));
    }
  }
}

/** P6: nothing stays SUBMITTED or WORKING once nothing moves any more. */
export function* nothingWorksForEver({ stored }: Evidence): Generator<Violation> {
  for (const [taskId, { row }] of stored) {
    if (row.phase !== 'closed') yield { promise: 'P6', taskId, says: `the turn is still ${row.phase}, the task ${row.state}` };
    else if (row.state === 'TASK_STATE_WORKING' || row.state === 'TASK_STATE_SUBMITTED') {
      yield { promise: 'P6', taskId, says: `no turn is open and the task says ${row.state}` };
    }
  }
}

/** P7: FAILED tells why. */
export function* failuresTellWhy({ stored }: Evidence): Generator<Violation> {
  for (const [taskId, task] of stored) {
    const end = task.entries.find(isEnd);
    if (end?.kind !== 'status' || end.state !== 'TASK_STATE_FAILED') continue;
    if (reasonOf(task) === undefined) yield { promise: 'P7', taskId, says: 'FAILED carries no chorus/error with a code' };
  }
}

/** Why a task failed, as its log tells. */
export function reasonOf({ entries }: StoredTask): string | undefined {
  const end = entries.find(isEnd);
  const error = end?.kind === 'status' ? end.metadata?.['chorus/error'] : undefined;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function isEnd(entry: Entry): boolean {
  return entry.kind === 'status' && isTerminal(entry.state);
}

/** An entry in a few words. */
export function said(entry: Entry): string {
  return `${entry.kind === 'status' ? entry.state : entry.kind} (${entry.seq})`;
}
