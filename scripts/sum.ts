// Sums the tallies of several runs (files named as arguments); its last line is the sum, its exit code tells whether all is well.
import { lastLine, readTally, sum } from './tally.ts';

const total = sum(process.argv.slice(2).map(readTally));
for (const [service, count] of Object.entries(total.missing)) console.log(`SKIPPED for lack of ${service}: ${count} tests`);
console.log(lastLine(total));
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
