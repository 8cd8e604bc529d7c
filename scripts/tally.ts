import { readFileSync } from 'node:fs';

/** How many tests of a suite ended how; `missing` counts the skips for lack of a service, by its name. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly missing: Readonly<Record<string, number>>;
}

/** A step that is right or wrong as a whole, such as the formatter. */
export const oneStep = (isRight: boolean): Tally => ({ passed: isRight ? 1 : 0, failed: isRight ? 0 : 1, skipped: 0, missing: {} });

/** Sums tallies of several suites or runs. */
export function sum(tallies: readonly Tally[]): Tally {
  const missing: Record<string, number> = {};
  for (const tally of tallies) for (const [name, count] of Object.entries(tally.missing)) missing[name] = (missing[name] ?? 0) + count;
  const total = (key: 'passed' | 'failed' | 'skipped'): number => tallies.reduce((all, tally) => all + tally[key], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped'), missing };
}

/** The line every run ends with. */
export const lastLine = (tally: Tally): string => `${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`;

/** Reads a tally that a reporter or a run left behind; a suite that broke off before leaving one counts as one failure. */
export function readTally(file: string): Tally {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return oneStep(false); // the suite died before its end: that is the failure
  }
  return text === '' ? oneStep(false) : (JSON.parse(text) as Tally); // only our own reporter and scripts write these files
}
