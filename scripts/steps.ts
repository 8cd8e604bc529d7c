import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastWords, oneStep, readTally, sum } from './tally.ts';
import type { Tally } from './tally.ts';

/** One suite: prints as it goes, ends in a tally. */
export interface Step {
  readonly name: string;
  run(): Promise<Tally>;
}

/** Runs a program with the terminal as its output; resolves with its exit code, a signal counts as 1. */
export function runProgram(file: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

const tool = (name: string): string => join('node_modules', '.bin', name);

/** A tool of node_modules that is right (exit code 0) or wrong as a whole. */
export function toolStep(name: string, command: string, ...args: readonly string[]): Step {
  return { name, run: async () => oneStep(name, (await runProgram(tool(command), args)) === 0) };
}

/** A program of ours that is right (exit code 0) or wrong as a whole. */
export function programStep(name: string, ...args: readonly string[]): Step {
  return { name, run: async () => oneStep(name, (await runProgram(process.execPath, ['--import', 'tsx', ...args])) === 0) };
}

/** What `npm run check` looks at before it runs any test. */
export const stillSteps: readonly Step[] = [
  toolStep('format', 'oxfmt', '--check', '.'),
  toolStep('lint', 'oxlint', '--deny-warnings', '--report-unused-disable-directives'),
  toolStep('types', 'tsc', '-p', '.'),
];

/** A vitest run: the node that runs this script runs the tests too, whatever is first in PATH. */
export function vitestStep(name: string, ...args: readonly string[]): Step {
  return {
    name,
    async run() {
      const folder = mkdtempSync(join(tmpdir(), 'chorus-tally-'));
      const file = join(folder, 'tally.json');
      const reporters = ['--reporter=default', '--reporter=./scripts/tally-reporter.ts'];
      try {
        const command = ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args];
        const code = await runProgram(process.execPath, command, { ...process.env, CHORUS_TALLY_FILE: file });
        const tally = readTally(file);
        // vitest may fail for reasons outside any test: no test found, a worker that never ended
        return code !== 0 && tally.failed === 0 ? sum([tally, oneStep(`${name}: the run itself`, false)]) : tally;
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Runs all steps, also after a failed one, and ends with what was left out, what failed, and the sum. */
export async function runSteps(steps: readonly Step[]): Promise<void> {
  const tallies: Tally[] = [];
  for (const step of steps) {
    console.log(`\n— ${step.name}`);
    tallies.push(await step.run());
  }
  const total = sum(tallies);
  const out = process.env['CHORUS_TALLY_OUT'];
  if (out !== undefined) writeFileSync(out, JSON.stringify(total));
  console.log(lastWords(total));
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
}
