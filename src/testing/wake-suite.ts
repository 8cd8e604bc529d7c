import assert from 'node:assert/strict';
import { sleep, systemClock } from '../ground/clock.ts';
import { silentLogger } from '../ground/logger.ts';
import { systemRandom } from '../ground/random.ts';
import type { Store, StoreSource } from '../log/store.ts';
import type { Hint, Wake } from '../log/wake.ts';
import { limits, scope } from './store-suite/bench.ts';
import type { SuiteCase, SuiteRunner } from './suite-runner.ts';
import { suiteRunner } from './suite-runner.ts';

/** How long a case waits for a hint. */
const UNTIL_MS = 10_000;

/** A replica as far as hints go: it writes, sends hints as the log does, and keeps what it hears. */
class Hearer {
  readonly store: Store;
  readonly wake: Wake;
  readonly heard: Hint[] = [];

  constructor(source: StoreSource) {
    const { store, wake } = source.open({ clock: systemClock, random: systemRandom, logger: silentLogger });
    this.store = store;
    this.wake = wake;
    wake.listen((hints) => this.heard.push(...hints));
  }

  async start(): Promise<this> {
    await this.store.start();
    await this.wake.start();
    return this;
  }

  async stop(): Promise<void> {
    await this.wake.stop();
    await this.store.stop();
  }

  /** Writes a message and tells the others, as the log does: after the commit. */
  async say(taskId: string, canStart = false): Promise<void> {
    const body = JSON.stringify({ message: { messageId: taskId }, caller: {} });
    const ask = { scope, taskId, isNew: true, contextId: 'context', key: 'key', digest: 'digest', body, replica: 'A', limits } as const;
    const result = await this.store.accept({ ...ask, canStart, whileWorking: 'refuse' });
    assert.ok(result.kind === 'accepted');
    const queued: readonly Hint[] = canStart ? [] : [{ kind: 'queued' }];
    this.wake.notify([{ kind: 'grew', taskId, seq: result.row.seq }, ...queued]);
  }

  async cancel(taskId: string): Promise<void> {
    const result = await this.store.cancel({ scope, taskId, body: '{}' });
    assert.ok(result.kind === 'canceled');
    this.wake.notify([
      { kind: 'grew', taskId, seq: result.row.seq },
      { kind: 'moved', taskId },
    ]);
  }

  async hears(what: string, isIt: (hint: Hint) => boolean): Promise<void> {
    const end = systemClock.monotonic() + UNTIL_MS;
    while (!this.heard.some((hint) => isIt(hint) || hint.kind === 'any')) {
      assert.ok(systemClock.monotonic() < end, `waited ${UNTIL_MS} ms for ${what}; heard ${JSON.stringify(this.heard)}`);
      await sleep(systemClock, 2);
    }
  }
}

const grewTo = (taskId: string, seq: number) => (hint: Hint) => hint.kind === 'grew' && hint.taskId === taskId && hint.seq >= seq;
const movedOf = (taskId: string) => (hint: Hint) => hint.kind === 'moved' && hint.taskId === taskId;
const isQueued = (hint: Hint): boolean => hint.kind === 'queued';

/** Three replicas on one store. */
class WakeBench {
  readonly a: Hearer;
  readonly b: Hearer;
  readonly c: Hearer;

  private constructor(a: Hearer, b: Hearer, c: Hearer) {
    this.a = a;
    this.b = b;
    this.c = c;
  }

  static async open(source: StoreSource): Promise<WakeBench> {
    const [a, b, c] = [new Hearer(source), new Hearer(source), new Hearer(source)];
    for (const one of [a, b, c]) await one.start();
    return new WakeBench(a, b, c);
  }

  async close(): Promise<void> {
    for (const one of [this.a, this.b, this.c]) await one.stop();
  }
}

/** All that a wake must do, as cases for a runner of any kind. */
export const wakeCases: readonly SuiteCase<WakeBench>[] = [
  {
    name: 'a wake that runs has shown that hints arrive',
    async run({ a, b, c }) {
      for (const { wake } of [a, b, c]) assert.equal(wake.isProven, true);
    },
  },
  {
    name: 'every other replica hears that a log grew and that a turn waits',
    async run({ a, b, c }) {
      await a.say('one');
      for (const other of [b, c]) {
        await other.hears('the log to grow', grewTo('one', 2));
        await other.hears('the queue', isQueued);
      }
      await c.say('two');
      await a.hears('the other one', grewTo('two', 2));
    },
  },
  {
    name: 'whoever runs a turn hears that its fence moved (P8)',
    async run({ a, b }) {
      await a.say('one', true);
      await b.cancel('one');
      await a.hears('the fence', movedOf('one'));
      await a.hears('the last entry', grewTo('one', 3));
    },
  },
  {
    name: 'what is hinted has been committed: who reads then finds it (P2)',
    async run({ a, b }) {
      for (let count = 0; count < 20; count += 1) {
        await a.say(`task-${count}`);
        await b.hears('the log to grow', grewTo(`task-${count}`, 2));
        assert.equal((await b.store.read({ taskId: `task-${count}`, after: 0 }))?.row.seq, 2);
      }
    },
  },
  {
    name: 'many hints at once are all heard, however they are joined',
    async run({ a, b, c }) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? a : b).say(`task-${index}`)));
      for (let index = 0; index < 50; index += 1) await c.hears(`task-${index}`, grewTo(`task-${index}`, 2));
    },
  },
  {
    name: 'a wake that is stopped tells nothing, disturbs nobody and can be started again; both may happen twice',
    async run({ a, b, c }) {
      await b.wake.stop();
      await b.wake.stop();
      assert.equal(b.wake.isProven, false);
      b.heard.length = 0;
      await a.say('one');
      await c.hears('the log to grow', grewTo('one', 2));
      b.wake.notify([{ kind: 'queued' }]);
      assert.deepEqual(b.heard, []);
      await b.wake.start();
      await b.wake.start();
      await a.say('two');
      await b.hears('the next one', grewTo('two', 2));
    },
  },
  {
    name: 'hints that name nothing known do no harm',
    async run({ a, b }) {
      a.wake.notify([]);
      a.wake.notify([{ kind: 'any' }, { kind: 'moved', taskId: 'unknown' }]);
      await a.say('one');
      await b.hears('the log to grow', grewTo('one', 2));
    },
  },
];

/** Proves a wake with the store it belongs to, three replicas on one set of data. The arguments are those of `storeSuite`. */
export function wakeSuite(name: string, open: () => StoreSource | Promise<StoreSource>, runner?: SuiteRunner): void {
  const { describe, test } = suiteRunner(runner);
  describe(`${name} carries hints`, () => {
    for (const one of wakeCases)
      test(one.name, async () => {
        const bench = await WakeBench.open(await open());
        try {
          await one.run(bench);
        } finally {
          await bench.close();
        }
      });
  });
}
