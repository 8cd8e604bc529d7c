// npm run leaks -- [--quick] [--store memory|sqlite] [--only NAME,…]: cycles of a replica's life, and what each leaves behind. A line of JSON
// for each; exit status 0 only if nothing stays.
import { parseArgs } from 'node:util';
import { day, dayBounds } from './leaks/day.ts';
import type { Bounds, Held, Verdict } from './leaks/measure.ts';
import { judge, strict } from './leaks/measure.ts';
import { plant, planted } from './leaks/planted.ts';
import { readers, readersBounds } from './leaks/readers.ts';
import type { StoreName } from './leaks/stand.ts';
import { stores } from './leaks/stand.ts';
import { subscriptions } from './leaks/subscriptions.ts';
import { tasks, tasksBounds } from './leaks/tasks.ts';

interface Scenario {
  readonly run: (store: StoreName, cycles: number) => Promise<readonly Held[]>;
  readonly bounds: (cycles: number) => Bounds;
  /** How many cycles: on both stores, and in the short run of the tests on each. */
  readonly cycles: number;
  readonly quick: Readonly<Record<StoreName, number>>;
}

const scenarios: Readonly<Record<string, Scenario>> = {
  subscriptions: { run: subscriptions, bounds: () => strict, cycles: 100_000, quick: { memory: 10_000, sqlite: 2_000 } },
  tasks: { run: tasks, bounds: tasksBounds, cycles: 200_000, quick: { memory: 20_000, sqlite: 4_000 } },
  readers: { run: readers, bounds: () => readersBounds, cycles: 20, quick: { memory: 2, sqlite: 1 } },
  day: { run: day, bounds: () => dayBounds, cycles: 1_440, quick: { memory: 240, sqlite: 120 } },
};

/** Leaks put in on purpose: only when asked for by name, to see that they are found. */
const plantedScenarios: Readonly<Record<string, Scenario>> = Object.fromEntries(
  planted.map((what) => [
    `planted-${what}`,
    { run: plant(what), bounds: () => strict, cycles: 4_000, quick: { memory: 4_000, sqlite: 4_000 } },
  ]),
);

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, store: { type: 'string' }, only: { type: 'string' } } });
const wantedStores = stores.filter((name) => values.store === undefined || values.store === name);
const named = values.only?.split(',');
const wanted = Object.entries(named ? { ...scenarios, ...plantedScenarios } : scenarios).filter(([name]) => named?.includes(name) ?? true);
if (wanted.length === 0 || wantedStores.length === 0)
  throw new Error(`leaks: --only ${Object.keys(scenarios).join('|')}, --store ${stores.join('|')}`);

for (const store of wantedStores) {
  for (const [scenario, { run, bounds, ...sizes }] of wanted) {
    const cycles = values.quick ? sizes.quick[store] : sizes.cycles;
    const since = performance.now();
    const points = await run(store, cycles);
    const verdict: Verdict = { scenario, store, cycles, ...judge(points, bounds(cycles)), ms: Math.round(performance.now() - since) };
    console.log(JSON.stringify(verdict));
    if (verdict.faults.length > 0) process.exitCode = 1;
  }
}
