import { expect, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { ReadAsk, Store } from '../../src/log/store.ts';
import { TaskLog } from '../../src/log/task-log.ts';
import { limits, scope } from '../../src/testing/store-suite/bench.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import { acceptAsk } from '../stores/asks.ts';

test('a task that was purged on one replica keeps no place in the cache of another that hears of it (P11, case 100)', async () => {
  const clock = new VirtualClock();
  const source = memory();
  const open = (): ReturnType<typeof source.open> => source.open({ clock, random: systemRandom, logger: silentLogger });
  const asked: ReadAsk[] = [];
  const one = new TaskLog({ ...open(), logger: silentLogger });
  const { store, wake } = open();
  const other = new TaskLog({ store: watched(store, asked), wake, logger: silentLogger });
  await Promise.all([one.start(), other.start()]);
  await one.accept(acceptAsk('a'));
  await other.read('a'); // at work: its fold is kept, to be folded on
  await other.read('a');
  expect(asked.map(({ after }) => after)).toEqual([0, 2]);
  await one.cancel({ taskId: 'a', scope, body: '{}' });
  await clock.advance(limits.retentionMs + 1);
  expect(await one.purge(10)).toEqual(['a']);
  await clock.settle();
  expect(await other.read('a')).toBeUndefined();
  expect(asked.at(-1)?.after).toBe(0);
  await Promise.all([one.stop(), other.stop()]);
});

/** A store that tells which reads it was asked for: a read leaves out what its replica has folded already. */
function watched(store: Store, asked: ReadAsk[]): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (ask: ReadAsk): unknown => {
        if (name === 'read') asked.push(ask);
        return (member as (ask: unknown) => unknown).call(target, ask); // every member of a store is a verb
      };
    },
  });
}
