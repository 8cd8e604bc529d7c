import type { Mutable } from '../../ground/mutable.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { TaskState } from '../../protocol/types.ts';
import type { EntryRow } from '../entry.ts';
import type { TaskRow } from '../store.ts';

/** What a decision writes, all of it in one commit: the row as it shall stand and the entries above the old `seq`. */
export interface Change {
  readonly row: TaskRow;
  readonly entries: readonly EntryRow[];
}

/** A change in the making: a copy of the row, of one decision alone. Nobody else sees it before it is done, and nobody changes it after. */
export interface Draft {
  row: Mutable<TaskRow>;
  readonly entries: EntryRow[];
  readonly at: number;
}

/** What a store writes where nobody has anything to say. */
export const EMPTY_BODY = '{}';

/** Starts a change. Time never runs backwards within a task, whatever the machine's clock does (AMB-40). */
export function draftOf(row: TaskRow, now: number): Draft {
  const copy = withoutPlace(row);
  if (row.holder !== undefined) copy.holder = row.holder;
  if (row.queuedAt !== undefined) copy.queuedAt = row.queuedAt;
  if (row.dueAt !== undefined) copy.dueAt = row.dueAt;
  return { row: copy, entries: [], at: Math.max(now, row.statusAt) };
}

/** What an entry says beside its place, its fence and its time. */
interface Said {
  readonly kind: string;
  readonly turn: number;
  readonly body: string;
  readonly ordinal?: number | undefined;
  readonly state?: TaskState;
  readonly answers?: number | undefined;
}

/** Appends one entry. `seq` comes from the locked row, so it is dense and never visible out of order (P1). */
export function put({ row, entries, at }: Draft, { kind, turn, body, ordinal, state, answers }: Said): void {
  row.seq += 1;
  row.bytes += body.length;
  const entry: Mutable<EntryRow> = { seq: row.seq, kind, turn, fence: row.fence, at, body };
  if (ordinal !== undefined) entry.ordinal = ordinal;
  if (state !== undefined) entry.state = state;
  if (answers !== undefined) entry.answers = answers;
  entries.push(entry);
}

/** Appends a status and makes it the present one. */
export function putStatus(draft: Draft, said: Omit<Said, 'kind'> & { readonly state: TaskState }): void {
  const { turn, body, ordinal, state, answers } = said;
  put(draft, { kind: 'status', turn, body, ordinal, state, answers });
  const { row } = draft;
  row.state = state;
  row.statusAt = draft.at;
  row.statusSeq = row.seq;
}

/** Raises the fence: every write of the run before is refused from here on, however late it comes (P4). Ordinals start anew. */
export function raiseFence({ row }: Draft): void {
  row.fence += 1;
  row.ordinal = 0;
}

/** Where the newest turn stands, with the columns that only make sense there. */
type Place =
  | { readonly phase: 'queued'; readonly queuedAt: number }
  | { readonly phase: 'open'; readonly holder: string }
  | { readonly phase: 'closed' };

/** Moves the newest turn. An interrupt was meant for the run that ends here, so it does not outlive the move. */
export function place(draft: Draft, where: Place): void {
  const row = withoutPlace(draft.row);
  row.phase = where.phase;
  row.isInterrupted = false;
  if (where.phase === 'queued') row.queuedAt = where.queuedAt;
  if (where.phase === 'open') row.holder = where.holder;
  const dueAt = dueAtOf(row);
  if (dueAt !== undefined) row.dueAt = dueAt;
  draft.row = row;
}

/** When the clock settles the row if nothing else does. An open turn has none: it is its holder that lives or dies. */
function dueAtOf(row: TaskRow): number | undefined {
  if (row.phase === 'open') return undefined;
  if (row.phase === 'queued') return (row.queuedAt ?? row.statusAt) + row.limits.queueMs;
  return row.statusAt + (isTerminal(row.state) ? row.limits.retentionMs : row.limits.pausedTtlMs);
}

/** A copy without the columns that depend on the place. Written out: measured, a copy by spread took ten times as long. */
function withoutPlace(row: TaskRow): Mutable<TaskRow> {
  return {
    agent: row.agent,
    tenant: row.tenant,
    owner: row.owner,
    id: row.id,
    contextId: row.contextId,
    state: row.state,
    statusAt: row.statusAt,
    statusSeq: row.statusSeq,
    seq: row.seq,
    bytes: row.bytes,
    turn: row.turn,
    phase: row.phase,
    answers: row.answers,
    isResumed: row.isResumed,
    fence: row.fence,
    attempt: row.attempt,
    tries: row.tries,
    ordinal: row.ordinal,
    waiting: row.waiting,
    isInterrupted: row.isInterrupted,
    limits: row.limits,
  };
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
