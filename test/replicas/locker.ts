// A program that holds a SQLite file's write lock: BEGIN IMMEDIATE and one write, then it stops itself inside the transaction (`stop`), or
// lets go after so many milliseconds. Prints one line when it has the lock. Arguments: FILE, `stop` | MS.
import { findDriver } from '../../src/stores/sqlite-driver.ts';
import { callerClock, sleep } from '../../src/ground/clock.ts';

const [file = '', how = 'stop'] = process.argv.slice(2);
const driver = await findDriver();
const database = driver.open(file);
for (let isTaken = false; !isTaken;) {
  try {
    database.exec('BEGIN IMMEDIATE');
    isTaken = true;
  } catch {
    await sleep(callerClock, 1); // somebody else writes just now
  }
}
database.exec('CREATE TABLE IF NOT EXISTS locked (at INTEGER)');
database.exec('INSERT INTO locked VALUES (1)');
process.stdout.write('locked\n');
if (how === 'stop') process.kill(process.pid, 'SIGSTOP');
else await sleep(callerClock, Number(how));
database.exec('COMMIT');
database.close();
process.stdout.write('free\n');
