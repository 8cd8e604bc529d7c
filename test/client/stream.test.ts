import { describe, expect, test } from 'vitest';
import type { StreamResponse } from '../../src/client.ts';
import { answerText } from '../../src/client.ts';
import type { Asked, Numbered } from './fake-agent.ts';
import {
  FakeAgent,
  TASK_ID,
  bindings,
  chunkItem,
  errorText,
  eventText,
  eventually,
  openStream,
  quick,
  sendAndCut,
  sendError,
  sendResult,
  sendStream,
  statusItem,
  taskIn,
  unavailable,
} from './fake-agent.ts';

const unsupported = { jsonRpc: -32004, http: 400, reason: 'UNSUPPORTED_OPERATION' };
const notFound = { jsonRpc: -32001, http: 404, reason: 'TASK_NOT_FOUND' };

/** A log as our server shows it: seq 1 is the message, never on a stream. */
const log: readonly (readonly [StreamResponse, number])[] = [
  [statusItem('TASK_STATE_WORKING'), 2],
  [chunkItem('a', false), 3],
  [chunkItem('b'), 4],
  [chunkItem('c'), 6], // 5 was another user's message: ids have holes
  [statusItem('TASK_STATE_COMPLETED'), 7],
];

/** What our server sends behind a cursor; without one a snapshot of what the log held after the accept. */
function tailFor({ headers }: Asked): readonly Numbered[] {
  const after = headers['last-event-id'];
  if (after === undefined) return [[{ task: taskIn('TASK_STATE_SUBMITTED') }, 1], ...log];
  return log.filter(([, seq]) => seq > Number(after));
}

const textOfStream = (items: readonly StreamResponse[]): string =>
  items.map((item) => ('artifactUpdate' in item ? answerText({ ...taskIn(''), artifacts: [item.artifactUpdate.artifact] }) : '')).join('');

