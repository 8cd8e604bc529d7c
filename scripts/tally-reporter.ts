import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';
import type { Tally } from './tally.ts';

// test/house/needs.ts writes this into the names of tests whose service is not there
const NEEDS = /\[needs ([^\]]+)\]/;

/** The message of an error, on one line and not too long for the end of a log. */
const told = (error: { readonly message?: string } | undefined): string => (error?.message ?? '').replaceAll(/\s+/g, ' ').slice(0, 300);

function count(modules: readonly TestModule[], broken: readonly { readonly message?: string }[]): Tally {
  const failures: string[] = broken.map(told);
  const tally = { passed: 0, failed: broken.length, skipped: 0, missing: {} as Record<string, number>, failures }; // filled below
  for (const module of modules) {
    for (const error of module.errors()) {
      tally.failed++;
      failures.push(`${module.relativeModuleId}: ${told(error)}`);
    }
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      // a test still pending at the end was cut off: nobody knows that it is right
      tally[state === 'pending' ? 'failed' : state]++;
      if (state === 'failed' || state === 'pending') failures.push(`${module.relativeModuleId} > ${test.fullName}: ${told(errors?.[0])}`);
      const service = state === 'skipped' ? NEEDS.exec(test.fullName)?.[1] : undefined;
      if (service !== undefined) tally.missing[service] = (tally.missing[service] ?? 0) + 1;
    }
  }
  return tally;
}

/** Leaves the counts of a vitest run in the file named by CHORUS_TALLY_FILE. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly { readonly message?: string }[], _reason: TestRunEndReason): void {
    const file = process.env['CHORUS_TALLY_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(count(modules, errors)));
  }
}
