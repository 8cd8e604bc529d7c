import { parseArgs } from 'node:util';
import type { CatcherKind, Mutation } from './mutation.ts';
import { seeded, shuffled } from '../chance.ts';

/** How the proof is called. */
export interface HuntOptions {
  readonly chosen: readonly Mutation[];
  /** Of a random choice: the same seed chooses the same faults. */
  readonly seed: number | undefined;
  readonly jobs: number;
  /** Only catchers of this kind are asked, about the faults that have some. */
  readonly by: CatcherKind | undefined;
  readonly isWriting: boolean;
}

/** What is said to whoever calls it wrongly. */
export class UsageError extends Error {}

const USAGE = 'npm run proof:mutants -- [--sample K [--seed S]] [--only NAME]… [--by suite|model|lab|chaos] [--jobs 1|2] [--write]';

const KINDS: readonly CatcherKind[] = ['suite', 'model', 'lab', 'chaos'];

/** Reads the command line and chooses the faults. */
export function readOptions(args: readonly string[], mutations: readonly Mutation[]): HuntOptions {
  const { sample, seed, only, by, jobs, write } = flagsOf(args);
  const kind = KINDS.find((one) => one === by);
  if (by !== undefined && kind === undefined) throw new UsageError(`--by ${by}: one of ${KINDS.join(', ')} was expected.`);
  const asked = kind === undefined ? mutations : mutations.flatMap((mutation) => askedBy(mutation, kind));
  const named = only.length === 0 ? asked : only.map((name) => byName(asked, name));
  if (write && sample !== undefined) throw new UsageError('--write tells of chosen faults, not of drawn ones: leave --sample out.');
  if (sample === undefined) return { chosen: named, seed: undefined, jobs, by: kind, isWriting: write };
  const drawn = seed ?? Math.floor(performance.timeOrigin + performance.now()) % 1_000_000;
  return { chosen: shuffled(seeded(drawn), named).slice(0, sample), seed: drawn, jobs, by: kind, isWriting: false };
}

function flagsOf(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        sample: { type: 'string' },
        seed: { type: 'string' },
        only: { type: 'string', multiple: true },
        by: { type: 'string' },
        jobs: { type: 'string' },
        write: { type: 'boolean' },
      },
    });
    return {
      sample: countOf('sample', values.sample, 1),
      seed: countOf('seed', values.seed, 0),
      only: values.only ?? [],
      by: values.by,
      jobs: Math.min(2, countOf('jobs', values.jobs, 1) ?? 2),
      write: values.write ?? false,
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

function countOf(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < least)
    throw new UsageError(`--${name} ${text}: a whole number of at least ${least} was expected.\n${USAGE}`);
  return count;
}

/** The mutation asked by catchers of one kind alone, if it has any. */
function askedBy(mutation: Mutation, kind: CatcherKind): readonly Mutation[] {
  const caughtBy = mutation.caughtBy.filter((catcher) => catcher.kind === kind);
  return caughtBy.length === 0 ? [] : [{ ...mutation, caughtBy }];
}

function byName(mutations: readonly Mutation[], name: string): Mutation {
  const found = mutations.find((mutation) => mutation.name === name);
  if (found === undefined) throw new UsageError(`--only ${name}: there is no such fault. ${mutations.map((one) => one.name).join(', ')}`);
  return found;
}
