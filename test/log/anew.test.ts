import { expect, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { TaskLog } from '../../src/log/task-log.ts';
import { chunk, limits, scope, status } from '../../src/testing/store-suite/bench.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';

const taskId = 'made-from-the-key';
const retentionMs = 1_000;

/** A whole life under one key: a question, a text long enough to keep its fold in the cache, and the end. */
async function live(log: TaskLog, text: string): Promise<void> {
  const body = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }, caller: {} });
  const place = { scope, taskId, isNew: true, contextId: 'context', replica: 'A', canStart: true } as const;
  const accepted = await log.accept({
    ...place,
    key: 'key',
    digest: '',
    body,
    whileWorking: 'refuse',
    limits: { ...limits, retentionMs },
  });
  if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
  const entries = [...Array.from(text.repeat(3), (letter) => chunk(letter.repeat(10_000))), status('TASK_STATE_COMPLETED')];
  const appended = await log.append({ taskId, fence: accepted.row.fence, from: 1, entries });
  expect(appended.kind).toBe('applied');
}

test('a log that a key begins anew after the purge shows nothing of the one before it, on any replica (P1, section 4)', async () => {
  const clock = new VirtualClock();
  const source = memory();
  const logger = silentLogger;
  const [a, b] = [1, 2].map(() => new TaskLog({ ...source.open({ clock, random: systemRandom, logger }), logger })) as [TaskLog, TaskLog];
  await a.start();
  await b.start();
  for (const text of ['one', 'anew']) {
    await live(a, text);
    for (const log of [a, b]) {
      const letters = (await log.read(taskId))?.task.artifacts
        ?.flatMap(({ parts }) => parts)
        .map((part) => ('text' in part ? part.text[0] : ''));
      expect(letters?.join('')).toBe(text.at(-1)); // one artifact, replaced by each of its chunks
      expect((await log.entriesAfter(taskId, 2)).map((entry) => entry.kind)).toEqual([
        ...Array(text.length * 3).fill('artifact'),
        'status',
      ]);
    }
    await clock.advance(retentionMs);
    expect(await a.purge(10)).toEqual([taskId]);
  }
  await a.stop();
  await b.stop();
});
