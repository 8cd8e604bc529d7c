export { sqlite } from './agent/sqlite.ts';
export type { SqliteOptions } from './stores/sqlite-file.ts';
