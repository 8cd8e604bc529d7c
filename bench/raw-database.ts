/** What a bare program needs of a prepared statement. */
export interface RawStatement {
  run(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
}

/** What a bare program needs of a database. */
export interface RawDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): RawStatement;
}

async function open(file: string): Promise<RawDatabase> {
  try {
    const name: string = 'node:sqlite'; // not a literal: the types of Node 20 do not know the module
    const { DatabaseSync } = (await import(name)) as { DatabaseSync: new (file: string) => RawDatabase }; // as documented by Node
    return new DatabaseSync(file);
  } catch {
    const { default: Database } = await import('libsql'); // this Node has no SQLite of its own
    return new Database(file);
  }
}

/** A database as our store opens it, WAL and FULL, with the driver our store uses on this Node. */
export async function openRaw(file: string): Promise<RawDatabase> {
  const database = await open(file);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  return database;
}
