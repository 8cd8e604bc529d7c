import type { EntryRow } from '../log/entry.ts';
import type { KeyRecord } from '../log/rules/accept.ts';
import type { Change } from '../log/rules/change.ts';
import { isMoved, isNewlyQueued } from '../log/rules/change.ts';
import type { TaskRow } from '../log/store.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { SqlRow, SqlValue } from './sqlite-driver.ts';
import {
  ENTRY_COLUMNS,
  entryValues,
  PROGRESS_COLUMNS,
  progressValues,
  SELECT_TASK,
  TASK_COLUMNS,
  taskValues,
  toKeyRecord,
  toTask,
} from './sqlite-rows.ts';

/** What the last entry of a task in a commit tells the other processes. */
export const HINT_GREW = 1;
export const HINT_QUEUED = 2;
export const HINT_MOVED = 4;

interface KnownTask {
  /** Undefined until the task's first flush. */
  no: number | undefined;
  /** As the database has it; undefined for a new task. */
  stored: TaskRow | undefined;
  row: TaskRow;
  entries: EntryRow[];
  hint: number;
  readonly keys: Map<string, KeyRecord>;
  readonly newKeys: Map<string, KeyRecord>;
}

/** Which entries a commit put into the file. */
export interface Appended {
  readonly first: number;
  readonly last: number;
}

/** Rows written by one statement, the most that fit first: measured, one row at a time costs half as much again in libsql. */
const STRIDES = [32, 8, 1] as const;

const insertEntries = (rows: number): string =>
  `INSERT INTO chorus_entry (${ENTRY_COLUMNS.join(', ')}) VALUES ${Array(rows)
    .fill(`(${ENTRY_COLUMNS.map(() => '?').join(', ')})`)
    .join(', ')}`;
const INSERT_ENTRIES = STRIDES.map((rows) => ({ rows, sql: insertEntries(rows) }));
const INSERT_TASK = `INSERT INTO chorus_task (${TASK_COLUMNS.join(', ')}) VALUES (${TASK_COLUMNS.map(() => '?').join(', ')})`;
const UPDATE_TASK = `UPDATE chorus_task SET ${PROGRESS_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE no = ?`;
const GROW_TASK = 'UPDATE chorus_task SET seq = ?, bytes = ?, ordinal = ? WHERE no = ?';
const SELECT_KEY = 'SELECT digest, seq, message_seq, turn FROM chorus_message_key WHERE task_no = ? AND key = ?';
const INSERT_KEY = 'INSERT INTO chorus_message_key (task_no, key, digest, seq, message_seq, turn) VALUES (?, ?, ?, ?, ?, ?)';

/**
 * One write transaction: tasks are read once, under the lock that all writers of the file share, decided on as often as the group says, and
 * written once at its end. Verbs that look for rows by an index flush first, so that they find what the group has done.
 */
export class SqliteSession {
  readonly connection: SqliteConnection;
  /** The store's clock as the transaction began; the rules keep it from running backwards within a task. */
  readonly now: number;
  readonly #tasks = new Map<string, KnownTask>();
  readonly #dirty = new Set<KnownTask>();
  #first: number | undefined;
  #last = 0;

  constructor(connection: SqliteConnection, now: number) {
    this.connection = connection;
    this.now = now;
  }

  row(id: string): TaskRow | undefined {
    return this.#known(id)?.row;
  }

