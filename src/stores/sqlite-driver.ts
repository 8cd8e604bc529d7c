import { StoreError } from '../log/store.ts';
import { SqliteFailure } from './sqlite-failure.ts';

/** What is bound and read: text, numbers below 2^53, or nothing. */
export type SqlValue = string | number | null;

/** A row as a driver gives it; `sqlite-rows.ts` reads its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A prepared statement. `run` answers with the rowid of the last inserted row. */
export interface SqlStatement {
  run(values: readonly SqlValue[]): number;
  all(values: readonly SqlValue[]): readonly SqlRow[];
  /** The first row: of a statement that gives one at most, for half of what `all` costs in libsql. */
  get(values: readonly SqlValue[]): SqlRow | undefined;
}

/** The little that all drivers have in common. Everything is synchronous: a transaction never waits for the loop while it holds the lock. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

/** The drivers, in the order in which they are looked for. */
export type DriverName = 'node:sqlite' | 'libsql' | 'better-sqlite3';

/** A driver that is there. */
export interface Driver {
  readonly name: DriverName;
  open(path: string): SqlDatabase;
}

const names: readonly DriverName[] = ['node:sqlite', 'libsql', 'better-sqlite3'];

/** The first driver that this runtime has, or the one asked for. */
export async function findDriver(wanted?: DriverName): Promise<Driver> {
  const causes: unknown[] = [];
  for (const name of wanted === undefined ? names : [wanted]) {
    try {
      // the name is not written into the import: no bundler and no type check shall need packages that are not installed
      const module: unknown = await import(/* @vite-ignore */ name);
      return toDriver(name, module);
    } catch (cause) {
      causes.push(cause); // not there: the next one may be, and if none is, all the reasons are told together
    }
  }
  const message =
    wanted === undefined
      ? 'No SQLite driver: run on Node 22.13 or later, or install "libsql" or "better-sqlite3".'
      : `The SQLite driver "${wanted}" cannot be loaded.`;
  throw new StoreError('misconfigured', message, { cause: new AggregateError(causes) });
}

/** What a driver's statement and database look like, as far as they are used here. */
interface RawStatement {
  run(...values: unknown[]): { readonly lastInsertRowid: number | bigint };
  all(...values: unknown[]): readonly SqlRow[];
  get(...values: unknown[]): SqlRow | undefined;
}
interface RawDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): RawStatement;
  close(): unknown;
}

function toDriver(name: DriverName, module: unknown): Driver {
  const exported = module as { readonly DatabaseSync?: unknown; readonly default?: unknown }; // checked in the next line
  const Database = name === 'node:sqlite' ? exported.DatabaseSync : exported.default;
  if (typeof Database !== 'function') throw new TypeError(`${name} exports no database`);
  const Constructor = Database as new (path: string) => RawDatabase; // the documented class of that package
  const bind = name === 'node:sqlite' ? spread : asArray;
  return { name, open: (path) => guard(() => wrap(new Constructor(path), bind)) };
}

type Bind = (values: readonly SqlValue[]) => readonly unknown[];

/** node:sqlite takes an array for named parameters. */
const spread: Bind = (values) => values;

/** The others take one array, and libsql copies arguments that come one by one. */
const asArray: Bind = (values) => [values];

function wrap(database: RawDatabase, bind: Bind): SqlDatabase {
  return {
    exec: (sql) => guard(() => void database.exec(sql)),
    close: () => guard(() => void database.close()),
    prepare: (sql) => {
      const statement = guard(() => database.prepare(sql));
      return {
        run: (values) => guard(() => Number(statement.run(...bind(values)).lastInsertRowid)),
        all: (values) => guard(() => statement.all(...bind(values))),
        get: (values) => guard(() => statement.get(...bind(values))),
      };
    },
  };
}

function guard<T>(call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw new SqliteFailure(cause);
  }
}
