// The other half: watches the file and reads the rows that are new. Arguments as the writer's. It prints how long after the beginning of its
// commit each row was read.
import { watch, writeFileSync } from 'node:fs';
import { nowMs, stampOf } from './clocks.ts';
import { openRaw } from './raw-database.ts';

const [file = '', bell = ''] = process.argv.slice(2);
const database = await openRaw(file);
database.exec('CREATE TABLE IF NOT EXISTS row (no INTEGER PRIMARY KEY, body TEXT NOT NULL)');
const select = database.prepare('SELECT no, body FROM row WHERE no > ? ORDER BY no');
writeFileSync(bell, '');
let last = 0;
watch(bell, () => {
  const rows = select.all(last) as { no: number; body: string }[]; // the columns of the statement
  const at = nowMs();
  for (const { no, body } of rows) {
    last = no;
    console.log(JSON.stringify({ latencyMs: at - stampOf(body) }));
  }
});
console.log(JSON.stringify({ ready: true }));
process.stdin.on('close', () => process.exit(0)).resume();
