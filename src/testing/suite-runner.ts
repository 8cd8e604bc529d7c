/** The two functions of a test runner that a suite needs: vitest, jest, mocha and node:test all have them. */
export interface SuiteRunner {
  readonly describe: (name: string, body: () => void) => void;
  readonly test: (name: string, body: () => Promise<void>) => void;
}

/** One test of a suite: a sentence about behaviour and what shows it. */
export interface SuiteCase<Bench> {
  readonly name: string;
  run(bench: Bench): Promise<void>;
}

/** The runner given, or the globals of the one that runs this file. */
export function suiteRunner(given?: SuiteRunner): SuiteRunner {
  if (given !== undefined) return given;
  const { describe, test, it } = globalThis as unknown as Partial<Record<'describe' | 'test' | 'it', unknown>>; // checked in the next lines
  const run = test ?? it;
  if (typeof describe !== 'function' || typeof run !== 'function')
    throw new TypeError('No test runner: pass { describe, test } as the last argument, or turn on the runner’s globals.');
  return { describe: describe as SuiteRunner['describe'], test: run as SuiteRunner['test'] }; // the shape all runners share
}
