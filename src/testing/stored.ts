import { systemClock } from '../ground/clock.ts';
import { silentLogger } from '../ground/logger.ts';
import { systemRandom } from '../ground/random.ts';
import type { Entry } from '../log/entry.ts';
import { parseEntry } from '../log/parse.ts';
import type { Store, StoreSource } from '../log/store.ts';
import type { StoredTask } from './checks/check.ts';

/** Reads tasks from a store as one more process that only looks: what the checker holds everything against. */
export async function readStored(source: StoreSource, taskIds: Iterable<string>): Promise<ReadonlyMap<string, StoredTask>> {
  const { store } = source.open({ clock: systemClock, random: systemRandom, logger: silentLogger });
  await store.start();
  try {
    const found = new Map<string, StoredTask>();
    for (const taskId of taskIds) {
      const task = await readTask(store, taskId);
      if (task) found.set(taskId, task);
    }
    return found;
  } finally {
    await store.stop();
  }
}

/** One task with its whole log, read from a store that is started. */
export async function readTask(store: Store, taskId: string): Promise<StoredTask | undefined> {
  const entries: Entry[] = [];
  for (;;) {
    const found = await store.read({ taskId, after: entries.length });
    if (!found) return undefined;
    entries.push(...found.rows.map((row) => parseEntry(taskId, row)));
    // a gap would never be filled: what is there is what the checker is to see
    if (found.rows.length === 0 || entries.length >= found.row.seq) return { row: found.row, entries };
  }
}
