import { afterAll, describe, expect, test } from 'vitest';
import { createScripted } from '../../examples/scripted.ts';
import type { Agent } from '../../src/index.ts';
import { createAgent, memory, silentLogger } from '../../src/index.ts';
import type { Client, ConnectOptions, StreamResponse, Task } from '../../src/client.ts';
import { answerText, connect, isTask } from '../../src/client.ts';
import { serve } from '../../src/node.ts';
import { bindings, eventually, quick } from './fake-agent.ts';

const running: Agent[] = [];

/** Replicas of the scripted agent over one store. */
function replicas(count: number): readonly Agent[] {
  const store = memory();
  const agents = Array.from({ length: count }, () => createAgent({ ...createScripted(), store, logger: silentLogger, pollMs: 20 }));
  running.push(...agents);
  return agents;
}

afterAll(async () => {
  await Promise.all(running.map((agent) => agent.close()));
});

/** The same agent, by an object and by a socket. */
const ways: readonly (readonly [string, (options: ConnectOptions) => Promise<Client>])[] = [
  ['in this process', (options) => connect(replicas(1)[0] ?? '', options)],
  [
    'over HTTP',
    async (options) => {
      const [agent] = replicas(1);
      if (!agent) throw new Error('one replica was asked for');
      const served = await serve(agent, { port: 0, signals: false });
      afterAll(() => served.close());
      return connect(served.url, options);
    },
  ],
];

const matrix = ways.flatMap(([way, open]) =>
  bindings.map((binding) => ({ name: `${way}, ${binding}`, open: () => open({ prefer: binding }) })),
);

