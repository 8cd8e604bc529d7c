import { describe, expect, test } from 'vitest';
import type { ListTasksResponse, TaskState } from '../../src/protocol/types.ts';
import { RawSocket, requestText } from '../mounts/raw.ts';
import { callers, chunks, collect, crowd, ended, pause, percentilesOf, rounds, stageOf, textsIn, textsOf } from './support.ts';

const stage = stageOf({ flags: ['--concurrency', '64'] });

describe('readers that never read', () => {
  test('hurt only themselves: the card is served all the while, and every task ends whole (case 9, P11, STRM-14)', async () => {
    const [raw] = callers;
    if (!raw) throw new Error('there are two bindings');
    const who = stage.by(raw).at(0);
    const tasks = rounds(40, 12);
    const scriptOf = (index: number): string =>
      // the first ones say more than the buffers of two sockets take, so that their reader holds them up
      index < rounds(5, 2) ? 'silent 200; emit 600 0 20000; done' : `silent 200; emit ${rounds(2_000, 300)} 0; done`;
    const stalled: RawSocket[] = [];
    const contextId = crypto.randomUUID();
    try {
      const started = await Promise.all(Array.from({ length: tasks }, (_, index) => who.start(scriptOf(index), { contextId })));
      for (const { id } of started.slice(0, rounds(5, 2))) {
        const socket = new RawSocket(who.url, { reads: false });
        socket.send(requestText(`GET /rest/tasks/${id}:subscribe`));
        stalled.push(socket);
      }
      const times: number[] = [];
      const countOf = async (status: TaskState): Promise<number> =>
        (await who.at(1).ask<ListTasksResponse>('ListTasks', { contextId, status, pageSize: 1 })).totalSize;
      const isOver = async (): Promise<boolean> => {
        expect(await countOf('TASK_STATE_FAILED')).toBe(0);
        return (await countOf('TASK_STATE_COMPLETED')) === tasks;
      };
      for (const until = Date.now() + 90_000; !(await isOver());) {
        expect(Date.now()).toBeLessThan(until);
        for (let round = 0; round < 10; round += 1) {
          const asked = performance.now();
          await (await fetch(`${who.url}/.well-known/agent-card.json`)).text();
          times.push(performance.now() - asked);
          await pause(5);
        }
      }
      const { p50, p90, p99, most } = percentilesOf(times);
      const share = crowd();
      expect(p50).toBeLessThan(100 * share);
      // in a short run one of a hundred is the first one, to a process that has just been started; nine of ten are what the tasks leave room for
      expect(rounds(p99, p90)).toBeLessThan(rounds(100, 250) * share);
      expect(most).toBeLessThan(10_000 * share); // and none as long as somebody who does not read
      for (const [index, { id }] of started.entries()) {
        const text = textsIn(await who.get(id)).join('');
        expect(text.length, scriptOf(index)).toBe(index < rounds(5, 2) ? 600 * 20_000 : chunks(1, rounds(2_000, 300)).join('').length);
      }
      for (const socket of stalled) expect(socket.isClosed).toBe(false); // it has a minute to begin with reading
    } finally {
      await Promise.all(stalled.map((socket) => socket[Symbol.asyncDispose]()));
    }
  });

  test.each(callers)('$name: may read late: what waited for them is the log, whole and in order (case 9, AMB-42)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.at(0).start('silent 1500; emit 400 0; done');
    const stream = who.at(1).subscribe(id);
    const first = await stream.next();
    await ended(who.at(0), id);
    const rest = await collect(stream);
    const text = textsOf([...(first.done ? [] : [first.value]), ...rest]).join('');
    expect(text).toBe(chunks(1, 400).join(''));
  });
});

describe('a reader that leaves', () => {
  test.each(callers)('$name: does not end the task, however many leave (case 21, STRM-15)', async (raw) => {
    const who = stage.by(raw).at(0);
    const { id } = await who.start('emit 3 0; hold-auth; emit 3 0; done');
    const cut = await Promise.all(Array.from({ length: rounds(200, 30) }, () => collect(who.subscribe(id), () => true)));
    expect(cut.every((seen) => seen.length === 1)).toBe(true);
    await who.start('go on', { taskId: id });
    const task = await ended(who, id);
    expect([task.status.state, textsIn(task)]).toEqual(['TASK_STATE_COMPLETED', [...chunks(1, 6), 'go on']]);
  });
});
