import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import { sqlite } from '../../src/agent/sqlite.ts';
import type { Clock } from '../../src/ground/clock.ts';
import { systemClock } from '../../src/ground/clock.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { NewEntry } from '../../src/log/entry.ts';
import type { Store, StoreSource, TaskRow, TurnLimits } from '../../src/log/store.ts';
import { tempFiles } from './temp.ts';

const file = tempFiles('/dev/shm');
const agents = ['one', 'two'] as const;
const owners = ['', 'ada'] as const;
const replicas = ['A', 'B', 'C', 'D'] as const;
const tasks = ['t1', 't2', 't3'] as const;

/** Records as programs make them: with a prototype. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> => fc.record(model, { noNullPrototype: true });

/** Short limits and a clock in steps of milliseconds: queues, pauses and retentions end within a run. */
const limits = record({
  onLost: fc.constantFrom('fail', 'retry', 'ask' as const),
  triesMax: fc.integer({ min: 1, max: 3 }),
  queueMs: fc.constantFrom(20, 1_000, 1_000),
  pausedTtlMs: fc.constantFrom(20, 1_000, 1_000),
  retentionMs: fc.constantFrom(5, 20, 1_000),
  entriesMax: fc.constantFrom(8, 1_000, 1_000),
  bytesMax: fc.constantFrom(120, 100_000, 100_000),
}) satisfies fc.Arbitrary<TurnLimits>;

/** Mostly the right number, sometimes one that is off. */
const off = fc.constantFrom(...Array<number>(20).fill(0), 1, -1, 2, -3);

const entry: fc.Arbitrary<NewEntry> = fc.oneof(
  {
    weight: 6,
    arbitrary: record({
      kind: fc.constant('artifact' as const),
      body: fc.constantFrom('{}', '{"é":"\\u0000"}', `{"x":"${'x'.repeat(60)}"}`),
    }),
  },
  {
    weight: 3,
    arbitrary: record({
      kind: fc.constant('status' as const),
      state: fc.constantFrom(
        'TASK_STATE_WORKING' as const,
        'TASK_STATE_AUTH_REQUIRED',
        'TASK_STATE_INPUT_REQUIRED',
        'TASK_STATE_COMPLETED',
        'TASK_STATE_FAILED',
      ),
      body: fc.constantFrom('{}', '{"metadata":{"k":1}}'),
    }),
  },
  {
    weight: 1,
    arbitrary: record({ kind: fc.constant('taken' as const), taken: fc.subarray([1, 3, 4, 5, 6]), body: fc.constant('{}') }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'closed', body: '{}' } satisfies NewEntry) },
);

const leavesOnAuth: readonly NewEntry[] = [
  { kind: 'status', state: 'TASK_STATE_AUTH_REQUIRED', body: '{}' },
  { kind: 'closed', body: '{}' },
];