describe.each(matrix)('the client and a real agent, $name', ({ open }) => {
  test('send, stream, start, wait, get and list', async () => {
    const client = await open();
    const sent = await client.send('emit 2 0; done Finished.');
    expect(isTask(sent) && sent.status.state).toBe('TASK_STATE_COMPLETED');
    expect(answerText(sent)).toBe('1 2 ');
    expect(answerText(await client.send('reply Hello.'))).toBe('Hello.');

    const stream = client.stream('work; emit 3 0; done');
    const kinds = new Set<string | undefined>();
    for await (const item of stream) kinds.add(Object.keys(item)[0]);
    expect([...kinds]).toEqual(['task', 'statusUpdate', 'artifactUpdate']);
    expect(stream.task && answerText(stream.task)).toBe('1 2 3 ');

    const handle = await client.start('silent 20; emit 1 0; done');
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(handle.latest?.status.state);
    const task = await handle.wait();
    expect(task).toEqual(await handle.get());
    expect(await handle.state()).toBe('TASK_STATE_COMPLETED');
    expect((await handle.get({ historyLength: 0 })).history).toBeUndefined();
    expect(await handle.follow().result()).toEqual(task);

    const ids: string[] = [];
    for await (const { id } of client.list({ pageSize: 1 })) ids.push(id);
    expect(ids).toHaveLength(3);
    expect(ids).toContain(task.id);
  });

  test('a question and its answer, and a follower that sees both turns', async () => {
    const client = await open();
    const asked = await client.send('ask Who should I greet?');
    if (!isTask(asked)) throw new Error('a task was expected');
    expect(answerText(asked)).toBe('Who should I greet?');
    const handle = client.task(asked.id);
    const follower = handle.follow();
    const followed = follower.result();
    await eventually(() => follower.state === 'TASK_STATE_INPUT_REQUIRED');
    const answer = handle.stream('artifact greeting Hello, Ada!; done');
    await answer.result();
    expect(answer.task && answerText(answer.task)).toBe('Hello, Ada!');
    expect((await followed) as Task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } }); // it was a task before
  });

  test('a cancel, seen by everybody', async () => {
    const client = await open();
    const handle = await client.start('silent 60000');
    const waiting = handle.wait();
    expect((await handle.cancel()).status.state).toBe('TASK_STATE_CANCELED');
    expect((await waiting).status.state).toBe('TASK_STATE_CANCELED');
    expect((await handle.cancel()).status.state).toBe('TASK_STATE_CANCELED'); // AMB-04
    await expect(handle.send('more')).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });

  test('typed errors, with the fields that are wrong (ERR-10)', async () => {
    const client = await open();
    await expect(client.task('nobody').get()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND', metadata: { taskId: 'nobody' } });
    await expect(client.task('nobody').follow().result()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(client.send([])).rejects.toMatchObject({ code: 'INVALID_PARAMS', violations: [{ field: 'message.parts' }] });
    await expect(client.page({ pageSize: 1_000 })).rejects.toMatchObject({ code: 'INVALID_PARAMS', violations: [{ field: 'pageSize' }] });
    await expect(client.call('GetExtendedAgentCard', {})).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    await expect(client.send('error CONTENT_TYPE_NOT_SUPPORTED Only poems.')).rejects.toMatchObject({ code: 'CONTENT_TYPE_NOT_SUPPORTED' });
  });

  test('one key is one task, however often it is sent; other content under it is refused (P9)', async () => {
    const client = await open();
    const message = { messageId: 'm', parts: [{ text: 'emit 1 0' }] };
    const sends = [client.send(message, { key: 'k' }), client.send(message, { key: 'k' }), client.stream(message, { key: 'k' }).result()];
    const tasks = await Promise.all(sends);
    expect(new Set(tasks.map((task) => isTask(task) && task.id)).size).toBe(1);
    await expect(client.send('emit 2 0', { key: 'k' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });
});

describe('a client before several replicas', () => {
  /** Hands each request to the next replica, and breaks every stream after a few events. */
  function roundRobin(agents: readonly Agent[], eventsMax = Infinity): (request: Request) => Promise<Response> {
    let next = 0;
    return async (request) => {
      next += 1;
      const response = await agents[next % agents.length]?.fetch(request);
      if (!response) throw new Error('there are replicas');
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      return isStream && response.body ? new Response(cutAfter(response.body, eventsMax), response) : response;
    };
  }

  /** The body, until that many events have passed; then it breaks. */
  function cutAfter(body: ReadableStream<Uint8Array>, events: number): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    let passed = 0;
    return new ReadableStream(
      {
        async pull(controller) {
          if (passed >= events) {
            controller.error(new Error('cut'));
            return reader.cancel();
          }
          const { done, value } = await reader.read();
          if (done) return controller.close();
          const text = new TextDecoder().decode(value);
          passed += text.split('\n\n').filter((block) => block.includes('data:')).length;
          controller.enqueue(value);
        },
        cancel: () => reader.cancel(),
      },
      { highWaterMark: 0 }, // nothing waits in it: an error would drop what has passed, and where nothing gets through nobody gets on
    );
  }

  const open = (agents: readonly Agent[], eventsMax?: number): Promise<Client> =>
    connect('http://front.example', { fetch: roundRobin(agents, eventsMax), reconnect: quick, retry: quick });

  test.each([1, 2, 3, 7])(
    'sees every event once and in order, whatever replica it comes back to, cut after every %i events (P1, case 20)',
    async (events) => {
      const agents = replicas(3);
      const client = await open(agents, events);
      const stream = client.stream('work; emit 12 3; done');
      const items: StreamResponse[] = [];
      for await (const item of stream) items.push(item);
      const uncut = await connect(agents[0] ?? '');
      const whole = await uncut.task(stream.task?.id ?? '').get();
      expect(answerText(whole)).toBe(Array.from({ length: 12 }, (_, index) => `${index + 1} `).join(''));
      expect(stream.task && answerText(stream.task)).toBe(answerText(whole));
      const told = items.map((item) => ('artifactUpdate' in item ? item.artifactUpdate.artifact.parts : [])).flat();
      expect(told).toEqual(whole.artifacts?.flatMap(({ parts }) => parts));
      expect(items.filter((item) => 'task' in item)).toHaveLength(1);
    },
  );

  test.each(['send', 'stream'] as const)('goes on with a %s when the replica that answers goes down (AMB-12, AMB-24)', async (verb) => {
    const store = memory();
    let isStarted = false;
    const [first, second] = ['first', 'second'].map(() =>
      createAgent({
        card: { name: 'Patient', description: 'Gets it done the second time.', version: '1.0.0' },
        store,
        logger: silentLogger,
        onLost: 'retry',
        drainMs: 2_000, // calls are let go 2 s before its end: at once
        pollMs: 20,
        async run(turn) {
          isStarted = true;
          if (turn.attempt === 1) await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
          return `Done by attempt ${turn.attempt}.`;
        },
      }),
    );
    if (!first || !second) throw new Error('two replicas were made');
    running.push(first, second);
    let isDown = false;
    const fetch = (request: Request): Promise<Response> => (isDown ? second : first).fetch(request);
    const client = await connect('http://front.example', { fetch, reconnect: quick, retry: quick });
    const sent = verb === 'send' ? client.send('work') : client.stream('work').result();
    await eventually(() => isStarted);
    await second.start();
    isDown = true;
    await first.close();
    expect(answerText(await sent)).toBe('Done by attempt 2.');
  });
});
