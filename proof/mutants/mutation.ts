/** What a proof is run by: suites of vitest, the exhaustive model, the lab on its virtual clock, or real processes under faults. */
export type CatcherKind = 'suite' | 'model' | 'lab' | 'chaos';

/** One command that shall notice a fault. */
export interface Catcher {
  readonly kind: CatcherKind;
  /** A test file, or the program of a proof. */
  readonly file: string;
  /** Of a suite: part of a test's name, so that only the tests that matter are run. */
  readonly name?: string;
  /** Of a program: how it is called. */
  readonly args?: readonly string[];
}

/** The promises of design section 1 that are built; P12 comes with webhooks. */
export const promiseIds = ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9', 'P10', 'P11'] as const;

/** One of them. */
export type PromiseId = (typeof promiseIds)[number];

/** Name of a ⚖ rule. */
export type GuardedRule =
  | 'fence'
  | 'lockedRow'
  | 'liveness'
  | 'grants'
  | 'keyFirst'
  | 'handOver'
  | 'ordinals'
  | 'wake'
  | 'latch'
  | 'authHold'
  | 'subscribe';

/**
 * The rules that design sections 4 to 7 mark ⚖: each was broken by a counterexample before it had its form. Two more concern databases
 * that lock rows across connections (the order of row locks, no lock over a round trip): they come with those stores.
 */
export const guardedRules: Readonly<Record<GuardedRule, string>> = {
  fence: 'the fence rises whenever a run loses its right to write, never at a plain close, never resets',
  lockedRow: 'a write decides only on columns of the locked row',
  liveness: 'who lives is decided without clocks',
  grants: 'each grant is started, and at most once',
  keyFirst: 'a recorded key comes before every refusal, and stands for one content',
  handOver: 'a turn that closes while messages wait opens the next one in the same commit, in the place of its closing state',
  ordinals: 'what is applied is skipped, then refused, then checked for a gap',
  wake: 'a wake says no more than "look", and after the commit',
  latch: 'a hint is a latch: registered before the first read, cleared before each read',
  authHold: 'a turn that holds on AUTH_REQUIRED takes messages, whatever the option says',
  subscribe: 'a subscription begins with one moment of the log, or goes on behind its cursor',
};

/** A fault to plant: one rule of the core taken away by one exact change of text. */
export interface Mutation {
  /** Unique, in kebab case. */
  readonly name: string;
  /** What the program does wrong with it. */
  readonly does: string;
  readonly breaks: readonly (PromiseId | GuardedRule)[];
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** In the order in which they are asked; the first one that fails has caught it. */
  readonly caughtBy: readonly Catcher[];
}

/** Tests of a file whose names contain this, or all of them. */
export const suite = (file: string, name?: string): Catcher => ({ kind: 'suite', file, ...(name === undefined ? {} : { name }) });

/** The cases of the store suite on memory. */
export const onMemory = (name: string): Catcher => suite('test/stores/memory.test.ts', name);

/** The cases of the store suite on SQLite. */
export const onSqlite = (name: string): Catcher => suite('test/stores/sqlite.test.ts', name);

/** The rules explored in every order, with none taken away but by the fault. */
export const model: Catcher = { kind: 'model', file: 'test/model/one-task.test.ts', name: 'with all rules every promise holds' };

/** Some seeds of the lab from the first on, one process, to the first violation. */
export const lab: Catcher = { kind: 'lab', file: 'proof/lab.ts', args: ['--seeds', '150', '--jobs', '1', '--bail'] };

/** Each fault once to real processes on SQLite, and no longer than it takes. */
export const chaos: Catcher = { kind: 'chaos', file: 'proof/chaos.ts', args: ['--store', 'sqlite', '--minutes', '0.2', '--seed', '1'] };

/** Places where a text stands in another, overlapping ones too. */
export function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) count += 1;
  return count;
}

/** The text of the file with the fault in it; throws when the source has moved away from the mutation. */
export function plant({ name, file, find, replace }: Mutation, text: string): string {
  const count = countOf(text, find);
  if (count !== 1)
    throw new Error(`mutants: ${name}: its text was expected once in ${file}, it stands there ${count} times. Mend the mutation.`);
  return text.replace(find, () => replace); // a function: the replacement may hold dollar signs
}
