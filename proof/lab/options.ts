import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

/** Which store a seed runs on; by itself every tenth is on SQLite. */
export type LabStore = 'memory' | 'sqlite';

/** What a run is told. */
export interface LabRun {
  readonly first: number;
  readonly seeds: number;
  readonly store: LabStore | undefined;
  readonly jobs: number;
  /** Ends at the first violation. */
  readonly isBailing: boolean;
}

/** The command line makes no sense: one line says why. */
export class LabUsageError extends Error {
  override readonly name = 'LabUsageError';
}

/** What `--help` prints. */
export const LAB_USAGE: string = `npm run lab -- [--seeds N] [--seed FIRST] [--store memory|sqlite] [--jobs N] [--bail]

  Plays seeds of the lab: three replicas in one process, on a clock of their own, with every fault there is, judged by what clients saw.
  Ends with 0 only if no promise was broken; from 200 seeds on also only if everything was reached that is to be shown.

  --seeds  how many: 2,000 unless given, 1 with --seed
  --seed   the first one; alone it replays one seed and prints its trace
  --store  memory or sqlite; every tenth seed is on SQLite unless given
  --jobs   processes at once: one for each core unless given
  --bail   ends at the first violation`;

const SEEDS = 2_000;
const text = { type: 'string' } as const;
const yes = { type: 'boolean' } as const;
const flags = { seeds: text, seed: text, store: text, jobs: text, bail: yes, help: yes } as const;

/** Reads a command line; undefined if it asks for help. Throws LabUsageError. */
export function parseLabOptions(args: readonly string[]): LabRun | undefined {
  const values = valuesOf(args);
  if (values.help) return undefined;
  const { store } = values;
  if (store !== undefined && store !== 'memory' && store !== 'sqlite')
    throw new LabUsageError(`--store: memory or sqlite was expected, ${store} came`);
  const seeds = numberOf('seeds', values.seeds) ?? (values.seed === undefined ? SEEDS : 1);
  const jobs = Math.min(numberOf('jobs', values.jobs) ?? availableParallelism(), Math.ceil(seeds / 2));
  return { first: numberOf('seed', values.seed) ?? 1, seeds, store, jobs, isBailing: values.bail ?? false };
}

function valuesOf(args: readonly string[]): ReturnType<typeof parse> {
  try {
    return parse(args);
  } catch (error) {
    throw new LabUsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function parse(args: readonly string[]): {
  seeds?: string;
  seed?: string;
  store?: string;
  jobs?: string;
  bail?: boolean;
  help?: boolean;
} {
  return parseArgs({ args: [...args], options: flags }).values;
}

function numberOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value) || Number(value) < 1)
    throw new LabUsageError(`--${name}: a whole number above 0 was expected, ${value} came`);
  return Number(value);
}
