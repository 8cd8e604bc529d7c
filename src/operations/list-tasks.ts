import type { ListAsk, TaskRow } from '../log/store.ts';
import { invalidParams } from '../protocol/errors.ts';
import type { ListTasksRequest, ListTasksResponse, Task } from '../protocol/types.ts';
import { withHistory } from './answers.ts';
import type { Call } from './call.ts';
import { checkHistoryLength } from './gate.ts';
import { type Listing, pageToken, readPageToken } from './page-token.ts';
import { type SharedParts, scopeOf } from './parts.ts';

/** LIST-04. */
const PAGE_SIZE = { usual: 50, most: 100 };

/** Bytes of the tasks on one page, as stored: a page of very long tasks has fewer of them (LIST-04), the first one always fits. */
export const PAGE_BYTES_MAX: number = 64 * 1_048_576;

/**
 * ListTasks: the caller's tasks, newest status first, by keyset (LIST-02, LIST-03). A task whose status changes while pages are read moves to
 * the front: it does not come again on a later page, and every task that did not change comes exactly once (AMB-11).
 */
export async function listTasks(parts: SharedParts, call: Call, request: ListTasksRequest): Promise<ListTasksResponse> {
  checkHistoryLength(request.historyLength, 'historyLength');
  const pageSize = pageSizeOf(request);
  const listing = listingOf(parts, call, request);
  const after = request.pageToken ? { after: readPageToken(listing, request.pageToken) } : {};
  const ask: ListAsk = { ...listing, ...after, limit: pageSize + 1 }; // one more than shown tells whether there is a next page
  const { rows, total } = await parts.log.list(ask);
  const shown = fitting(rows.slice(0, pageSize));
  const last = shown.at(-1);
  const tasks = request.includeArtifacts ? await wholeTasks(parts, shown) : await parts.log.foldWithoutArtifacts(shown);
  return {
    tasks: tasks.map((task) => withHistory(task, request.historyLength)),
    nextPageToken: last !== undefined && rows.length > shown.length ? pageToken(listing, last) : '', // LIST-07, LIST-08
    pageSize,
    totalSize: total,
  };
}

function fitting(rows: readonly TaskRow[]): readonly TaskRow[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += row.bytes;
    return index > 0 && bytes > PAGE_BYTES_MAX;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

function pageSizeOf({ pageSize = PAGE_SIZE.usual }: ListTasksRequest): number {
  if (Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= PAGE_SIZE.most) return pageSize;
  throw invalidParams('pageSize', `a whole number from 1 to ${PAGE_SIZE.most} was expected, ${pageSize} came`);
}

function listingOf(parts: SharedParts, call: Call, { contextId, status, statusTimestampAfter }: ListTasksRequest): Listing {
  return {
    scope: scopeOf(parts, call),
    // LIST-12: an empty string is how some clients leave a field out
    ...(contextId ? { contextId } : {}),
    ...(status ? { state: status } : {}),
    ...(statusTimestampAfter ? { statusAtMin: instantOf(statusTimestampAfter) } : {}),
  };
}

/** LIST-11: inclusive, in the milliseconds that timestamps have here. */
function instantOf(timestamp: string): number {
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) throw invalidParams('statusTimestampAfter', 'a timestamp such as 2026-01-31T12:00:00.000Z was expected');
  return at;
}

/** LIST-10: the member is there, and may be empty. A task that was purged since the list was read is left out. */
async function wholeTasks({ log }: SharedParts, rows: readonly TaskRow[]): Promise<readonly Task[]> {
  const tasks = await Promise.all(rows.map((row) => log.foldTo(row, row.seq)));
  return tasks.flatMap((task) => (task === undefined ? [] : { ...task, artifacts: task.artifacts ?? [] }));
}
