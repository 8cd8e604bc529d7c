import { describe, expect, test } from 'vitest';
import { connect } from '../../src/client.ts';
import type { Task } from '../../src/client.ts';
import {
  FakeAgent,
  TASK_ID,
  bindings,
  cardAt,
  chunkItem,
  quick,
  sendError,
  sendResult,
  sendStream,
  statusItem,
  taskIn,
} from './fake-agent.ts';

const noStreams = (origin: string): object => ({ ...cardAt(origin), capabilities: {} });

describe.each(bindings)('a handle to a task over %s', (binding) => {
  test('comes from start as soon as the task exists, and waits for it (SEND-09, SEND-10)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.operation === 'SendMessage') sendResult(asked, response, { task: taskIn('TASK_STATE_SUBMITTED') });
      else {
        sendStream(asked, response, [
          [{ task: taskIn('TASK_STATE_WORKING') }],
          [chunkItem('a', false)],
          [chunkItem('b')],
          [statusItem('TASK_STATE_COMPLETED')],
        ]);
      }
    });
    const handle = await (await agent.connect(binding)).start('work');
    expect(agent.asked[0]?.params['configuration']).toEqual({ returnImmediately: true });
    expect(handle.id).toBe(TASK_ID);
    expect(handle.latest?.status.state).toBe('TASK_STATE_SUBMITTED');
    const task = await handle.wait();
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'a' }, { text: 'b' }] }] });
    expect(handle.latest).toBe(task);
  });

  test('cannot be had from an agent that answers with a message, which is not lost', async () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Hi.' }] };
    await using agent = await FakeAgent.open((asked, response) => sendResult(asked, response, { message }));
    await expect((await agent.connect(binding)).start('hi')).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION', cause: message });
  });

  test('waits until the task is paused, or over pauses until it has ended', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      sendStream(asked, response, [
        [{ task: taskIn('TASK_STATE_WORKING') }],
        [statusItem('TASK_STATE_INPUT_REQUIRED')],
        [statusItem('TASK_STATE_WORKING')],
        [statusItem('TASK_STATE_COMPLETED')],
      ]);
    });
    const handle = (await agent.connect(binding)).task(TASK_ID);
    expect((await handle.wait()).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await handle.wait({ until: 'ended' })).status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('looks again and again at the task of an agent that does not stream, and shows what is new', async () => {
    const states = ['WORKING', 'WORKING', 'WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED'];
    await using agent = await FakeAgent.open((asked, response) => {
      const state = states[agent.operations.filter((operation) => operation === 'GetTask').length - 1] ?? 'WORKING';
      if (asked.operation === 'SendMessage') sendResult(asked, response, { task: taskIn('TASK_STATE_SUBMITTED') });
      else sendResult(asked, response, taskIn(`TASK_STATE_${state}`));
    }, noStreams);
    const client = await agent.connect(binding);
    const seen: unknown[] = [];
    const follow = client.task(TASK_ID).follow();
    for await (const item of follow) if ('task' in item) seen.push(item.task.status.state);
    expect(seen).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    agent.asked.length = 0;
    const stream = client.stream('work');
    await stream.result();
    expect(stream.state).toBe('TASK_STATE_INPUT_REQUIRED'); // where the turn of a send ends
    expect(agent.operations).toEqual(['SendMessage', 'GetTask', 'GetTask', 'GetTask', 'GetTask']);
  });

  test('looks at the task when an agent refuses to stream although its card says otherwise (SUB-01)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.operation === 'SubscribeToTask')
        sendError(asked, response, { jsonRpc: -32004, http: 400, reason: 'UNSUPPORTED_OPERATION' });
      else sendResult(asked, response, taskIn(agent.asked.length < 5 ? 'TASK_STATE_WORKING' : 'TASK_STATE_CANCELED'));
    });
    expect((await (await agent.connect(binding)).task(TASK_ID).wait()).status.state).toBe('TASK_STATE_CANCELED');
    expect(agent.operations).toEqual(['SubscribeToTask', 'GetTask', 'SubscribeToTask', 'GetTask', 'SubscribeToTask', 'GetTask']);
  });

  test('sends follow-ups with both ids (TURN-19, peers P3)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.operation === 'GetTask') sendResult(asked, response, taskIn('TASK_STATE_INPUT_REQUIRED'));
      else if (asked.operation === 'SendMessage') sendResult(asked, response, { task: taskIn('TASK_STATE_COMPLETED') });
      else sendStream(asked, response, [[{ task: taskIn('TASK_STATE_COMPLETED') }]]);
    });
    const handle = (await agent.connect(binding)).task(TASK_ID);
    await handle.send('Ada');
    await handle.stream('Ada').result();
    const messages = agent.asked.filter(({ params }) => 'message' in params).map(({ params }) => params['message']);
    expect(messages).toMatchObject([
      { taskId: TASK_ID, contextId: 'context-1' },
      { taskId: TASK_ID, contextId: 'context-1' },
    ]);
    expect(agent.operations).toEqual(['GetTask', 'SendMessage', 'SendStreamingMessage']);
    expect(handle.latest?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('cancels with metadata, tells the state, and minds a wrong answer', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.operation === 'CancelTask') sendResult(asked, response, taskIn('TASK_STATE_CANCELED'));
      else
        sendResult(
          asked,
          response,
          agent.asked.length > 2 ? { ...taskIn('TASK_STATE_CANCELED'), id: 'another' } : taskIn('TASK_STATE_CANCELED'),
        );
    });
    const handle = (await agent.connect(binding)).task(TASK_ID);
    expect((await handle.cancel({ metadata: { why: 'late' } })).status.state).toBe('TASK_STATE_CANCELED');
    expect(agent.asked[0]?.params['metadata']).toEqual({ why: 'late' });
    expect(await handle.state()).toBe('TASK_STATE_CANCELED');
    await expect(handle.get()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
  });

  test('goes on behind a cursor of an earlier stream', async () => {
    await using agent = await FakeAgent.open((asked, response) => sendStream(asked, response, [[statusItem('TASK_STATE_COMPLETED'), 9]]));
    const stream = (await agent.connect(binding)).task(TASK_ID).follow({ after: '8' });
    for await (const item of stream) expect(item).toEqual(statusItem('TASK_STATE_COMPLETED'));
    expect(agent.asked[0]?.headers['last-event-id']).toBe('8');
    expect(stream.cursor).toBe('9');
  });
});

