import { parseArgs } from 'node:util';
import type { SmallDisk } from './disk.ts';
import { chaosStores } from './store.ts';
import type { ChaosStore } from './store.ts';

/** What a run is told. */
export interface ChaosOptions {
  readonly store: ChaosStore;
  /** How long faults go on; a run of so many cycles has no such time. */
  readonly minutes: number | undefined;
  /** How many kills to make. */
  readonly cycles: number | undefined;
  readonly replicas: number;
  readonly seed: number;
  /** What is used as a disk that becomes full; the best that this process may have if absent. */
  readonly disk: SmallDisk['kind'] | undefined;
}

/** The command line makes no sense: one line says why. */
export class ChaosUsageError extends Error {
  override readonly name = 'ChaosUsageError';
}

/** What `--help` prints. */
export const CHAOS_USAGE: string = `npm run chaos -- [--store sqlite] [--minutes M | --cycles K] [--replicas N] [--seed S] [--disk tmpfs|limit]

  Kills, stops, drains and starves replicas under load, and holds all that anybody saw against the logs.
  Ends with 0 only if no promise was broken and every fault and every rule was reached.

  --store     the store that replicas share: ${chaosStores.map(({ name }) => name).join(', ')}
  --minutes   how long faults go on: 1 unless given
  --cycles    so many kills, in place of minutes
  --replicas  how many processes: 3 unless given; for every two of them one fault at a time
  --seed      a number that repeats the order of faults and of what users do, though not the moments
  --disk      what is filled up: a small tmpfs, or a limit on the size of files where none may be mounted`;

const REPLICAS_MIN = 3;

/** Reads a command line; undefined if it asks for help. Throws ChaosUsageError. */
export function parseChaosOptions(args: readonly string[], freshSeed: number): ChaosOptions | undefined {
  const values = valuesOf(args);
  if (values.help) return undefined;
  const store = chaosStores.find(({ name }) => name === (values.store ?? 'sqlite'));
  if (!store) throw new ChaosUsageError(`--store: ${chaosStores.map(({ name }) => name).join(' or ')} was expected, ${values.store} came`);
  const { disk } = values;
  if (disk !== undefined && disk !== 'tmpfs' && disk !== 'limit')
    throw new ChaosUsageError(`--disk: tmpfs or limit was expected, ${disk} came`);
  const cycles = numberOf('cycles', values.cycles);
  const minutes = numberOf('minutes', values.minutes) ?? (cycles === undefined ? 1 : undefined);
  const replicas = numberOf('replicas', values.replicas) ?? REPLICAS_MIN;
  if (replicas < REPLICAS_MIN) throw new ChaosUsageError(`--replicas: ${REPLICAS_MIN} or more were expected, ${replicas} came`);
  return { store, minutes, cycles, replicas, seed: numberOf('seed', values.seed) ?? freshSeed, disk };
}

const text = { type: 'string' } as const;
const flags = { store: text, minutes: text, cycles: text, replicas: text, seed: text, disk: text, help: { type: 'boolean' } } as const;

function valuesOf(args: readonly string[]): ReturnType<typeof parse> {
  try {
    return parse(args);
  } catch (error) {
    throw new ChaosUsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

const parse = (args: readonly string[]) => parseArgs({ args: [...args], options: flags, strict: true }).values;

function numberOf(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d+(\.\d+)?$/.test(value)) throw new ChaosUsageError(`--${flag}: a number was expected, ${value} came`);
  return Number(value);
}
