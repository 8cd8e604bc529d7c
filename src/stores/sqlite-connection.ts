import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './sqlite-driver.ts';

/** A connection with its statements, each prepared once, and with transactions that begin and end within one turn of the loop. */
export class SqliteConnection {
  readonly #database: SqlDatabase;
  readonly #statements = new Map<string, SqlStatement>();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** Answers with the rowid of the last inserted row. */
  run(sql: string, values: readonly SqlValue[] = []): number {
    return this.#prepared(sql).run(values);
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly SqlRow[] {
    return this.#prepared(sql).all(values);
  }

  first(sql: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    return this.#prepared(sql).get(values);
  }

  /** A transaction that holds the write lock from its first moment: what it reads cannot be overtaken before it writes (P3, P4). */
  write<T>(work: () => T): T {
    return this.#transact('BEGIN IMMEDIATE', work);
  }

  /** A transaction that sees one moment of the database. It waits for no writer, and no writer waits for it. */
  read<T>(work: () => T): T {
    return this.#transact('BEGIN', work);
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #transact<T>(begin: string, work: () => T): T {
    this.#database.exec(begin);
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // after some failures (disk full, disk error) SQLite has rolled back by itself: there is nothing left to undo
    }
  }

  #prepared(sql: string): SqlStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