describe.each(bindings)('a list over %s', (binding) => {
  const tasks: readonly Task[] = Array.from({ length: 5 }, (_, index) => ({ ...taskIn('TASK_STATE_COMPLETED'), id: `task-${index}` }));

  test('gives all tasks, page after page, as they are asked for (LIST-06, LIST-08)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      const query = new URL(asked.path, 'http://x').searchParams;
      const token = binding === 'JSONRPC' ? asked.params['pageToken'] : query.get('pageToken');
      const from = typeof token === 'string' ? Number(token.slice(1)) : 0;
      const nextPageToken = from + 2 < tasks.length ? `#${from + 2}` : '';
      sendResult(asked, response, { tasks: tasks.slice(from, from + 2), nextPageToken, pageSize: 2, totalSize: 5 });
    });
    const client = await agent.connect(binding);
    const filter = { pageSize: 2, includeArtifacts: false, historyLength: 0, status: 'TASK_STATE_COMPLETED' } as const;
    const ids: string[] = [];
    for await (const { id } of client.list(filter)) ids.push(id);
    expect(ids).toEqual(['task-0', 'task-1', 'task-2', 'task-3', 'task-4']);
    expect(agent.asked).toHaveLength(3);
    if (binding === 'JSONRPC') expect(agent.asked[1]?.params).toEqual({ ...filter, pageToken: '#2' });
    else
      expect(agent.asked[1]?.path).toBe(
        '/rest/tasks?pageSize=2&includeArtifacts=false&historyLength=0&status=TASK_STATE_COMPLETED&pageToken=%232',
      );
    for await (const { id } of client.list()) {
      expect(id).toBe('task-0');
      break;
    }
    expect(agent.asked).toHaveLength(4); // no page more than was needed
    if (binding === 'JSONRPC') expect(agent.asked[3]?.params).toEqual({}); // no filter is no filter (case 58)
    else expect(agent.asked[3]?.path).toBe('/rest/tasks');
    expect(await client.page({ pageToken: '#4' })).toEqual({ tasks: [tasks[4]], nextPageToken: '', pageSize: 2, totalSize: 5 });
  });

  test('that goes in circles is an error of the protocol', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      sendResult(asked, response, { tasks, nextPageToken: 'again', pageSize: 5, totalSize: 5 });
    });
    const all = async (): Promise<void> => {
      for await (const task of (await agent.connect(binding)).list()) expect(task.id).toBeDefined();
    };
    await expect(all()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    expect(agent.asked).toHaveLength(2);
  });
});

describe('creating a webhook', () => {
  test('is repeated only when its id makes the repeat harmless (AMB-16)', async () => {
    const fetch = (request: Request): Response | Promise<Response> => {
      tries += 1;
      return request.url.endsWith('.json') ? Response.json(cardAt('http://agent.example')) : Promise.reject(new TypeError('fetch failed'));
    };
    let tries = 0;
    const client = await connect('http://agent.example', { fetch, retry: { ...quick, tries: 3 } });
    tries = 0;
    const hook = { taskId: TASK_ID, url: 'https://hooks.example' };
    await expect(client.call('CreateTaskPushNotificationConfig', hook)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(tries).toBe(1);
    await expect(client.call('CreateTaskPushNotificationConfig', { ...hook, id: 'mine' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(tries).toBe(5);
  });
});
