import type { Entry } from '../../log/entry.ts';
import type { TaskRow } from '../../log/store.ts';
import type { Fact } from '../facts.ts';

/** A promise that a history can break (docs/promises.md). P10 and P11 need tests of their own: no history shows them. */
export type PromiseId = 'P1' | 'P2' | 'P3' | 'P4' | 'P5' | 'P6' | 'P7' | 'P8' | 'P9';

/** A promise that was broken, and how. */
export interface Violation {
  readonly promise: PromiseId;
  readonly taskId?: string;
  readonly says: string;
}

/** A task as its store has it once nothing moves any more. */
export interface StoredTask {
  readonly row: TaskRow;
  readonly entries: readonly Entry[];
}

/** What is checked: what clients saw, and what stands in the store. */
export interface Evidence {
  readonly facts: readonly Fact[];
  readonly stored: ReadonlyMap<string, StoredTask>;
}

/** One check: finds what is wrong in the evidence. */
export type Check = (evidence: Evidence) => Iterable<Violation>;

/** The facts of one kind. */
export function factsOf<K extends Fact['kind']>({ facts }: Evidence, kind: K): readonly Extract<Fact, { kind: K }>[] {
  return facts.filter((fact): fact is Extract<Fact, { kind: K }> => fact.kind === kind);
}

/** JSON with its keys in order and without members that say nothing: two values with the same text mean the same on the wire. */
export function canonical(value: unknown): string {
  return JSON.stringify(ordered(value));
}

// ProtoJSON may print a false flag or leave it out (JSON-14)
const FLAGS_WITH_DEFAULT = new Set(['append', 'lastChunk']);

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([key, member]) => member !== undefined && !(member === false && FLAGS_WITH_DEFAULT.has(key)),
  );
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, ordered(member)]));
}

const SHOWN_MAX = 120;

/** Two texts that should be one: the place where they part. */
export function difference(seen: string, stands: string): string {
  let at = 0;
  while (at < seen.length && seen[at] === stands[at]) at++;
  const from = Math.max(0, at - SHOWN_MAX / 2);
  const cut = (text: string): string =>
    (from > 0 ? '…' : '') + text.slice(from, from + SHOWN_MAX) + (text.length > from + SHOWN_MAX ? '…' : '');
  return `${cut(seen)} is not ${cut(stands)}`;
}
