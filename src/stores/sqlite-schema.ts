import { StoreError } from '../log/store.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { log } from './sqlite-migrations/0001-log.ts';
import type { Migration } from './sqlite-migrations/migration.ts';

/** `auto` brings the schema up to date at start, `check` only looks and says what is missing. */
export type Migrate = 'auto' | 'check';

const migrations: readonly Migration[] = [log];

const newest = migrations.length;

const SCHEMA_TABLE = `
CREATE TABLE IF NOT EXISTS chorus_schema (
  version       INTEGER PRIMARY KEY,
  readable_from INTEGER NOT NULL,
  writable_from INTEGER NOT NULL
)`;

/** Makes sure that the database can be written by this program, or says in one sentence why not. */
export function prepareSchema(connection: SqliteConnection, migrate: Migrate, path: string): void {
  if (versionOf(connection, path) >= newest) return;
  if (migrate === 'check') throw outdated(versionOf(connection, path), path);
  // twenty processes may come here at once: the lock lets one through, the others find the work done
  connection.write(() => {
    connection.exec(SCHEMA_TABLE);
    const version = versionOf(connection, path);
    for (const migration of migrations.slice(version)) apply(connection, migration);
  });
}

function apply(connection: SqliteConnection, { version, readableFrom, writableFrom, sql }: Migration): void {
  connection.exec(sql);
  connection.run('INSERT INTO chorus_schema (version, readable_from, writable_from) VALUES (?, ?, ?)', [
    version,
    readableFrom,
    writableFrom,
  ]);
}

/** The database's version, 0 for an empty one. Throws if it is of a newer program that no longer lets this one write. */
function versionOf(connection: SqliteConnection, path: string): number {
  const table = connection.first("SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = 'chorus_schema'");
  if (table === undefined) return 0;
  const row = connection.first('SELECT version, writable_from FROM chorus_schema ORDER BY version DESC LIMIT 1');
  if (row === undefined) return 0;
  const { version, writable_from: writableFrom } = row;
  if (Number(writableFrom) > newest)
    throw new StoreError(
      'misconfigured',
      `The database ${path} is of a newer version (schema ${Number(version)}, this program knows ${newest}): update the program.`,
    );
  return Number(version);
}

function outdated(version: number, path: string): StoreError {
  const what = version === 0 ? 'has no tables yet' : `has schema version ${version}, this program needs ${newest}`;
  return new StoreError('misconfigured', `The database ${path} ${what}: start once with migrate: 'auto'.`);
}
