import type { Catcher, Mutation } from './mutation.ts';
import type { Tree } from './tree.ts';
import type { Verdict } from './verdict.ts';
import { ask, commandOf } from './verdict.ts';

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
  /** A catcher that fails without any fault catches nothing; each is asked once, when it first claims to have caught one. */
  readonly #baselines = new Map<string, Promise<Verdict>>();

  async run(mutation: Mutation, tree: Tree): Promise<Catch> {
    const notes: string[] = [];
    for (const catcher of mutation.caughtBy) {
      const startedAt = performance.now();
      const verdict = await tree.with(mutation, () => ask(catcher, tree.path));
      const ms = performance.now() - startedAt;
      const command = commandOf(catcher);
      if (verdict.kind === 'passed') notes.push(`${command}: passed`);
      else if (verdict.kind === 'broke') notes.push(`${command}: ${verdict.why}`);
      else {
        const baseline = await this.#baseline(catcher, tree);
        if (baseline.kind === 'passed') return { mutation, caught: { by: catcher, test: verdict.by, ms }, notes };
        notes.push(`${command}: does not pass without the fault either: ${baseline.kind === 'failed' ? baseline.by : baseline.why}`);
      }
    }
    return { mutation, caught: undefined, notes };
  }

  #baseline(catcher: Catcher, tree: Tree): Promise<Verdict> {
    const command = commandOf(catcher);
    const known = this.#baselines.get(command) ?? ask(catcher, tree.path);
    this.#baselines.set(command, known);
    return known;
  }
}
