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
export const CATCH_MS_MAX = 60_000;

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
  const reportFile = join(tree, 'report.json');
  rmSync(reportFile, { force: true });
  const filter = name === undefined ? [] : ['-t', name.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')];
  const args = ['node_modules/vitest/vitest.mjs', 'run', file, ...filter, '--bail=1', '--reporter=json', `--outputFile=${reportFile}`];
  const ended = await runNode(args, { cwd: tree, msMax: CATCH_MS_MAX });
  const report = ended.isLate ? undefined : readReport(reportFile);
  if (report === undefined) return broke(ended);
  const failed = report.testResults.flatMap(({ assertionResults }) => assertionResults).find(({ status }) => status === 'failed');
  if (failed !== undefined) return { kind: 'failed', by: failed.fullName };
  if (ended.code === 0 && report.numPassedTests > 0) return { kind: 'passed' };
  // a file that could not be loaded has no test that failed; a filter that meets no test has none that passed
  const message = report.testResults.find((one) => one.message !== '')?.message;
  return { kind: 'broke', why: message ?? (ended.code === 0 ? 'no test has this name' : ended.output) };
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report; // the form of vitest's own reporter
  } catch {
    return undefined; // it broke off before it wrote one
  }
}

/** Exit status 1 and the word "violation" are how lab and chaos say that a promise was broken; anything else is an accident of their own. */
async function askProgram({ file, args = [] }: Catcher, tree: string): Promise<Verdict> {
  const ended = await runNode(['--import', 'tsx', file, ...args], { cwd: tree, msMax: CATCH_MS_MAX });
  if (ended.code === 0) return { kind: 'passed' };
  const line = ended.output.split('\n').find((one) => /violat/i.test(one) && !/\b0 violations/.test(one));
  if (ended.code === 1 && line !== undefined) return { kind: 'failed', by: line.trim().slice(0, 200) };
  return broke(ended);
}

function broke({ isLate, code, output }: Ended): Verdict {
  const why = isLate ? `it took longer than ${CATCH_MS_MAX} ms` : `it ended with ${code ?? 'a signal'}`;
  return { kind: 'broke', why: `${why}: ${output.slice(-1_000)}` };
}
