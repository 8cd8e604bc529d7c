import { isTerminal } from '../../protocol/states.ts';
import type { TaskState } from '../../protocol/types.ts';
import type { EntryRow } from '../entry.ts';
import type { TaskRow } from '../store.ts';

/** What a decision writes, all of it in one commit: the row as it shall stand and the entries above the old `seq`. */
export interface Change {
  readonly row: TaskRow;
  readonly entries: readonly EntryRow[];
}

/** A change in the making. It lives inside one decision and is never seen outside it. */
export interface Draft {
  row: TaskRow;
  readonly entries: EntryRow[];
  readonly at: number;
}

/** What a store writes where nobody has anything to say. */
export const EMPTY_BODY = '{}';

/** Starts a change. Time never runs backwards within a task, whatever the machine's clock does (AMB-40). */
export function draftOf(row: TaskRow, now: number): Draft {
  return { row, entries: [], at: Math.max(now, row.statusAt) };
}

/** What an entry says beside its place, its fence and its time. */
type Said = Omit<EntryRow, 'seq' | 'fence' | 'at'>;

/** Appends one entry. `seq` comes from the locked row, so it is dense and never visible out of order (P1). */
export function put(draft: Draft, said: Said): void {
  const { row } = draft;
  const seq = row.seq + 1;
  draft.entries.push({ ...said, seq, fence: row.fence, at: draft.at });
  draft.row = { ...row, seq, bytes: row.bytes + said.body.length };
}

/** Appends a status and makes it the present one. */
export function putStatus(draft: Draft, said: Omit<Said, 'kind'> & { readonly state: TaskState }): void {
  put(draft, { ...said, kind: 'status' });
  const { row } = draft;
  draft.row = { ...row, state: said.state, statusAt: draft.at, statusSeq: row.seq };
}

/** Raises the fence: every write of the run before is refused from here on, however late it comes (P4). Ordinals start anew. */
export function raiseFence(draft: Draft): void {
  draft.row = { ...draft.row, fence: draft.row.fence + 1, ordinal: 0 };
}

/** Where the newest turn stands, with the columns that only make sense there. */
type Place =
  | { readonly phase: 'queued'; readonly queuedAt: number }
  | { readonly phase: 'open'; readonly holder: string }
  | { readonly phase: 'closed' };

/** Moves the newest turn. An interrupt was meant for the run that ends here, so it does not outlive the move. */
export function place(draft: Draft, where: Place): void {
  const { holder: _holder, queuedAt: _queuedAt, dueAt: _dueAt, ...rest } = draft.row;
  const row: TaskRow = { ...rest, ...where, isInterrupted: false };
  const dueAt = dueAtOf(row);
  draft.row = dueAt === undefined ? row : { ...row, dueAt };
}

/** When the clock settles the row if nothing else does. An open turn has none: it is its holder that lives or dies. */
function dueAtOf(row: TaskRow): number | undefined {
  if (row.phase === 'open') return undefined;
  if (row.phase === 'queued') return (row.queuedAt ?? row.statusAt) + row.limits.queueMs;
  return row.statusAt + (isTerminal(row.state) ? row.limits.retentionMs : row.limits.pausedTtlMs);
}

/** True when the clock has something to do with the row. */
export function isDue(row: TaskRow, now: number): boolean {
  return row.dueAt !== undefined && row.dueAt <= now;
}

/** A turn went into the queue: a replica with room should look. */
export function isNewlyQueued(before: TaskRow | undefined, after: TaskRow): boolean {
  return after.phase === 'queued' && after.fence !== before?.fence;
}

/** The fence of a running turn rose, or an interrupt was asked for: whoever runs it should look (P8). */
export function isMoved(before: TaskRow | undefined, after: TaskRow): boolean {
  if (before?.phase !== 'open') return false;
  return after.fence !== before.fence || (after.isInterrupted && !before.isInterrupted);
}