describe.each(bindings)('a stream over %s', (binding) => {
  test('of an agent that talks for ever ends with an error, not with a full memory (P11, case 84)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      const pieces = Array.from({ length: 40 }, (_, index) => [chunkItem('x'.repeat(1_000), index > 0), index + 2] as const);
      sendStream(asked, response, [[{ task: taskIn('TASK_STATE_WORKING') }, 1], ...pieces]);
    });
    const stream = (await agent.connect(binding, { answerBytesMax: 20_000 })).stream('greet');
    await expect(stream.result()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    const { length } = stream.task ? answerText(stream.task) : '';
    expect(length).toBeGreaterThan(10_000); // what fitted is there
    expect(length).toBeLessThan(20_000);
  });

  test('may show the whole task as often as it likes: each replaces what was there', async () => {
    const whole = taskIn('TASK_STATE_WORKING', { artifacts: [{ artifactId: 'out', parts: [{ text: 'x'.repeat(5_000) }] }] });
    await using agent = await FakeAgent.open((asked, response) =>
      sendStream(asked, response, [
        ...Array.from({ length: 10 }, (_, index) => [{ task: whole }, index + 1] as const),
        [statusItem('TASK_STATE_COMPLETED'), 11],
      ]),
    );
    const stream = (await agent.connect(binding, { answerBytesMax: 20_000 })).stream('greet');
    expect(await stream.result()).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });

  test('of a send gives items and a folded view: deltas once, a final task replaces (case 89)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      sendStream(asked, response, [
        [{ task: taskIn('TASK_STATE_WORKING') }, 1],
        [chunkItem('Hello, ', false), 2],
        [chunkItem('world!'), 3],
        [{ task: taskIn('TASK_STATE_COMPLETED', { artifacts: [{ artifactId: 'out', parts: [{ text: 'Hello, world!' }] }] }) }],
      ]);
    });
    const stream = (await agent.connect(binding)).stream('greet');
    const views: string[] = [];
    for await (const item of stream) views.push(`${Object.keys(item)[0]} ${stream.state} ${stream.task ? answerText(stream.task) : ''}`);
    expect(views).toEqual([
      'task TASK_STATE_WORKING ',
      'artifactUpdate TASK_STATE_WORKING Hello, ',
      'artifactUpdate TASK_STATE_WORKING Hello, world!',
      'task TASK_STATE_COMPLETED Hello, world!',
    ]);
    expect(agent.asked[0]?.headers.accept).toContain('text/event-stream');
    expect(agent.asked[0]?.headers['idempotency-key']).toBeDefined();
  });

  // after n items the connection breaks; n = 0 is before the first item
  test.each([0, 1, 2, 3, 4, 5])('goes on by itself when it is cut after %i items: no gap, no repeat, one task (P1)', async (n) => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (agent.asked.length === 1) sendAndCut(asked, response, tailFor(asked).slice(0, n));
      else sendStream(asked, response, tailFor(asked));
    });
    const stream = (await agent.connect(binding)).stream('count');
    const items: StreamResponse[] = [];
    for await (const item of stream) items.push(item);
    expect(items).toEqual([{ task: taskIn('TASK_STATE_SUBMITTED') }, ...log.map(([item]) => item)]);
    expect(answerText(await Promise.resolve(stream.task ?? taskIn('')))).toBe('abc');
    expect(stream.cursor).toBe('7');
    if (n === 0) {
      expect(agent.operations).toEqual(['SendStreamingMessage', 'SendStreamingMessage']);
      expect(agent.asked[0]?.headers['idempotency-key']).toBe(agent.asked[1]?.headers['idempotency-key']);
    } else {
      expect(agent.operations).toEqual(['SendStreamingMessage', 'SubscribeToTask']);
      expect(agent.asked[1]?.headers['last-event-id']).toBe(String([1, ...log.map(([, seq]) => seq)][n - 1]));
    }
  });

  test('goes on by itself when it is cut after every single item', async () => {
    await using agent = await FakeAgent.open((asked, response) => sendAndCut(asked, response, tailFor(asked).slice(0, 1)));
    const stream = (await agent.connect(binding)).task(TASK_ID).follow();
    const items: StreamResponse[] = [];
    for await (const item of stream) items.push(item);
    expect(items).toHaveLength(6);
    expect(textOfStream(items)).toBe('abc');
  });

  test('takes a clean end without an end of the task for a cut: a replica that shuts down closes so (AMB-12)', async () => {
    await using agent = await FakeAgent.open((asked, response) => sendStream(asked, response, tailFor(asked).slice(0, 2)));
    const stream = (await agent.connect(binding)).stream('count');
    await stream.result();
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
    expect(agent.operations).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'SubscribeToTask']);
  });

  test('drops what a server shows again (P1)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      const [first, second, ...rest] = tailFor({ ...asked, headers: {} });
      if (!first || !second) throw new Error('the log is longer');
      if (agent.asked.length === 1) sendAndCut(asked, response, [first, second, second, ...rest.slice(0, 2)]);
      else sendStream(asked, response, [second, ...rest]); // a careless server begins at the beginning
    });
    const stream = (await agent.connect(binding)).stream('count');
    const items: StreamResponse[] = [];
    for await (const item of stream) items.push(item);
    expect(items).toHaveLength(6);
    expect(textOfStream(items)).toBe('abc');
  });

  test('replaces the view when a server gives a snapshot instead of a continuation', async () => {
    const snapshot = taskIn('TASK_STATE_WORKING', { artifacts: [{ artifactId: 'out', parts: [{ text: 'a' }, { text: 'b' }] }] });
    await using agent = await FakeAgent.open((asked, response) => {
      if (agent.asked.length === 1) sendAndCut(asked, response, [[{ task: taskIn('TASK_STATE_WORKING') }], [chunkItem('a', false)]]);
      else if (agent.asked.length === 2) sendAndCut(asked, response, [[{ task: snapshot }]]);
      else sendStream(asked, response, [[{ task: snapshot }], [chunkItem('c')], [statusItem('TASK_STATE_COMPLETED')]]);
    });
    const stream = (await agent.connect(binding)).stream('count');
    const kinds: (string | undefined)[] = [];
    for await (const item of stream) kinds.push(Object.keys(item)[0]);
    expect(kinds).toEqual(['task', 'artifactUpdate', 'task', 'artifactUpdate', 'statusUpdate']); // the same snapshot is shown once
    expect(stream.task ? answerText(stream.task) : '').toBe('abc');
    expect(agent.asked[2]?.headers['last-event-id']).toBeUndefined();
  });

  test('ends with a direct message (STRM-03)', async () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Hi.' }] } as const;
    await using agent = await FakeAgent.open((asked, response) => sendStream(asked, response, [[{ message }]]));
    const stream = (await agent.connect(binding)).stream('hi');
    expect(await stream.result()).toEqual(message);
    expect(stream.task).toBeUndefined();
    expect(agent.asked).toHaveLength(1);
  });

  test('of an unknown task rejects with that (SUB-02)', async () => {
    await using agent = await FakeAgent.open((asked, response) => sendError(asked, response, notFound));
    const client = await agent.connect(binding);
    await expect(client.task(TASK_ID).follow().result()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(client.stream('go on', { taskId: TASK_ID }).result()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });

  test('ends its loop when it is closed from outside, and rejects when its signal fires', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      openStream(response);
      response.write(eventText(asked, { task: taskIn('TASK_STATE_WORKING') }, 1));
    });
    const client = await agent.connect(binding);
    const stream = client.task(TASK_ID).follow();
    const reading = (async () => {
      let items = 0;
      for await (const item of stream) items += Object.keys(item).length;
      return items;
    })();
    await eventually(() => stream.task !== undefined);
    await stream.close();
    expect(await reading).toBe(1);
    await eventually(() => agent.open === 0);
    const controller = new AbortController();
    const other = client.task(TASK_ID).follow({ signal: controller.signal });
    const result = other.result();
    await eventually(() => other.task !== undefined);
    controller.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
    await eventually(() => agent.open === 0);
    expect(() => other[Symbol.asyncIterator]()).toThrow('read once');
  });

  test('does not hold its reader’s own pace against the agent', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      openStream(response);
      response.write(eventText(asked, { task: taskIn('TASK_STATE_WORKING') }, 1));
      setTimeout(() => response.end(eventText(asked, statusItem('TASK_STATE_COMPLETED'), 2)), 20);
    });
    const stream = (await agent.connect(binding, { idleTimeoutMs: 300 })).task(TASK_ID).follow();
    for await (const item of stream) if ('task' in item) await new Promise((resolve) => setTimeout(resolve, 700));
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
    expect(agent.asked).toHaveLength(1);
  });

  test('that was read to its end leaves its connection to the next call', async () => {
    await using agent = await FakeAgent.open((asked, response) => sendStream(asked, response, tailFor(asked)));
    const client = await agent.connect(binding);
    for (let round = 0; round < 10; round++) await client.task(TASK_ID).follow().result();
    expect(agent.asked).toHaveLength(10);
    expect(agent.connections).toBeLessThan(5); // one, but for the pool's own ways
  });

  test('has an end of its own if it is given one', async () => {
    await using agent = await FakeAgent.open(() => undefined);
    const client = await agent.connect(binding);
    await expect(client.task(TASK_ID).follow({ timeoutMs: 30 }).result()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('longer than 30 ms'),
    });
  });

  test('rejects with the typed error that comes instead of an item, and goes on after one that says to come back (AMB-12)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      const nth = agent.asked.length;
      const purged = { ...notFound, message: 'purged' };
      if (asked.operation === 'GetTask') return sendError(asked, response, purged);
      openStream(response);
      if (nth === 1) response.write(eventText(asked, { task: taskIn('TASK_STATE_WORKING') }, 1));
      response.end(`data: ${JSON.stringify(errorText(asked, nth === 1 ? unavailable : purged))}\n\n`);
    });
    await expect((await agent.connect(binding)).stream('work').result()).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
      message: expect.stringContaining('purged'),
    });
    expect(agent.operations).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'GetTask']);
  });

  test('gives up when nobody lets it in again for as many tries as it was told', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (agent.asked.length === 1) sendAndCut(asked, response, [[{ task: taskIn('TASK_STATE_WORKING') }, 1]]);
      else response.socket?.destroy();
    });
    const client = await agent.connect(binding, { reconnect: { ...quick, tries: 3 } });
    await expect(client.stream('work').result()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(agent.asked).toHaveLength(5);
  });

  test('that never brings a first item is not sent for ever: a server without keys would run it each time', async () => {
    await using agent = await FakeAgent.open((asked, response) => sendStream(asked, response, []));
    const client = await agent.connect(binding, { retry: { ...quick, tries: 2 } });
    await expect(client.stream('work').result()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(agent.operations).toEqual(['SendStreamingMessage', 'SendStreamingMessage', 'SendStreamingMessage']);
  });

  test('does not take an item of another task', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      sendStream(asked, response, [
        [{ task: taskIn('TASK_STATE_WORKING') }],
        [{ task: { ...taskIn('TASK_STATE_WORKING'), id: 'another' } }],
      ]);
    });
    await expect((await agent.connect(binding)).stream('work').result()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
  });

  test('survives states it does not know (case 90)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      sendStream(asked, response, [
        [{ task: taskIn('TASK_STATE_DREAMING') }],
        [statusItem('TASK_STATE_WAKING')],
        [{ artifactUpdate: { taskId: TASK_ID, contextId: '', artifact: { artifactId: 'out', parts: [] } } }],
        [statusItem('TASK_STATE_COMPLETED')],
      ]);
    });
    const stream = (await agent.connect(binding)).stream('work');
    await stream.result();
    expect(stream.task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ artifactId: 'out', parts: [] }] });
  });

  test('takes a plain JSON answer to a streaming call, an error or a single item (RPC-12, AMB-12)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (agent.asked.length === 1) sendResult(asked, response, { task: taskIn('TASK_STATE_COMPLETED') });
      else sendError(asked, response, unsupported);
    });
    const client = await agent.connect(binding);
    expect(await client.stream('work').result()).toMatchObject({ id: TASK_ID });
    await expect(client.stream('work').result()).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });
});

