import type { StoreSource } from '../log/store.ts';
import { acceptCases } from './store-suite/accept-cases.ts';
import { appendCases } from './store-suite/append-cases.ts';
import { StoreBench } from './store-suite/bench.ts';
import { livingCases } from './store-suite/living-cases.ts';
import { readCases } from './store-suite/read-cases.ts';
import { settleCases } from './store-suite/settle-cases.ts';
import type { SuiteCase, SuiteRunner } from './suite-runner.ts';
import { suiteRunner } from './suite-runner.ts';

/** All that a store must do, as cases for a runner of any kind. */
export const storeCases: readonly SuiteCase<StoreBench>[] = [...acceptCases, ...appendCases, ...settleCases, ...livingCases, ...readCases];

/**
 * Proves a store: every verb, every rule of design section 4, with two stores on one set of data. `open` gives a source with fresh data,
 * anew for each case. `runner` may be left out where the test runner's `describe` and `test` are globals.
 */
export function storeSuite(name: string, open: () => StoreSource | Promise<StoreSource>, runner?: SuiteRunner): void {
  const { describe, test } = suiteRunner(runner);
  describe(`${name} keeps the log`, () => {
    for (const one of storeCases) test(one.name, async () => runCase(one, await open()));
  });
}

async function runCase(one: SuiteCase<StoreBench>, source: StoreSource): Promise<void> {
  const bench = await StoreBench.open(source);
  let isFailed = true;
  try {
    await one.run(bench);
    isFailed = false;
  } finally {
    await bench.close({ isFailed });
  }
}
