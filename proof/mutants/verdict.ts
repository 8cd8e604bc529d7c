import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Catcher } from './mutation.ts';
import type { Ended } from './program.ts';
import { runNode } from './program.ts';

/** What a catcher said of the tree as it stands. `broke`: it neither passed nor failed, so it says nothing. */
export type Verdict =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly by: string }
  | { readonly kind: 'broke'; readonly why: string };

/** "Within a minute" (issue 4): whatever takes longer has not caught anything. */
const CATCH_MS_MAX = 60_000;

/** A test that a fault keeps waiting fails in time to count; one that is so slow without a fault counts for nothing. */
const TEST_MS_MAX = 20_000;

/** What whole files may take without a fault, and programs that are asked alone; on a quiet machine they need a fifth of it. */
const WHOLE_MS_MAX = 400_000;

/** How much is told of what a program found. */
const SAID_LENGTH_MAX = 200;

/** Asks a catcher about a tree. */
export function ask(catcher: Catcher, tree: string): Promise<Verdict> {
  return catcher.kind === 'suite' || catcher.kind === 'model' ? askSuite(catcher, tree) : askProgram(catcher, tree);
}

/** How a person would call it. */
export function commandOf({ kind, file, name, args = [] }: Catcher): string {
  if (kind === 'suite' || kind === 'model') return name === undefined ? file : `${file}: ${name}`;
  return ['node --import tsx', file, ...args].join(' ');
}

/** As far as it is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

async function askSuite({ file, name }: Catcher, tree: string): Promise<Verdict> {
  const filter = name === undefined ? [] : ['-t', name.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')];
  const { report, ended } = await runSuite(file, { tree, args: [...filter, '--bail=1'], msMax: CATCH_MS_MAX });
  if (report === undefined) return broke(ended, CATCH_MS_MAX);
  const failed = testsOf(report).find(({ status }) => status === 'failed');
  if (failed !== undefined) return { kind: 'failed', by: failed.fullName };
  if (ended.code === 0 && report.numPassedTests > 0) return { kind: 'passed' };
  // a file that could not be loaded has no test that failed; a filter that meets no test has none that passed
  const message = report.testResults.find((one) => one.message !== '')?.message;
  return { kind: 'broke', why: message ?? (ended.code === 0 ? 'no test has this name' : ended.output) };
}

/** The full names of the tests of a file that pass in a tree. */
export async function passingTests(file: string, tree: string): Promise<ReadonlySet<string>> {
  const { report } = await runSuite(file, { tree, args: [], msMax: WHOLE_MS_MAX });
  const tests = report === undefined ? [] : testsOf(report);
  return new Set(tests.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName));
}

async function runSuite(
  file: string,
  { tree, args, msMax }: { readonly tree: string; readonly args: readonly string[]; readonly msMax: number },
): Promise<{ readonly report: Report | undefined; readonly ended: Ended }> {
  const reportFile = join(tree, 'report.json');
  rmSync(reportFile, { force: true });
  const options = [...args, `--testTimeout=${TEST_MS_MAX}`, '--reporter=json', `--outputFile=${reportFile}`];
  const ended = await runNode(['node_modules/vitest/vitest.mjs', 'run', file, ...options], { cwd: tree, msMax });
  return { report: ended.isLate ? undefined : readReport(reportFile), ended };
}

const testsOf = ({ testResults }: Report): readonly { readonly status: string; readonly fullName: string }[] =>
  testResults.flatMap(({ assertionResults }) => assertionResults);

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report; // the form of vitest's own reporter
  } catch {
    return undefined; // it broke off before it wrote one
  }
}

/**
 * Lab and chaos say how many violations they found. Nothing else counts here: that a short run did not reach every rule is no word about
 * the fault, and neither is an accident of their own.
 */
async function askProgram({ file, args = [] }: Catcher, tree: string): Promise<Verdict> {
  const ended = await runNode(['--import', 'tsx', file, ...args], { cwd: tree, msMax: WHOLE_MS_MAX });
  const lines = ended.output.split('\n');
  const count = lines.findLast((line) => /\b[1-9]\d* violations?\b/.test(line));
  const first = lines.find((line) => /^(?:violation of|\s+P\d+ )/.test(line));
  if (ended.code === 1 && count !== undefined) return { kind: 'failed', by: (first ?? count).trim().slice(0, SAID_LENGTH_MAX) };
  const isWhole = ended.code === 0 || (ended.code === 1 && lines.some((line) => /\b(?:0|no) violations?\b/.test(line)));
  return isWhole ? { kind: 'passed' } : broke(ended, WHOLE_MS_MAX);
}

function broke({ isLate, code, output }: Ended, msMax: number): Verdict {
  const why = isLate ? `it took longer than ${msMax} ms` : `it ended with ${code ?? 'a signal'}`;
  return { kind: 'broke', why: `${why}: ${output.slice(-1_000)}` };
}
