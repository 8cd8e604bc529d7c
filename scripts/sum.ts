// Sums the tallies in a folder, one file for each run; its last line is the sum, its exit code tells whether all is well.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lastWords, readTally, sum } from './tally.ts';

const folder = process.argv[2] ?? '.';
const total = sum(readdirSync(folder).map((name) => readTally(join(folder, name))));
console.log(lastWords(total));
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
