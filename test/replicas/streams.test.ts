import { connect as connectSocket } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { opened, untilMet } from './races.ts';
import { chunks, collect, ended, eventually, idIn, openStage, partsOf, pause, rounds, standing, statesOf, textsOf } from './support.ts';
import type { Stage } from './support.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const bindings = ['JSONRPC', 'HTTP+JSON'] as const;

describe('a stream', () => {
  test('that was cut goes on behind its cursor on another replica, without gap or repeat (case 20)', async () => {
    const [a, b, c] = [stage.probe(0), stage.probe(1), stage.probe(2)];
    const before = await collect(a.stream('emit 100 10; done', { reader: 'cut' }), (_seen, all) => all.length === 11);
    const id = idIn(before[0]?.item);
    await pause(300);
    const after = before.at(-1)?.seq ?? 0;
    const behind = await collect(b.subscribe(id, { after, reader: 'cut' }));
    expect(behind.some(({ item }) => 'task' in item)).toBe(false);
    expect([...textsOf(before), ...textsOf(behind)]).toEqual(chunks(1, 100));
    // the task has ended meanwhile: what is left, then the end; and nothing more behind the end
    expect(textsOf(await collect(c.subscribe(id, { after })))).toEqual(textsOf(behind));
    await expect(collect(c.subscribe(id, { after: behind.at(-1)?.seq ?? 0 }))).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    await expect(collect(c.subscribe(id))).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });

  test('opened without a cursor shows the task as it stands and then all that follows (case 20)', async () => {
    const { id } = await stage.probe(0).sendForTask('emit 100 5; done', { returnImmediately: true });
    await eventually('the first chunks', async () => partsOf(await stage.probe(1).get(id)).length >= 10);
    expect(textsOf(await collect(stage.probe(1).subscribe(id)))).toEqual(chunks(1, 100));
  });

  test('on the executing replica, opened at any moment, shows nothing twice (case 97)', async () => {
    const a = stage.probe(0);
    let round = 0;
    await untilMet(['in the middle'], rounds(50, 5), async () => {
      const { id } = await a.sendForTask('emit 200 2; done', { returnImmediately: true });
      await pause((round++ * 137) % 400); // all over its life
      const seen = await collect(a.subscribe(id)).catch(() => []); // it may have ended already
      if (seen.length > 0) expect(textsOf(seen)).toEqual(chunks(1, 200));
      else await ended(a, id);
      return seen.length > 1 ? ['in the middle'] : [];
    });
  });

  test('is not what keeps a task going: it goes on when the caller leaves, and can be followed again (case 21)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const seen = await collect(a.stream('emit 20 50; done'), (_seen, all) => all.length === 2);
    const id = idIn(seen[0]?.item);
    expect(statesOf(await collect(b.subscribe(id))).at(-1)).toBe('TASK_STATE_COMPLETED');
    expect(partsOf(await a.get(id))).toEqual(chunks(1, 20));
  });

  test('shows every event in order under back-to-back emission, to three readers alike (case 54)', async () => {
    const { id } = await stage.probe(0).sendForTask('hold-auth go?; emit 5000 0; done', { returnImmediately: true });
    await standing(stage.probe(0), id, 'TASK_STATE_AUTH_REQUIRED');
    const readers = await Promise.all(stage.probes().map((probe) => opened(probe.subscribe(id))));
    await stage.probe(0).sendForTask('go', { taskId: id, returnImmediately: true });
    for (const { all } of readers) expect(textsOf(await all)).toEqual(['go', ...chunks(1, 5000)]);
    expect(partsOf(await stage.probe(1).get(id))).toHaveLength(5001); // and the answer
  });

  test('of a quick task begins with its Task, of small talk with its Message, and is never empty (case 39, case 35)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    for (let round = 0; round < rounds(2_500, 40); round++) {
      const quick = await collect((round % 2 === 0 ? a : b).stream('emit 1 0; done'));
      const [first] = quick;
      expect(first?.item).toHaveProperty('task');
      // as of the commit that recorded the message: a later chunk is not in it (case 35)
      expect(first && 'task' in first.item && first.item.task.artifacts).toBeUndefined();
      expect(statesOf(quick).at(-1)).toBe('TASK_STATE_COMPLETED');
      const reply = await collect(a.stream('reply hello'));
      expect(reply).toMatchObject([{ item: { message: { parts: [{ text: 'hello' }] } } }]);
    }
  });

  test.each(bindings)('to an unknown or an ended task is refused before it begins, over %s (case 52, case 53)', async (binding) => {
    const a = stage.probe(0, { binding });
    const unknown = crypto.randomUUID();
    await expect(collect(a.subscribe(unknown))).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(collect(a.stream('done', { taskId: unknown }))).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    const { id } = await a.sendForTask('done');
    await expect(collect(a.subscribe(id))).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    await expect(collect(a.stream('done', { taskId: id }))).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    await expect(a.send('done', { taskId: id })).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    // plain: a status and a JSON body, no SSE 200
    const { url } = stage.rig.replica(0);
    const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' };
    const request = { jsonrpc: '2.0', id: 7, method: 'SubscribeToTask', params: { id } };
    const answer =
      binding === 'JSONRPC'
        ? await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) })
        : await fetch(`${url}/rest/tasks/${id}:subscribe`, { method: 'POST', headers });
    expect(answer.status).toBe(binding === 'JSONRPC' ? 200 : 400);
    expect(answer.headers.get('content-type')).toMatch(/json/);
  });
});

