import { describe, expect, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import type { Clock } from '../../src/ground/clock.ts';
import { systemClock } from '../../src/ground/clock.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { NewEntry } from '../../src/log/entry.ts';
import type { AcceptAsk, Store, TurnLimits } from '../../src/log/store.ts';
import { StoreError } from '../../src/log/store.ts';
import type { TaskState } from '../../src/protocol/types.ts';
import type { Fault } from '../../src/testing/faults.ts';
import { withFault } from '../../src/testing/faults.ts';

const limits: TurnLimits = {
  onLost: 'fail',
  triesMax: 3,
  queueMs: 60_000,
  pausedTtlMs: 60_000,
  retentionMs: 60_000,
  entriesMax: 1_000,
  bytesMax: 1e6,
};
const scope = { agent: 'a', tenant: '', owner: '' };

async function open(fault: Fault, clock: Clock = systemClock): Promise<Store> {
  const { store } = withFault(memory(), fault).open({ clock, random: systemRandom, logger: silentLogger });
  await store.start();
  await store.join({ replica: 'r' });
  return store;
}

const acceptAsk = (taskId: string, key = taskId): AcceptAsk => ({
  scope,
  taskId,
  isNew: true,
  contextId: 'c',
  key,
  digest: 'd',
  body: JSON.stringify({ message: { messageId: key, role: 'ROLE_USER', parts: [] }, caller: {} }),
  replica: 'r',
  canStart: true,
  whileWorking: 'refuse',
  limits,
});
const status = (state: TaskState): NewEntry => ({ kind: 'status', state, body: '{}' });
const artifact: NewEntry = { kind: 'artifact', body: '{"artifact":{"artifactId":"a","parts":[]}}' };

async function started(store: Store, taskId: string): Promise<number> {
  const result = await store.accept(acceptAsk(taskId));
  return result.kind === 'accepted' ? result.row.fence : 0;
}

async function seqOf(store: Store, taskId: string): Promise<number> {
  return (await store.read({ taskId, after: 0 }))?.row.seq ?? 0;
}

describe('the faulty store', () => {
  test("final-write: each turn's first write with a terminal status fails and stores nothing, the second stands", async () => {
    const store = await open('final-write');
    for (const taskId of ['t1', 't2']) {
      const fence = await started(store, taskId);
      const ask = { taskId, fence, from: 1, entries: [artifact, status('TASK_STATE_COMPLETED')] };
      await expect(store.append(ask)).rejects.toMatchObject({ kind: 'unavailable', isUnknown: true });
      expect(await seqOf(store, taskId)).toBe(2);
      expect(await store.append(ask)).toMatchObject({ kind: 'applied' });
      expect(await seqOf(store, taskId)).toBe(4);
    }
  });

  test('final-refused: COMPLETED is refused for its content whenever it is tried, FAILED is not', async () => {
    const store = await open('final-refused');
    const fence = await started(store, 't1');
    const completed = { taskId: 't1', fence, from: 1, entries: [status('TASK_STATE_COMPLETED')] };
    for (let round = 0; round < 3; round++) await expect(store.append(completed)).rejects.toMatchObject({ kind: 'unstorable' });
    expect(await store.append({ ...completed, entries: [status('TASK_STATE_FAILED')] })).toMatchObject({ kind: 'applied' });
  });

  test('lost-ack: of every five writes one is stored and answered with a connection error; reads and claims do not count', async () => {
    const store = await open('lost-ack');
    const lost: string[] = [];
    for (let number = 1; number <= 10; number++) {
      const outcome = await store.accept(acceptAsk(`t${number}`)).catch((error: unknown) => error);
      if (outcome instanceof StoreError && outcome.isUnknown) lost.push(`t${number}`);
      await store.claim({ agent: 'a', replica: 'r', limit: 1 });
      expect(await seqOf(store, `t${number}`)).toBe(2);
    }
    expect(lost).toEqual(['t5', 't10']);
    // the repeat is told what its first try did (P9)
    expect(await store.accept(acceptAsk('t5'))).toMatchObject({ kind: 'accepted', isRepeat: true });
  });

  test('slow: each call starts 200 ms late', async () => {
    const waits: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after: (ms, task) => {
        waits.push(ms);
        queueMicrotask(task);
        return { cancel: () => undefined };
      },
    };
    const store = await open('slow', clock);
    await started(store, 't1');
    await seqOf(store, 't1');
    expect(waits).toEqual([200, 200, 200]); // join, accept, read
  });
});