const verb = fc.oneof(
  {
    weight: 5,
    arbitrary: record({
      do: fc.constant('accept' as const),
      taskId: fc.constantFrom(...tasks),
      isOdd: fc.constantFrom(false, false, false, false, false, false, true),
      agent: fc.constantFrom(agents[0], agents[0], agents[0], agents[0], agents[0], agents[0], agents[1]),
      owner: fc.constantFrom(owners[0], owners[0], owners[0], owners[0], owners[0], owners[0], owners[1]),
      contextId: fc.constantFrom('c', 'c', 'c', 'c', 'c', 'd'),
      key: fc.integer({ min: 1, max: 12 }).map((number) => `k${number}`),
      digest: fc.constantFrom('d', 'd', 'd', 'd', 'd', 'e'),
      replica: fc.constantFrom(...replicas),
      canStart: fc.constantFrom(true, true, true, false),
      whileWorking: fc.constantFrom('refuse', 'enqueue', 'interrupt' as const),
      limits,
    }),
  },
  {
    weight: 6,
    arbitrary: record({
      do: fc.constant('append' as const),
      taskId: fc.constantFrom(...tasks),
      fence: off,
      from: off,
      entries: fc.oneof(
        { weight: 4, arbitrary: fc.array(entry, { minLength: 1, maxLength: 4 }) },
        { weight: 2, arbitrary: fc.constant(leavesOnAuth) },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: record({ do: fc.constant('cancel' as const), taskId: fc.constantFrom(...tasks), owner: fc.constantFrom(...owners) }),
  },
  {
    weight: 3,
    arbitrary: record({
      do: fc.constant('claim' as const),
      replica: fc.constantFrom(...replicas),
      limit: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: record({
      do: fc.constant('release' as const),
      taskId: fc.constantFrom(...tasks),
      fence: off,
      why: fc.constantFrom('drain', 'silence', 'interrupt' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: record({ do: fc.constant('resume' as const), taskId: fc.constantFrom(...tasks), canStart: fc.boolean(), limits }),
  },
  { weight: 2, arbitrary: record({ do: fc.constant('sweep' as const), limit: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 1, arbitrary: record({ do: fc.constant('purge' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: record({ do: fc.constant('join' as const), replica: fc.constantFrom(...replicas) }) },
  {
    weight: 2,
    arbitrary: record({
      do: fc.constant('tick' as const),
      replica: fc.constantFrom(...replicas),
      own: fc.constantFrom('renew', 'renew', 'renew', 'renew', 'renew', 'renew', 'renew', 'leave' as const),
      suspects: fc.array(record({ replica: fc.constantFrom(...replicas), beat: fc.integer({ min: 0, max: 3 }) }), { maxLength: 2 }),
    }),
  },
);

type Verb = typeof verb extends fc.Arbitrary<infer T> ? T : never;

/** Verbs that go out together or one by one, and how long the clock waits before them. */
const round = record({
  passMs: fc.constantFrom(0, 0, 0, 1, 1, 3, 7, 25),
  isTogether: fc.boolean(),
  verbs: fc.array(verb, { minLength: 1, maxLength: 5 }),
});

class OneClock implements Clock {
  now = 1_800_000_000_000;
  monotonic(): number {
    return systemClock.monotonic();
  }
  wall(): number {
    return this.now;
  }
  after(ms: number, task: () => void): ReturnType<Clock['after']> {
    return systemClock.after(ms, task);
  }
}

/** Calls one verb; `rows` are those of before the round, so that both stores are asked the same. */
async function call(store: Store, one: Verb, rows: ReadonlyMap<string, TaskRow>): Promise<unknown> {
  switch (one.do) {
    case 'accept': {
      const { agent, owner, contextId, isOdd } = one;
      const isNew = rows.has(one.taskId) === isOdd;
      const scope = { agent, tenant: '', owner };
      const ask = { ...one, scope, isNew, body: `{"from":"${one.key}"}` };
      const { contextId: _context, ...withoutContext } = ask;
      return store.accept(isNew || contextId === 'd' ? ask : withoutContext);
    }
    case 'append': {
      const row = rows.get(one.taskId);
      return store.append({ ...one, fence: (row?.fence ?? 1) + one.fence, from: Math.max(1, (row?.ordinal ?? 0) + 1 + one.from) });
    }
    case 'cancel':
      return store.cancel({ taskId: one.taskId, scope: { agent: 'one', tenant: '', owner: one.owner }, body: '{}' });
    case 'claim':
      return store.claim({ ...one, agent: 'one' });
    case 'release':
      return store.release({ ...one, fence: (rows.get(one.taskId)?.fence ?? 1) + one.fence });
    case 'resume':
      return store.resume({ ...one, agent: 'one', replica: 'A' });
    case 'sweep':
      return store.sweep(one);
    case 'purge':
      return store.purge(one);
    case 'join':
      return store.join(one);
    case 'tick':
      return sorted(await store.tick({ ...one, agent: 'one', watched: tasks.map((taskId) => ({ taskId, seq: 3 })) }));
  }
}

/** Which of the living others comes first says nothing. */
function sorted<T extends { readonly beats: readonly { readonly replica: string }[] }>(result: T): T {
  return { ...result, beats: result.beats.toSorted((one, other) => (one.replica < other.replica ? -1 : 1)) };
}

async function outcome(result: Promise<unknown>): Promise<unknown> {
  try {
    return { done: await result };
  } catch (error) {
    return { failed: error instanceof Error ? [error.name, error.message] : error };
  }
}

/** All that a reader can see. */
async function picture(store: Store): Promise<unknown> {
  const wants = [...tasks, 'unknown'].map((taskId) => ({ taskId, after: 0 }));
  const kinds = ['message', 'status'] as const;
  return {
    read: await Promise.all(tasks.map((taskId) => store.read({ taskId, after: 0 }))),
    some: await store.entries({ wants, entriesMax: 7, bytesMax: 150 }),
    statuses: await store.entries({ wants, kinds, entriesMax: 100, bytesMax: 10_000 }),
    lists: await Promise.all(
      agents.flatMap((agent) => owners.map((owner) => store.list({ scope: { agent, tenant: '', owner }, limit: 3 }))),
    ),
    filtered: await store.list({ scope: { agent: 'one', tenant: '', owner: '' }, contextId: 'c', state: 'TASK_STATE_WORKING', limit: 10 }),
    ticks: await Promise.all(
      replicas.map(async (replica) => sorted(await store.tick({ agent: 'one', replica, own: 'look', suspects: [], watched: [] }))),
    ),
  };
}

/** How often each verb really did something, over all runs: a test that only ever meets refusals proves nothing. */
const reached = new Map<string, number>();

function note({ do: verbName }: Verb, result: unknown): void {
  const { done } = result as { readonly done?: unknown }; // made by `outcome`
  const { kind } = (Array.isArray(done) ? { kind: done.length > 0 ? 'some' : 'none' } : (done ?? {})) as { readonly kind?: string }; // a result of a verb
  const name = `${verbName} ${kind ?? 'done'}`;
  reached.set(name, (reached.get(name) ?? 0) + 1);
}

async function open(source: StoreSource, clock: Clock): Promise<Store> {
  const { store } = source.open({ clock, random: systemRandom, logger: silentLogger });
  await store.start();
  for (const replica of ['A', 'B', 'C']) await store.join({ replica });
  return store;
}

/** Both are asked the same, answer the same, and then show the same. */
async function expectAlike(left: Store, right: Store, verbs: readonly Verb[]): Promise<void> {
  const found = await Promise.all(tasks.map((taskId) => left.read({ taskId, after: 0 })));
  const rows = new Map(found.flatMap((one) => (one ? [[one.row.id, one.row]] : [])));
  const [inMemory, inFile] = await Promise.all(
    [left, right].map((store) => Promise.all(verbs.map((one) => outcome(call(store, one, rows))))),
  );
  assert.deepEqual(inFile, inMemory);
  inMemory?.forEach((result, index) => note(verbs[index] as Verb, result)); // one result for each verb
  assert.deepEqual(await picture(right), await picture(left));
}

/** What a run must have come to, or its sameness says little. */
const WANTED = [
  'accept accepted',
  'accept busy',
  'append applied',
  'append gap',
  'append fenced',
  'append terminal',
  'append limit',
  'claim some',
  'release released',
  'resume resumed',
  'sweep some',
  'purge some',
  'cancel canceled',
];

const missing = (): readonly string[] => WANTED.filter((name) => !reached.has(name));

/** How much longer a run goes on for what chance has not brought yet. */
const MORE_MS_MAX = 120_000;

interface Round {
  readonly passMs: number;
  readonly isTogether: boolean;
  readonly verbs: readonly Verb[];
}

async function sameFor(rounds: readonly Round[]): Promise<void> {
  const clock = new OneClock();
  const [left, right] = [await open(memory(), clock), await open(sqlite(file()), clock)];
  try {
    for (const { passMs, isTogether, verbs } of rounds) {
      clock.now += passMs;
      for (const group of isTogether ? [verbs] : verbs.map((one) => [one])) await expectAlike(left, right, group);
    }
  } finally {
    await left.stop();
    await right.stop();
  }
}

describe('memory and SQLite, side by side', () => {
  test('give the same answers and the same rows after every verb, alone and in groups', { timeout: 400_000 }, async () => {
    const anyRounds = fc.asyncProperty(fc.array(round, { minLength: 20, maxLength: 60 }), sameFor);
    await fc.assert(anyRounds, { numRuns: Number(process.env['CHORUS_RUNS'] ?? 40) });
    for (const end = Date.now() + MORE_MS_MAX; missing().length > 0 && Date.now() < end;) await fc.assert(anyRounds, { numRuns: 5 });
    expect(missing()).toEqual([]);
  });
});
