import { isTerminal } from '../../protocol/states.ts';
import type { NewEntry } from '../entry.ts';
import type { AppendAsk, AppendResult, TaskRow } from '../store.ts';
import { StoreError } from '../store.ts';
import type { Change, Draft } from './change.ts';
import { draftOf, put, putStatus } from './change.ts';
import { closeTurn } from './turns.ts';

/** A decision: what to answer and what, if anything, to write. */
export interface AppendDecision {
  readonly result: AppendResult;
  readonly change?: Change;
}

/**
 * Decides on entries of a running turn. The order is a rule of its own ⚖: what is applied already comes before every refusal, or the
 * repeat of a write whose answer was lost would be told that it had failed.
 */
export function decideAppend(row: TaskRow | undefined, ask: AppendAsk, now: number): AppendDecision {
  if (row === undefined) return { result: { kind: 'fenced' } };
  const entries = notYetApplied(row, ask);
  if (entries.length === 0) return { result: { kind: 'applied', row } };
  const refusal = refuse(row, ask, entries);
  if (refusal !== undefined) return { result: refusal };
  checkShape(row, entries);
  const draft = draftOf(row, now);
  for (const entry of entries) apply(draft, entry);
  const change = { row: draft.row, entries: draft.entries };
  return { result: { kind: 'applied', row: change.row, written: change.entries }, change };
}

/** Ordinals number entries, not batches ⚖: a repeat may be cut at other places than the first try was. */
function notYetApplied(row: TaskRow, ask: AppendAsk): readonly NewEntry[] {
  if (row.fence !== ask.fence) return ask.entries;
  const applied = row.ordinal - ask.from + 1;
  return applied <= 0 ? ask.entries : ask.entries.slice(applied);
}

function refuse(row: TaskRow, ask: AppendAsk, entries: readonly NewEntry[]): AppendResult | undefined {
  // terminal is final, decided on the locked row and never by code that read earlier (P3)
  if (isTerminal(row.state)) return { kind: 'terminal', row };
  // a superseded holder, however long it was paused, writes nothing (P4)
  if (row.fence !== ask.fence || row.phase !== 'open') return { kind: 'fenced', row };
  // several batches may be in flight: one that overtook its elder would leave a hole in what the agent said (P7)
  if (ask.from > row.ordinal + 1) return { kind: 'gap', ordinal: row.ordinal };
  return isOverLimit(row, entries) ? { kind: 'limit' } : undefined;
}

/** Entries that close the turn always pass: a task that is full must still be able to end. */
function isOverLimit(row: TaskRow, entries: readonly NewEntry[]): boolean {
  let count = 0;
  let bytes = 0;
  for (const entry of entries) {
    if (isClosing(entry)) continue;
    count += 1;
    bytes += entry.body.length;
  }
  return count > 0 && (row.seq + count > row.limits.entriesMax || row.bytes + bytes > row.limits.bytesMax);
}

/** INPUT_REQUIRED and terminal states close the turn in the same commit; AUTH_REQUIRED does not, `closed` does it. */
function isClosing({ kind, state }: NewEntry): boolean {
  return kind === 'closed' || (state !== undefined && (state === 'TASK_STATE_INPUT_REQUIRED' || isTerminal(state)));
}

/** Entries that no engine of ours makes: stored, they would leave a closed turn that says WORKING, or words after the end. */
function checkShape(row: TaskRow, entries: readonly NewEntry[]): void {
  let { state } = row;
  entries.forEach((entry, index) => {
    if ((entry.kind === 'status') !== (entry.state !== undefined)) throw unstorable('a status, and only a status, has a state');
    if (isClosing(entry) && index < entries.length - 1) throw unstorable('nothing follows the entry that closes a turn');
    state = entry.state ?? state;
    if (entry.kind === 'closed' && state !== 'TASK_STATE_AUTH_REQUIRED')
      throw unstorable('a turn closes without a status only on AUTH_REQUIRED');
  });
}

const unstorable = (rule: string): StoreError => new StoreError('unstorable', `These entries cannot be stored: ${rule}.`);

function apply(draft: Draft, entry: NewEntry): void {
  const { row } = draft;
  const { kind, state, body, taken } = entry;
  row.ordinal += 1;
  const { turn, ordinal } = row;
  if (isClosing(entry)) closeTurn(draft, { state, body, ordinal });
  else if (state !== undefined) putStatus(draft, { turn, state, ordinal, body });
  else put(draft, { kind, turn, ordinal, body });
  if (taken !== undefined) take(draft, taken);
}

/** Messages leave `waiting` in the commit that says so: a later attempt gets those again that no commit took. */
function take(draft: Draft, taken: readonly number[]): void {
  const { row } = draft;
  row.waiting = row.waiting.filter((seq) => !taken.includes(seq));
  // an interrupt makes room for a message that waits; none is left, so the turn may go on
  if (row.waiting.length === 0) row.isInterrupted = false;
}
