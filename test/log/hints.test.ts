import { describe, expect, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import type { Store, TaskRow } from '../../src/log/store.ts';
import { TaskLog } from '../../src/log/task-log.ts';
import type { Hint, Wake } from '../../src/log/wake.ts';
import { chunk, limits, scope, status, StoreBench } from '../../src/testing/store-suite/bench.ts';

/** A store whose calls are held twice: before they run, and with their answer. */
class HeldStore {
  readonly gates: (() => void)[] = [];

  over(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const call = Reflect.get(target, name).bind(target) as (ask: unknown) => Promise<unknown>;
        return async (ask: unknown) => {
          await this.#gate();
          const answer = await call(ask);
          await this.#gate();
          return answer;
        };
      },
    });
  }

  #gate(): Promise<void> {
    return new Promise((resolve) => this.gates.push(resolve));
  }
}

/** Everything that is due has run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Verb {
  readonly name: string;
  /** What the hints must be about; a task of its own for an accept. */
  readonly task: (bench: StoreBench) => Promise<TaskRow | undefined>;
  readonly call: (log: TaskLog, bench: StoreBench, row: TaskRow) => Promise<unknown>;
}

const verbs: readonly Verb[] = [
  { name: 'accept', task: async () => undefined, call: (log, bench) => log.accept(bench.ask()) },
  {
    name: 'append',
    task: (bench) => bench.working(),
    call: (log, _, { id, fence }) => log.append({ taskId: id, fence, from: 1, entries: [chunk('a')] }),
  },
  { name: 'cancel', task: (bench) => bench.working(), call: (log, _, { id }) => log.cancel({ scope, taskId: id, body: '{}' }) },
  { name: 'release', task: (bench) => bench.working(), call: (log, _, { id, fence }) => log.release({ taskId: id, fence, why: 'drain' }) },
  {
    name: 'resume',
    task: async (bench) => bench.append(await bench.working(), [status('TASK_STATE_AUTH_REQUIRED'), { kind: 'closed', body: '{}' }]),
    call: (log, _, { id }) => log.resume({ agent: scope.agent, taskId: id, replica: 'A', canStart: true, limits }),
  },
  {
    name: 'claim',
    task: (bench) => bench.queued(),
    call: (log) => log.claim({ agent: scope.agent, replica: 'A', limit: 1 }),
  },
  {
    name: 'sweep',
    async task(bench) {
      const row = await bench.working();
      await bench.kill('A');
      return row;
    },
    call: (log) => log.sweep(10),
  },
  {
    name: 'purge',
    task: (bench) => bench.ended('TASK_STATE_COMPLETED', { limits: { ...limits, retentionMs: 0 } }),
    call: (log) => log.purge(10),
  },
];

describe('hints', () => {
  test.each(verbs)(
    'of $name go out, here and to other replicas, when its commit is known and not before ⚖ (P2)',
    async ({ task, call }) => {
      const bench = await StoreBench.open(memory());
      const row = await task(bench);
      const held = new HeldStore();
      const [sent, heard]: [Hint[], string[]] = [[], []];
      const wake = { notify: (hints: readonly Hint[]) => void sent.push(...hints), listen: () => {} } as unknown as Wake;
      const log = new TaskLog({ store: held.over(bench.a), wake, logger: silentLogger });
      const hear = (): void => void heard.push('any');
      log.listen({ onQueued: hear, onMoved: hear, onAny: hear, onGrew: (taskId) => void heard.push(taskId) });

      // an accept makes its own task: its row is not asked for
      const called = call(log, bench, row ?? ({} as TaskRow));
      await settle();
      for (let step = 0; step < 2; step += 1) {
        expect([sent, heard], step === 0 ? 'before it runs' : 'before its answer').toEqual([[], []]);
        held.gates.shift()?.();
        await settle();
      }
      await called;
      const told = sent.flatMap((hint) => (hint.kind === 'grew' ? [hint.taskId] : []));
      expect(told).toHaveLength(1);
      if (row !== undefined) expect(told).toEqual([row.id]);
      expect(heard).toContain(told[0]);
      await bench.close({ isFailed: false });
    },
  );
});
