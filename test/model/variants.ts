import type { KeyRecord } from '../../src/log/rules/accept.ts';
import { decideAccept } from '../../src/log/rules/accept.ts';
import { decideAppend } from '../../src/log/rules/append.ts';
import { decideClaim, decideRelease, decideSweep } from '../../src/log/rules/settle.ts';
import type { TaskRow } from '../../src/log/store.ts';
import { withFence } from './shelf.ts';

// Decisions with one rule taken away, where that takes more than a line: production's own decide, and what they made is changed.

/** A row as if some of its columns were others. */
export const asIf = (row: TaskRow, seen: Partial<TaskRow>): TaskRow => ({ ...row, ...seen });

/** A claim after which the fence stands where it stood; the ordinals start anew all the same. */
export const unraisedClaim: typeof decideClaim = (row, replica, now) => {
  const change = decideClaim(row, replica, now);
  return change && withFence(change, row.fence);
};

/** The same of a sweep. */
export const unraisedSweep: typeof decideSweep = (row, isDead, now) => {
  const change = decideSweep(row, isDead, now);
  return change && withFence(change, row.fence);
};

/** The same of a release. */
export const unraisedRelease: typeof decideRelease = (row, ask, now) => {
  const { result, change } = decideRelease(row, ask, now);
  if (row === undefined || change === undefined) return { result };
  const same = withFence(change, row.fence);
  return { result: { kind: 'released', row: same.row }, change: same };
};

/** The same of a close that hands over. */
export const unraisedHandOver: typeof decideAppend = (row, ask, now) => {
  const { result, change } = decideAppend(row, ask, now);
  if (row === undefined || change === undefined || change.row.phase !== 'queued') return { result, ...(change && { change }) };
  const same = withFence(change, row.fence);
  return { result: { kind: 'applied', row: same.row }, change: same };
};

/** An accept to a closed task that leaves the fence where it is told. */
export const acceptAt =
  (fenceOf: (row: TaskRow) => number): typeof decideAccept =>
  (row, known, ask, now) => {
    const { result, change } = decideAccept(row, known, ask, now);
    if (row?.phase !== 'closed' || change === undefined || result.kind !== 'accepted') return { result, ...(change && { change }) };
    const same = withFence(change, fenceOf(row));
    return { result: { ...result, row: same.row }, change: same };
  };

const first = new WeakMap<KeyRecord, TaskRow>();

/** A repeat is given the row of its first answer. */
export const firstAnswerAgain: typeof decideAccept = (row, known, ask, now) => {
  const { result, change } = decideAccept(row, known, ask, now);
  if (change !== undefined) first.set(change.key, change.row);
  const then = known && first.get(known);
  return { result: result.kind === 'accepted' && then ? { ...result, row: then } : result, ...(change && { change }) };
};

/** A plain close raises the fence. */
export const raisedAtClose: typeof decideAppend = (row, ask, now) => {
  const { result, change } = decideAppend(row, ask, now);
  if (change?.row.phase !== 'closed') return { result, ...(change && { change }) };
  const closed = asIf(change.row, { fence: change.row.fence + 1, ordinal: 0 });
  return { result: { kind: 'applied', row: closed }, change: { ...change, row: closed } };
};

/** A release leaves the attempt as it was. */
export const sameAttempt: typeof decideRelease = (row, ask, now) => {
  const { result, change } = decideRelease(row, ask, now);
  if (row === undefined || change === undefined) return { result };
  const same = asIf(change.row, { attempt: row.attempt });
  return { result: { kind: 'released', row: same }, change: { ...change, row: same } };
};

/** A hand-over writes the state it stands for, and SUBMITTED behind it. */
export const endedAndSubmitted: typeof decideAppend = (row, ask, now) => {
  const { result, change } = decideAppend(row, ask, now);
  const ended = decideAppend(closing(row), ask, now).change?.entries.at(-1);
  const submitted = change?.entries.at(-1);
  if (change?.row.phase !== 'queued' || ended === undefined || submitted === undefined) return { result, ...(change && { change }) };
  const row2 = asIf(change.row, { seq: change.row.seq + 1, statusSeq: change.row.seq + 1 });
  const { ordinal: _said, ...opens } = submitted;
  const entries = [...change.entries.slice(0, -1), ended, { ...opens, seq: row2.seq }];
  return { result: { kind: 'applied', row: row2 }, change: { row: row2, entries } };
};

/** AUTH_REQUIRED closes the turn. */
export const authCloses: typeof decideAppend = (row, ask, now) => {
  const { result, change } = decideAppend(row, ask, now);
  if (change?.row.state !== 'TASK_STATE_AUTH_REQUIRED') return { result, ...(change && { change }) };
  const { holder: _holder, ...closed } = asIf(change.row, { phase: 'closed' });
  return { result: { kind: 'applied', row: closed }, change: { ...change, row: closed } };
};

/** A row that nobody waits at. */
export const closing = (row: TaskRow | undefined): TaskRow | undefined => row && asIf(row, { waiting: [] });
