import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutation } from './mutation.ts';
import { plant } from './mutation.ts';
import { run } from './program.ts';

const TSC_MS_MAX = 180_000;

/**
 * What the compiler has against each mutation, by its name: a fault that it finds is none that a test has to catch. Each mutated file stands
 * beside its original under a name of its own, so that one run of the compiler sees all of them.
 */
export async function typeErrors(tree: string, mutations: readonly Mutation[]): Promise<ReadonlyMap<string, string>> {
  const made = mutations.map((mutation, index) => {
    const beside = mutation.file.replace(/\.ts$/, `--mutant-${index}.ts`);
    writeFileSync(join(tree, beside), plant(mutation, readFileSync(join(tree, mutation.file), 'utf8')));
    return { mutation, beside };
  });
  try {
    // what a fault no longer uses is no error of it
    const options = ['-p', '.', '--noUnusedLocals', 'false', '--noUnusedParameters', 'false', '--pretty', 'false'];
    const { output, isLate } = await run(join(tree, 'node_modules/.bin/tsc'), options, { cwd: tree, msMax: TSC_MS_MAX });
    if (isLate) throw new Error(`mutants: the compiler took longer than ${TSC_MS_MAX} ms`);
    const lines = output.split('\n');
    return new Map(
      made.flatMap(({ mutation, beside }) => {
        const line = lines.find((one) => one.startsWith(`${beside}(`));
        return line === undefined ? [] : [[mutation.name, line] as const];
      }),
    );
  } finally {
    for (const { beside } of made) rmSync(join(tree, beside), { force: true });
  }
}
