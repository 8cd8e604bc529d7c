import type { EntryRow } from '../log/entry.ts';
import { isInScope } from '../log/rules/accept.ts';
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX } from '../log/store.ts';
import type { EntriesAsk, EntriesOfTask, ListAsk, ListResult, ReadAsk, TaskRow } from '../log/store.ts';
import { Budget } from './budget.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { SqlValue } from './sqlite-driver.ts';
import { ENTRY_COLUMNS, number, SELECT_TASK, TASK_COLUMNS, toEntry, toTask } from './sqlite-rows.ts';

const SELECT_SIZE = 'SELECT no, seq, bytes FROM chorus_task WHERE id = ?';
const SELECT_ENTRIES = `SELECT ${ENTRY_COLUMNS.join(', ')} FROM chorus_entry WHERE task_no = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`;
const SELECT_KINDS = `SELECT ${ENTRY_COLUMNS.join(', ')} FROM chorus_entry WHERE task_no = ? AND seq > ? AND seq <= ?
  AND kind IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?`;

/** The row and the entries above `after`, as of one moment. */
export function readTask(
  connection: SqliteConnection,
  { scope, taskId, after }: ReadAsk,
): { row: TaskRow; rows: readonly EntryRow[] } | undefined {
  const columns = connection.first(SELECT_TASK, [taskId]);
  if (columns === undefined) return undefined;
  const { no, row } = toTask(columns);
  if (scope !== undefined && !isInScope(row, scope)) return undefined;
  const budget = new Budget({ entriesMax: BATCH_ENTRIES_MAX, bytesMax: BATCH_BYTES_MAX });
  const rows = take(connection, budget, { no, seq: row.seq, bytes: row.bytes, after });
  return { row, rows: rows ?? [] };
}

/** Entries of many tasks, as far as the limits go. */
export function readEntries(connection: SqliteConnection, ask: EntriesAsk): readonly EntriesOfTask[] {
  const budget = new Budget(ask);
  const answers: EntriesOfTask[] = [];
  for (const { taskId, after, upTo } of ask.wants) {
    if (budget.isSpent) break;
    const columns = connection.first(SELECT_SIZE, [taskId]);
    if (columns === undefined) {
      answers.push({ taskId, rows: [], isGone: true });
      continue;
    }
    const size = { no: number(columns, 'no'), seq: number(columns, 'seq'), bytes: number(columns, 'bytes') };
    const rows = take(connection, budget, { ...size, after, upTo, kinds: ask.kinds });
    if (rows === undefined) break;
    answers.push({ taskId, rows, isGone: false });
  }
  return answers;
}

interface Stretch {
  readonly no: number;
  /** The task's last seq and its size: how large its entries are on the average. */
  readonly seq: number;
  readonly bytes: number;
  readonly after: number;
  readonly upTo?: number | undefined;
  readonly kinds?: readonly string[] | undefined;
}

/** Rows fetched at once at least. */
const STRIDE_MIN = 8;

/**
 * Takes what fits. Drivers give all rows of a statement at once, so the limit of each statement is guessed from the average size: a few
 * large bodies too many are read, never a batch of them.
 */
function take(connection: SqliteConnection, budget: Budget, stretch: Stretch): readonly EntryRow[] | undefined {
  const taken: EntryRow[] = [];
  const upTo = Math.min(stretch.upTo ?? stretch.seq, stretch.seq);
  for (let { after } = stretch; after < upTo;) {
    const limit = Math.min(budget.entriesLeft, Math.max(STRIDE_MIN, budget.guess(stretch.bytes / stretch.seq)));
    const rows = fetch(connection, stretch, { after, upTo, limit });
    const fitting = budget.take(rows);
    if (fitting === undefined) return taken.length === 0 ? undefined : taken;
    taken.push(...fitting);
    after = fitting.at(-1)?.seq ?? upTo;
    if (fitting.length < rows.length || rows.length < limit || budget.isSpent) break;
  }
  return taken;
}

function fetch(
  connection: SqliteConnection,
  { no, kinds }: Stretch,
  range: { after: number; upTo: number; limit: number },
): readonly EntryRow[] {
  const { after, upTo, limit } = range;
  const rows =
    kinds === undefined
      ? connection.all(SELECT_ENTRIES, [no, after, upTo, limit])
      : connection.all(SELECT_KINDS, [no, after, upTo, JSON.stringify(kinds), limit]);
  return rows.map(toEntry);
}

/** One page of a scope's tasks by key, not by offset: a task that moves up between two pages shifts no other (LIST-02, AMB-11). */
export function listTasks(connection: SqliteConnection, ask: ListAsk): ListResult {
  const { where, values } = filter(ask);
  // a context holds few tasks: its own index beats a walk through all of the scope
  const index = ask.contextId === undefined ? 'chorus_task_list' : 'chorus_task_context';
  const from = `FROM chorus_task INDEXED BY ${index} WHERE ${where}`;
  const total = number(connection.first(`SELECT count(*) AS total ${from}`, values) ?? {}, 'total');
  const cursor = ask.after === undefined ? '' : 'AND (status_at, id) < (?, ?)';
  const rows = connection.all(`SELECT no, ${TASK_COLUMNS.join(', ')} ${from} ${cursor} ORDER BY status_at DESC, id DESC LIMIT ?`, [
    ...values,
    ...(ask.after === undefined ? [] : [ask.after.statusAt, ask.after.id]),
    ask.limit,
  ]);
  return { rows: rows.map((columns) => toTask(columns).row), total };
}

function filter({ scope, contextId, state, statusAtMin }: ListAsk): { readonly where: string; readonly values: readonly SqlValue[] } {
  const terms = ['agent = ?', 'tenant = ?', 'owner = ?'];
  const values: SqlValue[] = [scope.agent, scope.tenant, scope.owner];
  const optional: readonly (readonly [string, SqlValue | undefined])[] = [
    ['context_id = ?', contextId],
    ['state = ?', state],
    ['status_at >= ?', statusAtMin],
  ];
  for (const [term, value] of optional) {
    if (value === undefined) continue;
    terms.push(term);
    values.push(value);
  }
  return { where: terms.join(' AND '), values };
}
