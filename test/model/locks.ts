import type { Model, Step } from './explore.ts';
import { replaced } from './one-task.ts';

// Group commit on a database with row locks. Two processes write the same two tasks, each in its own order, and both the same key under one of
// them. The SQLite and memory stores have one writer at a time and no row locks: this model is for the stores that will have them.

/** How a group takes its locks. */
export interface LockRules {
  /** Rows in the order of their ids; else as the verbs came. */
  readonly inOrder: boolean;
  /** A row that another group has is skipped, and goes alone next; else the group waits for it with what it holds. */
  readonly skips: boolean;
  /** Both lock task rows first; else the first process locks the key before them, as an insert of its own would. */
  readonly rowsFirst: boolean;
  /** Locks, decision and write are one statement, which the database carries out whatever becomes of the client. */
  readonly oneStatement: boolean;
}

/** With all rules. */
export const lockRules: LockRules = { inOrder: true, skips: true, rowsFirst: true, oneStatement: true };

/** What one process does at present: a group, then what it skipped, each alone. */
interface Writer {
  readonly toLock: readonly string[];
  readonly held: readonly string[];
  /** Rows that go alone, next. */
  readonly later: readonly string[];
  readonly at: 'idle' | 'group' | 'alone' | 'done';
  readonly isStopped: boolean;
}

interface Locks {
  readonly writers: readonly Writer[];
  readonly stops: number;
}

const KEY = 'the key';
const asked: readonly (readonly string[])[] = [
  ['task 1', 'task 2'],
  ['task 2', 'task 1'],
];
const name = (at: number): string => 'AB'[at] ?? '?';

/** The model of two groups that meet. */
export function locksModel(rules: LockRules, stops: number): Model<Locks> {
  return {
    first: { writers: asked.map(() => ({ toLock: [], held: [], later: [], at: 'idle', isStopped: false })), stops },
    steps: (locks) => stepsOf(rules, locks),
    broken: () => undefined,
    unfinished,
  };
}

function* stepsOf(rules: LockRules, locks: Locks): Generator<Step<Locks>> {
  for (const [at, writer] of locks.writers.entries()) {
    const changed = (change: Partial<Writer>): Locks => ({ ...locks, writers: replaced(locks.writers, at, { ...writer, ...change }) });
    if (locks.stops > 0 && !writer.isStopped && writer.at !== 'done')
      yield { label: `STOP the client of ${name(at)}`, isFault: true, to: { ...changed({ isStopped: true }), stops: locks.stops - 1 } };
    // what a client has to say in the middle, a stopped one does not say; a statement that runs is the database's
    if (writer.isStopped && (writer.at === 'idle' || !rules.oneStatement)) continue;
    if (writer.at === 'idle')
      yield { label: `${name(at)}: begins its group`, to: changed({ at: 'group', toLock: planOf(rules, at, asked[at] ?? []) }) };
    else if (writer.at !== 'done') yield* lockSteps(rules, locks, at, changed);
  }
}

function planOf({ inOrder, rowsFirst }: LockRules, at: number, rows: readonly string[]): readonly string[] {
  const ordered = inOrder ? rows.toSorted() : rows;
  return !rowsFirst && at === 0 ? [KEY, ...ordered] : [...ordered, KEY];
}

function* lockSteps(rules: LockRules, locks: Locks, at: number, changed: (change: Partial<Writer>) => Locks): Generator<Step<Locks>> {
  const writer = locks.writers[at];
  if (writer === undefined) return;
  const [next, ...rest] = writer.toLock;
  if (next === undefined) {
    yield { label: `${name(at)}: commits ${writer.held.join(', ')}`, to: changed(afterCommit(rules, at, writer)) };
    return;
  }
  const isTaken = locks.writers.some(({ held }, other) => other !== at && held.includes(next));
  if (!isTaken) yield { label: `${name(at)}: locks ${next}`, to: changed({ toLock: rest, held: [...writer.held, next] }) };
  else if (rules.skips && writer.at === 'group' && next !== KEY)
    yield { label: `${name(at)}: skips ${next}`, to: changed({ toLock: rest, later: [...writer.later, next] }) };
}

function afterCommit(rules: LockRules, at: number, { later, isStopped }: Writer): Partial<Writer> {
  const [alone, ...others] = later;
  if (alone === undefined || isStopped) return { at: 'done', held: [], later: [] };
  return { at: 'alone', toLock: planOf(rules, at, [alone]), held: [], later: others };
}

function unfinished({ writers }: Locks): string | undefined {
  const waits = writers.some(({ at, isStopped }) => at !== 'done' && !isStopped);
  if (!waits) return undefined;
  return writers.some(({ isStopped, held }) => isStopped && held.length > 0)
    ? 'P11: a client that is stopped keeps its tasks locked for everybody'
    : 'P11: two groups wait for each other for ever';
}
