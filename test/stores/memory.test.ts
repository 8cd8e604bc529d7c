import { describe, expect, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { limits } from '../../src/testing/store-suite/bench.ts';
import { storeSuite } from '../../src/testing/store-suite.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import { acceptAsk } from './asks.ts';

storeSuite('memory', memory, { describe, test });

test('a memory store that is full takes no new message, lets what runs go on, and has room again behind a purge (P11)', async () => {
  const clock = new VirtualClock();
  const { store } = memory({ bytesMax: 10_000 }).open({ clock, random: systemRandom, logger: silentLogger });
  const large = { body: JSON.stringify({ message: { messageId: 'x'.repeat(3_000) }, caller: {} }) };
  for (const id of ['a', 'b']) expect((await store.accept(acceptAsk(id, large))).kind).toBe('accepted');
  await expect(store.accept(acceptAsk('c', large))).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('full'),
  });
  expect((await store.accept(acceptAsk('a', large))).kind).toBe('accepted'); // a repeat writes nothing
  const entries = [{ kind: 'status', state: 'TASK_STATE_COMPLETED', body: '{}' }] as const;
  expect((await store.append({ taskId: 'a', fence: 1, from: 1, entries })).kind).toBe('applied');
  await clock.advance(limits.retentionMs + 1);
  expect(await store.purge({ limit: 10 })).toEqual(['a']);
  expect((await store.accept(acceptAsk('c', large))).kind).toBe('accepted');
});
