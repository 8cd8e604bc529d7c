/**
 * One step of the schema, forward only, never changed once it is released. `readableFrom` and `writableFrom` name the oldest schema version
 * whose programs may still read and write a database that has this step: two versions of a program run side by side during a roll-out.
 * The SQL stands in a module, not in a file beside it, because the package is built file by file and loads nothing but modules.
 */
export interface Migration {
  readonly version: number;
  readonly readableFrom: number;
  readonly writableFrom: number;
  readonly sql: string;
}
