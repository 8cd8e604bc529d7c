import type { Catcher, Mutation } from './mutation.ts';
import type { Tree } from './tree.ts';
import { ask, commandOf, passingTests } from './verdict.ts';

/** What became of one planted fault. */
export interface Catch {
  readonly mutation: Mutation;
  /** Undefined: it survived. */
  readonly caught: { readonly by: Catcher; readonly test: string; readonly ms: number } | undefined;
  /** Why catchers that should have caught it did not. */
  readonly notes: readonly string[];
}

/** Plants faults one after the other and asks who notices. */
export class Hunt {
  /** What passes without any fault: a test that fails then too catches nothing. Each file, and each program, is asked once. */
  readonly #sound = new Map<string, Promise<(by: string) => boolean>>();

  async run(mutation: Mutation, tree: Tree): Promise<Catch> {
    const notes: string[] = [];
    for (const catcher of mutation.caughtBy) {
      const startedAt = performance.now();
      const verdict = await tree.with(mutation, () => ask(catcher, tree.path));
      const ms = performance.now() - startedAt;
      const command = commandOf(catcher);
      if (verdict.kind === 'passed') notes.push(`${command}: passed`);
      else if (verdict.kind === 'broke') notes.push(`${command}: ${verdict.why}`);
      else if ((await this.#soundOf(catcher, tree))(verdict.by)) return { mutation, caught: { by: catcher, test: verdict.by, ms }, notes };
      else notes.push(`${command}: does not pass without the fault either: ${verdict.by}`);
    }
    return { mutation, caught: undefined, notes };
  }

  #soundOf(catcher: Catcher, tree: Tree): Promise<(by: string) => boolean> {
    const isSuite = catcher.kind === 'suite' || catcher.kind === 'model';
    const name = isSuite ? catcher.file : commandOf(catcher);
    const known = this.#sound.get(name) ?? (isSuite ? soundTests(catcher, tree) : soundProgram(catcher, tree));
    this.#sound.set(name, known);
    return known;
  }
}

async function soundTests({ file }: Catcher, tree: Tree): Promise<(by: string) => boolean> {
  const passing = await passingTests(file, tree.path);
  return (by) => passing.has(by);
}

async function soundProgram(catcher: Catcher, tree: Tree): Promise<() => boolean> {
  const { kind } = await ask(catcher, tree.path);
  return () => kind === 'passed';
}
