import type { StoreSource } from '../log/store.ts';
import type { SqliteOptions } from '../stores/sqlite-file.ts';
import { databasePath } from '../stores/sqlite-file.ts';
import { openSqlite } from '../stores/sqlite.ts';
import { openDoorbell } from '../wakes/sqlite.ts';

/**
 * Keeps tasks in a SQLite file: they survive restarts, and all processes of this machine that name the same file are replicas of one agent.
 * Its wake is a file beside it, `<path>-wake`.
 */
export function sqlite(path: string, options: SqliteOptions = {}): StoreSource {
  const file = databasePath(path);
  return {
    name: 'sqlite',
    reach: 'machine',
    open: (parts) => {
      const store = openSqlite(file, parts, options);
      const { clock, logger } = parts;
      return { store, wake: openDoorbell({ path: `${file}-wake`, feed: () => store.feed(), clock, logger }) };
    },
  };
}
