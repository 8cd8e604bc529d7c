import { expect, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import { systemClock } from '../../src/ground/clock.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { Store } from '../../src/log/store.ts';
import { TaskLog } from '../../src/log/task-log.ts';
import { acceptAsk } from '../stores/asks.ts';

/** A log, and how often its store was asked for entries. */
async function counted(): Promise<{ readonly log: TaskLog; readonly reads: () => number }> {
  const logger = silentLogger;
  const { store, wake } = memory().open({ clock: systemClock, random: systemRandom, logger });
  let reads = 0;
  const counting: Store = new Proxy(store, {
    get: (target, name) => {
      if (name === 'entries') reads += 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const log = new TaskLog({ store: counting, wake, logger });
  await log.start();
  return { log, reads: () => reads };
}

const append = (log: TaskLog, from: number): Promise<unknown> =>
  log.append({ taskId: 't', fence: 1, from, entries: [{ kind: 'artifact', body: '{"artifact":{"artifactId":"a","parts":[]}}' }] });

test('what a commit wrote goes to its followers of this replica without another read, and is kept for nobody else', async () => {
  const { log, reads } = await counted();
  await log.accept(acceptAsk('t'));
  await append(log, 1);
  expect(reads()).toBe(0);
  const signal = new AbortController();
  const follower = log.follow({ taskId: 't', after: 2 }, signal.signal);
  expect((await follower.next()).value).toMatchObject({ entries: [{ seq: 3 }] });
  expect(reads()).toBe(1); // nobody followed when it was written
  const next = follower.next();
  await Promise.resolve(); // it has looked, and waits: it asks the store once more before it does
  await append(log, 2);
  expect((await next).value).toMatchObject({ entries: [{ seq: 4 }] });
  expect(reads()).toBeLessThanOrEqual(2);
  signal.abort();
  await log.stop();
});
