import { existsSync } from 'node:fs';
import { dirname, resolve as resolvePath } from 'node:path';
import { StoreError } from '../log/store.ts';
import type { StoreParts } from '../log/store.ts';
import { BUSY_MS_MAX } from './group.ts';
import { LOCK_WAIT, patience } from './patience.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import type { Driver, DriverName } from './sqlite-driver.ts';
import { findDriver } from './sqlite-driver.ts';
import { SqliteFailure, toStoreError } from './sqlite-failure.ts';
import type { Migrate } from './sqlite-schema.ts';
import { prepareSchema } from './sqlite-schema.ts';

/** How a SQLite store is opened. */
export interface SqliteOptions {
  /** `auto` (default) brings the schema up to date at start, `check` only looks and says what is missing. */
  readonly migrate?: Migrate;
  /** Which driver; the first that is there when absent: `node:sqlite` (Node 22.13 or later), `libsql`, `better-sqlite3`. */
  readonly driver?: DriverName;
}

/** What a store takes beside the user's options: a test puts a driver in between that fails as disks do. */
export interface SqliteStoreOptions extends SqliteOptions {
  readonly find?: (wanted?: DriverName) => Promise<Driver>;
}

/** The absolute path of a database, if it can be shared by processes. */
export function databasePath(path: string): string {
  if (path === '' || path === ':memory:' || path.startsWith('file:'))
    throw new StoreError(
      'misconfigured',
      `A SQLite store is a file that processes share: give a path, not "${path}". Without one, use memory().`,
    );
  return resolvePath(path);
}

/** Opening may meet other processes that create, recover or close the same file. */
const START_MS_MAX = 15_000;

/** A write-ahead log that grew beyond this, behind a slow reader perhaps, is cut when it is used from its beginning again. */
export const LOG_BYTES_KEPT_MAX = 67_108_864;

/** A database file and the one connection this store has to it. */
export class SqliteFile {
  readonly path: string;
  readonly #parts: StoreParts;
  readonly #options: SqliteStoreOptions;
  #connection: SqliteConnection | undefined;

  constructor(path: string, parts: StoreParts, options: SqliteStoreOptions) {
    this.path = path;
    this.#parts = parts;
    this.#options = options;
  }

  /** Throws while the file is not open. */
  get connection(): SqliteConnection {
    if (this.#connection === undefined)
      throw new StoreError('unavailable', `The database ${this.path} is not open: start the store first.`);
    return this.#connection;
  }

  get isOpen(): boolean {
    return this.#connection !== undefined;
  }

  async open(): Promise<void> {
    try {
      this.#checkPlace();
      const { find = findDriver, driver: wanted } = this.#options;
      const driver = await find(wanted);
      this.#connection = await this.#retry(START_MS_MAX, () => this.#connect(driver));
      this.#parts.logger.debug('sqlite: opened', { path: this.path, driver: driver.name });
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  /** Reads as of one moment. Readers meet a lock only while another process recovers the log after a crash, or closes the file last. */
  async read<Result>(work: (connection: SqliteConnection) => Result): Promise<Result> {
    try {
      return await this.#retry(BUSY_MS_MAX, () => this.connection.read(() => work(this.connection)));
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }

  /** Tries again while the file is locked, without holding up the loop. */
  async #retry<Result>(msMax: number, work: () => Result): Promise<Result> {
    const { clock } = this.#parts;
    const since = clock.monotonic();
    for (;;) {
      try {
        return work();
      } catch (error) {
        const isBusy = error instanceof SqliteFailure && error.kind === 'busy';
        if (!isBusy || clock.monotonic() - since >= msMax) throw error;
      }
      await patience({ ...this.#parts, ...LOCK_WAIT });
    }
  }

  #checkPlace(): void {
    const folder = dirname(this.path);
    if (!existsSync(folder))
      throw new StoreError('misconfigured', `There is no folder ${folder} for the database ${this.path}: make it first.`);
    if (this.#options.migrate === 'check' && !existsSync(this.path))
      throw new StoreError('misconfigured', `There is no database ${this.path}: start once with migrate: 'auto'.`);
  }

  /** One try from the beginning: half a connection is of no use to the next one. */
  #connect(driver: Driver): SqliteConnection {
    const connection = new SqliteConnection(driver.open(this.path));
    try {
      connection.exec('PRAGMA busy_timeout = 0'); // a wait inside SQLite would hold up the loop
      const mode = connection.first('PRAGMA journal_mode = WAL');
      if (mode?.['journal_mode'] !== 'wal')
        throw new StoreError('misconfigured', `The file system under ${this.path} cannot share a database: put it on a local disk.`);
      connection.exec('PRAGMA synchronous = FULL'); // an answer means that the disk has it (P5)
      connection.exec(`PRAGMA journal_size_limit = ${LOG_BYTES_KEPT_MAX}`);
      prepareSchema(connection, this.#options.migrate ?? 'auto', this.path);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}
