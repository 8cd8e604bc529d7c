import assert from 'node:assert/strict';
import type { EntryRow } from '../../log/entry.ts';
import type { TaskRow } from '../../log/store.ts';
import { WAITING_MAX } from '../../log/store.ts';
import { isTerminal } from '../../protocol/states.ts';

/** Holds a log and its row against what must be true of every one, whatever was done to it. */
export function checkLog(row: TaskRow, log: readonly EntryRow[]): void {
  assert.deepEqual(
    log.map(({ seq }) => seq),
    log.map((_, index) => index + 1),
    'a log is dense (P1)',
  );
  checkRow(row, log);
  checkFences(log);
  const end = log.findIndex(({ state }) => state !== undefined && isTerminal(state));
  assert.ok(end === -1 || end === log.length - 1, 'nothing follows a terminal status (P3)');
}

function checkRow(row: TaskRow, log: readonly EntryRow[]): void {
  const last = log.findLast(({ kind }) => kind === 'status');
  assert.equal(row.seq, log.length);
  assert.equal(
    row.bytes,
    log.reduce((sum, { body }) => sum + body.length, 0),
  );
  assert.deepEqual([row.state, row.statusSeq, row.statusAt], [last?.state, last?.seq, last?.at], 'the row names the last status');
  assert.equal(row.holder !== undefined, row.phase === 'open', 'a turn is held exactly while it is open');
  assert.equal(row.queuedAt !== undefined, row.phase === 'queued');
  assert.equal(row.dueAt === undefined, row.phase === 'open', 'only a holder settles an open turn');
  assert.ok(row.phase === 'closed' || !isTerminal(row.state), 'an ended task has no turn');
  assert.ok(row.phase !== 'closed' || !['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'].includes(row.state), 'no orphan (P6)');
  assert.ok(row.phase !== 'closed' || row.waiting.length === 0, 'nobody waits for a turn that will not come');
  assert.ok(row.waiting.length <= WAITING_MAX);
}

/** Fences never fall (P4); within one, ordinals rise by one (P9). */
function checkFences(log: readonly EntryRow[]): void {
  let fence = 0;
  let ordinal = 0;
  for (const entry of log) {
    assert.ok(entry.fence >= fence, 'no older fence writes after a newer one (P4)');
    if (entry.fence > fence) ordinal = 0;
    fence = entry.fence;
    if (entry.ordinal === undefined) continue;
    assert.equal(entry.ordinal, ordinal + 1, 'the entries of a run are applied once each, in order (P9)');
    ordinal = entry.ordinal;
  }
  const times = log.filter(({ kind }) => kind === 'status').map(({ at }) => at);
  assert.deepEqual(
    times,
    times.toSorted((one, other) => one - other),
    'time never runs backwards within a task (AMB-40)',
  );
}
