// Half of the floor under a wake: commits rows of 1 KB, one at a time, and touches a file after each. Arguments: database, file to touch.
// A line on its input says how many rows; it prints a line when they are written.
import { utimesSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { nowMs, pauseMs, sleepMs, stamped } from './clocks.ts';
import { openRaw } from './raw-database.ts';

const [file = '', bell = ''] = process.argv.slice(2);
const database = await openRaw(file);
const insert = database.prepare('INSERT INTO row (body) VALUES (?)');
console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  for (let left = Number(line); left > 0; left--) {
    insert.run(stamped(nowMs()));
    const now = Date.now() / 1_000;
    utimesSync(bell, now, now);
    await sleepMs(pauseMs());
  }
  console.log(JSON.stringify({ done: true }));
}
