import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memory } from '../../src/agent/memory.ts';
import { sqlite } from '../../src/agent/sqlite.ts';
import { Chance } from '../../src/testing/lab/chance.ts';
import { openLab } from '../../src/testing/lab/lab.ts';
import type { LabStore } from './options.ts';
import { labSubject } from './subject.ts';

/** What became of one seed. */
export interface Played {
  readonly seed: number;
  readonly store: LabStore;
  readonly violations: readonly { readonly promise: string; readonly says: string }[];
  readonly reached: Readonly<Record<string, number>>;
  /** Of a seed that broke something, or that was asked for. */
  readonly trace: readonly string[];
}

const SQLITE_EVERY = 10;

/** Which store a seed runs on. */
export function storeOf(seed: number, wanted: LabStore | undefined): LabStore {
  return wanted ?? (seed % SQLITE_EVERY === 0 ? 'sqlite' : 'memory');
}

/** Plays one seed. What nobody caught counts as broken too. */
export async function play(seed: number, store: LabStore): Promise<Played> {
  const unhandled: string[] = [];
  const note = (error: unknown): void => void unhandled.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.on('unhandledRejection', note);
  const folder = store === 'sqlite' ? mkdtempSync(join(fastFolder(), 'chorus-lab-')) : undefined;
  try {
    const subject = labSubject(new Chance(seed).fork('subject'));
    await using lab = await openLab({ ...subject, seed, store: folder === undefined ? memory() : sqlite(join(folder, 'tasks.db')) });
    const failed = (error: unknown): { promise: string; says: string }[] => [{ promise: 'the lab', says: String(error) }];
    const verdict = await lab
      .run({ actors: 3, stormMs: 5_500, calmMs: 3_000 })
      .catch((error: unknown) => ({ violations: failed(error), reached: {}, trace: lab.trace }));
    const violations = [...verdict.violations, ...unhandled.map((says) => ({ promise: 'unhandled rejection', says }))];
    return { seed, store, violations, reached: verdict.reached, trace: verdict.trace };
  } finally {
    process.off('unhandledRejection', note);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** A disk whose waits cost nothing: here the order of commits counts, and real processes prove what a disk keeps. */
function fastFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}
