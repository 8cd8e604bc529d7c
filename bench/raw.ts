// The floor: the same bytes as raw rows, 100 a transaction, WAL and FULL, with the driver our store uses on this Node. Arguments: file, rows.
import { performance } from 'node:perf_hooks';
import { openRaw } from './raw-database.ts';
import { CHUNK } from './words.ts';

const ROWS_PER_COMMIT = 100;
const [file = '', count = '10000'] = process.argv.slice(2);
const database = await openRaw(file);
// the two indexes that any log with a dense number for each task needs
database.exec(
  'CREATE TABLE entry (no INTEGER PRIMARY KEY AUTOINCREMENT, task_no INTEGER NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (task_no, seq))',
);
const insert = database.prepare('INSERT INTO entry (task_no, seq, body) VALUES (?, ?, ?)');
const rows = Number(count);
const begin = performance.now();
for (let seq = 1; seq <= rows;) {
  database.exec('BEGIN IMMEDIATE');
  for (let index = 0; index < ROWS_PER_COMMIT && seq <= rows; index++) insert.run(1, seq++, CHUNK);
  database.exec('COMMIT');
}
console.log(JSON.stringify({ rowsPerSecond: (rows * 1_000) / (performance.now() - begin) }));