describe('an answer', () => {
  test('of a blocking send holds all that was said, however many wait at once (case 34)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const tasks = await Promise.all(Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? a : b).sendForTask('emit 10 0; done')));
    for (const task of tasks) {
      expect(partsOf(task)).toEqual(chunks(1, 10));
      expect(await b.get(task.id)).toEqual(task);
    }
  });

  test('of a blocking send says what pollers elsewhere see in the end (case 33)', async () => {
    const answering = stage.probe(0).sendForTask('emit 5 20; done');
    const task = await answering;
    expect(partsOf(task)).toEqual(chunks(1, 5));
    expect(await stage.probe(1).get(task.id)).toEqual(task);
  });

  test('given at once is the task as it was then, not as it became (case 35)', async () => {
    for (let round = 0; round < rounds(1_000, 40); round++) {
      const task = await stage.probe(round % 3).sendForTask('emit 3 0; done', { returnImmediately: true });
      expect(task.artifacts).toBeUndefined();
      expect(['TASK_STATE_WORKING', 'TASK_STATE_SUBMITTED']).toContain(task.status.state);
    }
  });
});

describe('readers that never read', () => {
  test('cost only themselves: cards answer in time and every task ends (case 9)', async () => {
    const count = rounds(40, 10);
    const events = rounds(2_000, 1_000);
    const a = stage.probe(0);
    const tasks = await Promise.all(
      Array.from({ length: count }, () => a.sendForTask(`emit ${events} 0 200; done`, { returnImmediately: true })),
    );
    const sockets = tasks.slice(0, 5).map(({ id }) => deafReader(stage.rig.replica(0).url, id));
    const took: number[] = [];
    for (const task of tasks) {
      for (let isOver = false; !isOver;) {
        const start = performance.now();
        await a.card();
        took.push(performance.now() - start);
        isOver = (await a.get(task.id, { historyLength: 0 })).status.state === 'TASK_STATE_COMPLETED';
        await pause(20);
      }
    }
    for (const socket of sockets) socket.destroy();
    took.sort((one, other) => one - other);
    expect(took[Math.floor(took.length * 0.5)]).toBeLessThan(100);
    expect(took.at(-1)).toBeLessThan(10_000); // never as long as somebody who does not read
  }, 120_000);

  /** A subscriber that asks and then never takes a byte. */
  function deafReader(url: string, taskId: string): Socket {
    const { hostname, port } = new URL(url);
    const socket = connectSocket({ host: hostname, port: Number(port) });
    socket.pause();
    socket.on('error', () => undefined); // the server may close it: that is its right
    socket.write(`POST /rest/tasks/${taskId}:subscribe HTTP/1.1\r\nhost: x\r\na2a-version: 1.0\r\ncontent-length: 0\r\n\r\n`);
    return socket;
  }
});

describe('all that was seen here', () => {
  test('broke no promise', async () => {
    const verdict = await stage.verdict();
    expect(verdict.violations).toEqual([]);
  }, 120_000);
});
