import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** How many tests of a suite ended how; `missing` counts the skips for lack of a service, by its name; `failures` says what failed and how. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly missing: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** A step that is right or wrong as a whole, such as the formatter. */
export const oneStep = (name: string, isRight: boolean): Tally => ({
  passed: isRight ? 1 : 0,
  failed: isRight ? 0 : 1,
  skipped: 0,
  missing: {},
  failures: isRight ? [] : [name],
});

/** Sums tallies of several suites or runs. */
export function sum(tallies: readonly Tally[]): Tally {
  const missing: Record<string, number> = {};
  for (const tally of tallies) for (const [name, count] of Object.entries(tally.missing)) missing[name] = (missing[name] ?? 0) + count;
  const total = (key: 'passed' | 'failed' | 'skipped'): number => tallies.reduce((all, tally) => all + tally[key], 0);
  return {
    passed: total('passed'),
    failed: total('failed'),
    skipped: total('skipped'),
    missing,
    failures: tallies.flatMap(({ failures }) => failures),
  };
}

/** What every run ends with: what was left out and what failed, because the log above is long and may be cut; the sum is the last line. */
export function lastWords({ passed, failed, skipped, missing, failures }: Tally): string {
  const skips = Object.entries(missing).map(([service, count]) => `SKIPPED for lack of ${service}: ${count} tests`);
  const falls = failures.map((failure) => `FAILED: ${failure}`);
  return ['', ...skips, ...falls, `${passed} passed, ${failed} failed, ${skipped} skipped`].join('\n');
}

/** Reads a tally that a reporter or a run left behind; a suite that broke off before leaving one counts as one failure. */
export function readTally(file: string): Tally {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return oneStep(`${basename(file)}: broke off before its end`, false); // the suite died before its end: that is the failure
  }
  return text === '' ? oneStep(`${basename(file)}: broke off before its end`, false) : (JSON.parse(text) as Tally); // only our own reporter and scripts write these files
}