describe('a stream over JSON-RPC', () => {
  test('that brings nothing for too long is taken for cut; heartbeats keep it open (AMB-13)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      const nth = agent.asked.length;
      if (nth === 1) return; // not even a head
      openStream(response);
      if (nth === 2) response.write(eventText(asked, { task: taskIn('TASK_STATE_WORKING') }, 1)); // and then silence
      else {
        let beats = 0;
        const timer = setInterval(() => {
          beats += 1;
          if (beats < 200) response.write(':\n\n'); // two seconds of heartbeats
          else response.end(eventText(asked, statusItem('TASK_STATE_COMPLETED'), 2), () => clearInterval(timer));
        }, 10);
      }
    });
    const stream = (await agent.connect('JSONRPC', { idleTimeoutMs: 1_500 })).task(TASK_ID).follow(); // longer than this process is ever held up
    await stream.result();
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
    expect(agent.asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, undefined, '1']);
  });

  test('closes its connection on every early exit, 500 times (case 85)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      openStream(response);
      response.write(eventText(asked, { task: taskIn('TASK_STATE_WORKING') }, 1));
    });
    const client = await agent.connect();
    for (let round = 0; round < 50; round++) {
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          for await (const item of client.task(TASK_ID).follow()) {
            expect(item).toHaveProperty('task');
            break;
          }
        }),
      );
    }
    expect(agent.asked).toHaveLength(500);
    await eventually(() => agent.open === 0);
  });

  test('with the id of another request is an error of the protocol (case 87)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      sendStream({ ...asked, id: 'another' }, response, [[{ task: taskIn('TASK_STATE_WORKING') }]]);
    });
    await expect((await agent.connect()).stream('work').result()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    expect(agent.asked).toHaveLength(1);
  });
});

describe('a subscription over REST', () => {
  test.each([404, 405])('is sent as POST, and as GET to a server that answers %i to that (AMB-10)', async (status) => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.method === 'POST') response.writeHead(status).end();
      else sendStream(asked, response, [[{ task: taskIn('TASK_STATE_WORKING') }], [statusItem('TASK_STATE_COMPLETED')]]);
    });
    const stream = (await agent.connect('HTTP+JSON')).task(TASK_ID).follow();
    await stream.result();
    expect(agent.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST /rest/tasks/${TASK_ID}:subscribe`,
      `GET /rest/tasks/${TASK_ID}:subscribe`,
    ]);
  });

  test('to an unknown task of a server that serves POST alone is not found', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.method === 'GET' && asked.operation === 'SubscribeToTask') response.writeHead(405).end();
      else sendError(asked, response, notFound);
    });
    await expect((await agent.connect('HTTP+JSON')).task(TASK_ID).follow().result()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });
});
