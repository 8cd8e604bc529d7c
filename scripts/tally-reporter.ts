import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';
import type { Tally } from './tally.ts';

// test/house/needs.ts writes this into the names of tests whose service is not there
const NEEDS = /\[needs ([^\]]+)\]/;

function count(modules: readonly TestModule[], brokenCount: number): Tally {
  const tally = { passed: 0, failed: brokenCount, skipped: 0, missing: {} as Record<string, number> }; // filled below
  for (const module of modules) {
    tally.failed += module.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      // a test still pending at the end was cut off: nobody knows that it is right
      tally[state === 'pending' ? 'failed' : state]++;
      const service = state === 'skipped' ? NEEDS.exec(test.fullName)?.[1] : undefined;
      if (service !== undefined) tally.missing[service] = (tally.missing[service] ?? 0) + 1;
    }
  }
  return tally;
}

/** Leaves the counts of a vitest run in the file named by CHORUS_TALLY_FILE. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], _reason: TestRunEndReason): void {
    const file = process.env['CHORUS_TALLY_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(count(modules, errors.length)));
  }
}
