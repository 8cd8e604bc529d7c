// npm run proof:mutants: plants faults in copies of the sources and asks who notices
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tally } from '../../scripts/tally.ts';
import type { Catch } from './hunt.ts';
import { Hunt } from './hunt.ts';
import type { CatcherKind, Mutation } from './mutation.ts';
import { mutations } from './mutations.ts';
import type { HuntOptions } from './options.ts';
import { readOptions, UsageError } from './options.ts';
import { chapterIn, chapterOf, DOCUMENT, headingOf, lineOf, withChapter } from './report.ts';
import { Tree } from './tree.ts';
import { typeErrors } from './types.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

try {
  process.exitCode = await prove(readOptions(process.argv.slice(2), mutations));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

async function prove({ chosen, seed, jobs, by, isWriting }: HuntOptions): Promise<number> {
  if (seed !== undefined) console.log(`seed ${seed}: ${chosen.map(({ name }) => name).join(', ')}`);
  const trees = Array.from({ length: Math.min(jobs, chosen.length) }, () => new Tree(root));
  const remove = (): void => trees.forEach((tree) => tree[Symbol.dispose]());
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const catches = await huntAll(chosen, trees);
  const survived = catches.filter(({ caught }) => caught === undefined);
  if (isWriting && survived.length === 0) write(catches, by);
  leaveTally(catches);
  if (survived.length > 0) console.log(`\n${survived.map(lineOf).join('\n')}`);
  console.log(`${catches.length} mutants, ${catches.length - survived.length} caught, ${survived.length} survived`);
  return survived.length === 0 && catches.length > 0 ? 0 : 1;
}

/** A tree each, the next fault for whoever is free; in the order of the list afterwards. */
async function huntAll(chosen: readonly Mutation[], trees: readonly Tree[]): Promise<readonly Catch[]> {
  const [first] = trees;
  const wrong = first === undefined ? new Map<string, string>() : await typeErrors(first.path, chosen);
  const hunt = new Hunt();
  const catches = new Map<string, Catch>();
  const waiting = [...chosen];
  const work = async (tree: Tree): Promise<void> => {
    for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
      const error = wrong.get(mutation.name);
      const one =
        error === undefined ? await hunt.run(mutation, tree) : { mutation, caught: undefined, notes: [`does not compile: ${error}`] };
      catches.set(mutation.name, one);
      console.log(lineOf(one));
    }
  };
  await Promise.all(trees.map(work));
  return chosen.flatMap(({ name }) => catches.get(name) ?? []);
}

/** For `.ci/run`, which sums all that it runs. */
function leaveTally(catches: readonly Catch[]): void {
  const out = process.env['CHORUS_TALLY_OUT'];
  if (out === undefined) return;
  const failures = catches.filter(({ caught }) => caught === undefined).map(lineOf);
  const tally: Tally = { passed: catches.length - failures.length, failed: failures.length, skipped: 0, missing: {}, failures };
  writeFileSync(out, JSON.stringify(tally));
}

/** A run of some faults renews their rows, a run of all of them the chapter. */
function write(catches: readonly Catch[], by: CatcherKind | undefined): void {
  const path = join(root, DOCUMENT);
  const document = existsSync(path) ? readFileSync(path, 'utf8') : '# Proof\n';
  const names = mutations.map(({ name }) => name);
  writeFileSync(path, withChapter(document, chapterOf(names, { catches, by, before: chapterIn(document, headingOf(by)) })));
  console.log(`${DOCUMENT} is written`);
}
