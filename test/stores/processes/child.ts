// One process on a SQLite file, told by its arguments what to do. It speaks in lines of JSON on standard output.
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../src/ground/clock.ts';
import { silentLogger } from '../../../src/ground/logger.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import type { NewEntry } from '../../../src/log/entry.ts';
import type { Store, TaskRow } from '../../../src/log/store.ts';
import { findDriver } from '../../../src/stores/sqlite-driver.ts';
import { openSqlite } from '../../../src/stores/sqlite.ts';
import { limits, scope } from '../../../src/testing/store-suite/bench.ts';
import { acceptAsk } from '../asks.ts';

const [what = '', path = '', name = '', count = '0'] = process.argv.slice(2);

const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

async function opened(): Promise<Store> {
  const store = openSqlite(path, { clock: systemClock, random: systemRandom, logger: silentLogger });
  await store.start();
  await store.join({ replica: name });
  return store;
}

const chunk = (text: string): NewEntry => ({ kind: 'artifact', body: JSON.stringify({ text }) });

/** Says five chunks in batches that are in flight together, then the end. */
async function finish(store: Store, { id: taskId, fence }: TaskRow): Promise<void> {
  const batches = [1, 2, 3, 4, 5].map((from) => store.append({ taskId, fence, from, entries: [chunk(`${name} ${from}`)] }));
  for (const result of await Promise.all(batches)) if (result.kind !== 'applied') throw new Error(`${taskId}: ${result.kind}`);
  const end = await store.append({ taskId, fence, from: 6, entries: [{ kind: 'status', state: 'TASK_STATE_COMPLETED', body: '{}' }] });
  if (end.kind !== 'applied') throw new Error(`${taskId}: ${end.kind}`);
}

/** Brings tasks, some for itself and some for whoever claims them, and finishes what it holds, until nobody brings any more. */
async function fill(): Promise<void> {
  const store = await opened();
  const own = Array.from({ length: Number(count) }, async (_, index) => {
    const result = await store.accept(acceptAsk(`${name}-${index}`, { replica: name, canStart: index % 2 === 0 }));
    if (result.kind === 'accepted' && result.row.phase === 'open') await finish(store, result.row);
  });
  await Promise.all(own);
  for (let idle = 0; idle < 20;) {
    const rows = await store.claim({ agent: scope.agent, replica: name, limit: 4 });
    idle = rows.length === 0 ? idle + 1 : 0;
    await Promise.all(rows.map((row) => finish(store, row)));
    if (rows.length === 0) await pause(10);
  }
  await store.stop();
  say({ done: true });
}

/** Writes without end, several tasks at once, and says what has been acknowledged. */
async function loop(): Promise<void> {
  const store = await opened();
  const runs = Array.from({ length: 4 }, async (_, index) => {
    const taskId = `${name}-${index}`;
    const result = await store.accept(acceptAsk(taskId, { replica: name, limits: { ...limits, onLost: 'retry', triesMax: 1_000 } }));
    if (result.kind !== 'accepted') throw new Error(result.kind);
    for (let from = 1; ; from += 3) {
      const { kind } = await store.append({
        taskId,
        fence: result.row.fence,
        from,
        entries: [chunk('a'), chunk('b'), chunk('c'.repeat(3_000))],
      });
      if (kind !== 'applied') throw new Error(kind);
      say({ taskId, ordinal: from + 2 });
    }
  });
  await Promise.all(runs);
}

/** Takes the write lock, writes, and commits only when it is told to. */
async function hold(): Promise<void> {
  const database = (await findDriver()).open(path);
  database.exec('BEGIN IMMEDIATE');
  database.exec("INSERT INTO chorus_replica (id, beat) VALUES ('half', 0)");
  say({ inside: true });
  process.stdin.once('data', () => {
    database.exec('COMMIT');
    say({ committed: true });
    process.exit(0);
  });
}

/** Only starts, and says how that went. */
async function start(): Promise<void> {
  const stores = await Promise.allSettled(Array.from({ length: Math.max(1, Number(count)) }, () => opened()));
  const errors = stores.flatMap((one) => (one.status === 'rejected' ? [{ kind: one.reason.kind, message: one.reason.message }] : []));
  for (const one of stores) if (one.status === 'fulfilled') await one.value.stop();
  say({ errors });
}

const verbs: Readonly<Record<string, () => Promise<void>>> = { fill, loop, hold, start };
await verbs[what]?.();