  /** Rows that an index gives. */
  rows(sql: string, values: readonly SqlValue[]): readonly TaskRow[] {
    this.flush();
    return this.connection.all(sql, values).map((columns) => this.#learn(columns).row);
  }

  key(id: string, key: string): KeyRecord | undefined {
    const task = this.#known(id);
    if (task === undefined) return undefined;
    const known = task.keys.get(key);
    if (known !== undefined || task.no === undefined) return known;
    const columns = this.connection.first(SELECT_KEY, [task.no, key]);
    return columns === undefined ? undefined : toKeyRecord(columns);
  }

  write({ row, entries }: Change, key?: { readonly name: string; readonly record: KeyRecord }): void {
    const known = this.#known(row.id);
    const task: KnownTask = known ?? { ...unwritten(), no: undefined, stored: undefined, row };
    if (known === undefined) this.#tasks.set(row.id, task);
    if (isNewlyQueued(known?.row, row)) task.hint |= HINT_QUEUED;
    if (isMoved(known?.row, row)) task.hint |= HINT_MOVED;
    task.entries.push(...entries);
    task.row = row;
    if (key !== undefined) {
      task.keys.set(key.name, key.record);
      task.newKeys.set(key.name, key.record);
    }
    this.#dirty.add(task);
  }

  /** Forgets a task whose row was removed in this transaction. */
  forget(id: string): void {
    this.#tasks.delete(id);
  }

  /** Writes what was decided: rows first, for a new task gets its number there, then all entries together. */
  flush(): void {
    if (this.#dirty.size === 0) return;
    const entries: (readonly SqlValue[])[] = [];
    for (const task of this.#dirty) {
      const no = this.#writeRow(task);
      const last = task.entries.at(-1);
      for (const entry of task.entries) entries.push(entryValues(no, entry, entry === last ? HINT_GREW | task.hint : 0));
      for (const [key, { digest, seq, messageSeq, turn }] of task.newKeys)
        this.connection.run(INSERT_KEY, [no, key, digest, seq, messageSeq, turn ?? null]);
      task.entries = [];
      task.hint = 0;
      task.newKeys.clear();
    }
    this.#dirty.clear();
    this.#insert(entries);
  }

  /** The entries this transaction has put into the file: they stand together, for nobody else wrote meanwhile. */
  get appended(): Appended | undefined {
    return this.#first === undefined ? undefined : { first: this.#first, last: this.#last };
  }

  #known(id: string): KnownTask | undefined {
    const known = this.#tasks.get(id);
    if (known !== undefined) return known;
    const columns = this.connection.first(SELECT_TASK, [id]);
    return columns === undefined ? undefined : this.#learn(columns);
  }

  /** Under the lock nobody else writes: what was read once in this transaction stays true until it is decided on. */
  #learn(columns: SqlRow): KnownTask {
    const { no, row } = toTask(columns);
    const known = this.#tasks.get(row.id);
    if (known !== undefined) return known;
    const task: KnownTask = { ...unwritten(), no, stored: row, row };
    this.#tasks.set(row.id, task);
    return task;
  }

  #writeRow(task: KnownTask): number {
    const { row, stored } = task;
    if (task.no === undefined) task.no = this.connection.run(INSERT_TASK, taskValues(row));
    else if (stored !== undefined && isGrownOnly(stored, row)) this.connection.run(GROW_TASK, [row.seq, row.bytes, row.ordinal, task.no]);
    else this.connection.run(UPDATE_TASK, [...progressValues(row), task.no]);
    task.stored = row;
    return task.no;
  }

  #insert(entries: readonly (readonly SqlValue[])[]): void {
    let from = 0;
    for (const { rows, sql } of INSERT_ENTRIES) {
      for (; entries.length - from >= rows; from += rows) {
        this.#last = this.connection.run(sql, entries.slice(from, from + rows).flat());
        this.#first ??= this.#last - rows + 1;
      }
    }
  }
}

const unwritten = (): Pick<KnownTask, 'entries' | 'hint' | 'keys' | 'newKeys'> => ({
  entries: [],
  hint: 0,
  keys: new Map(),
  newKeys: new Map(),
});

/** Chunks of a stream change three columns, and no index: that is the hot path. */
function isGrownOnly(before: TaskRow, after: TaskRow): boolean {
  return (
    before.statusSeq === after.statusSeq &&
    before.fence === after.fence &&
    before.phase === after.phase &&
    before.waiting === after.waiting &&
    before.isInterrupted === after.isInterrupted
  );
}
