// npm run lab: many seeds of the lab, on all cores. Ends with 0 only if no seed broke a promise and everything was reached.
import { LAB_USAGE, LabUsageError, parseLabOptions } from './lab/options.ts';
import { report } from './lab/report.ts';
import { playAll } from './lab/team.ts';

try {
  const options = parseLabOptions(process.argv.slice(2));
  if (options) process.exitCode = report(await playAll(options), options);
  else console.log(LAB_USAGE);
} catch (error) {
  if (!(error instanceof LabUsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
