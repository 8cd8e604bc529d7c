import { describe, expect, test } from 'vitest';
import { A2AError, answerText, connect, isA2AError, isTask } from '../../src/client.ts';
import {
  FakeAgent,
  TASK_ID,
  bindings,
  cardAt,
  chunkItem,
  eventually,
  quick,
  sendError,
  sendJson,
  sendResult,
  sendStream,
  statusItem,
  taskIn,
  unavailable,
} from './fake-agent.ts';

const done = taskIn('TASK_STATE_COMPLETED', { artifacts: [{ artifactId: 'out', parts: [{ text: 'Hello, Ada!' }] }] });

describe.each(bindings)('a call over %s', (binding) => {
  test('sends what it was given, and gives the task or the message that comes back (SEND-01)', async () => {
    const reply = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Hi.' }] };
    await using agent = await FakeAgent.open((asked, response) => {
      const { message } = asked.params as { message: { parts: [{ text: string }] } }; // our client wrote it
      sendResult(asked, response, message.parts[0].text === 'small talk' ? { message: reply } : { task: done });
    });
    const client = await agent.connect(binding, { extensions: ['urn:a', 'urn:b'] });
    const answer = await client.send('Ada', {
      contextId: 'context-1',
      metadata: { a: 1 },
      historyLength: 0,
      acceptedOutputModes: ['text/plain'],
    });
    expect(isTask(answer)).toBe(true);
    expect(answerText(answer)).toBe('Hello, Ada!');
    expect(agent.asked[0]?.params).toEqual({
      message: { role: 'ROLE_USER', parts: [{ text: 'Ada' }], messageId: expect.stringMatching(/^[0-9a-f-]{36}$/), contextId: 'context-1' },
      configuration: { historyLength: 0, acceptedOutputModes: ['text/plain'] },
      metadata: { a: 1 },
    });
    expect(agent.asked[0]?.headers).toMatchObject({ 'a2a-version': '1.0', 'a2a-extensions': 'urn:a, urn:b' });
    expect(await client.send({ parts: [{ text: 'small talk' }], messageId: 'mine', referenceTaskIds: [TASK_ID] })).toEqual(reply);
    expect(agent.asked[1]?.params['message']).toEqual({
      role: 'ROLE_USER',
      parts: [{ text: 'small talk' }],
      messageId: 'mine',
      referenceTaskIds: [TASK_ID],
    });
  });

  test('sends a message with a key, and sends it again with the same key until there is an answer (IDEM, P9)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      const tries = agent.asked.length;
      if (tries === 1) response.socket?.destroy(); // no answer at all
      else if (tries === 2)
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
          .write('{"jsonrpc"', () => response.socket?.destroy());
      else if (tries === 3) sendError(asked, response, unavailable);
      else if (tries === 4) response.writeHead(503, { 'content-type': 'text/html', 'retry-after': '0' }).end('<h1>Bad Gateway</h1>');
      else if (tries === 5) response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":"1","resu'); // cut, and yet closed well
      else if (tries === 6) sendJson(response, { error: { code: 408, message: 'The request did not arrive in time.' } }, 408); // on a connection opened in advance
      else sendResult(asked, response, { task: done });
    });
    const client = await agent.connect(binding);
    expect(answerText(await client.send('Ada'))).toBe('Hello, Ada!');
    const keys = new Set(agent.asked.map(({ headers }) => headers['idempotency-key']));
    const messages = new Set(agent.asked.map(({ params }) => JSON.stringify(params)));
    expect(agent.asked).toHaveLength(7);
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(messages.size).toBe(1);
    await client.send('Ada');
    await client.send('Ada', { key: 'mine' });
    expect(agent.asked[7]?.headers['idempotency-key']).not.toBe([...keys][0]);
    expect(agent.asked[8]?.headers['idempotency-key']).toBe('mine');
  });

  test('gives up after as many tries as it was told, with the last reason', async () => {
    await using agent = await FakeAgent.open((asked, response) =>
      sendError(asked, response, { ...unavailable, message: 'The database is away.' }),
    );
    const client = await agent.connect(binding, { retry: { ...quick, tries: 2 } });
    await expect(client.send('Ada')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('The database is away.'),
    });
    expect(agent.asked).toHaveLength(3);
  });

  test('hands on the hint of a server that wants to be left alone for long, instead of waiting (ERR-15)', async () => {
    await using agent = await FakeAgent.open((asked, response) => sendError(asked, response, { ...unavailable, retrySeconds: 60 }));
    const client = await agent.connect(binding);
    await expect(client.send('Ada')).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterMs: 60_000 });
    expect(agent.asked).toHaveLength(1);
  });

  test('tells what the last try met when its time is up', async () => {
    const away = { ...unavailable, message: 'The database is away.', retrySeconds: 20 };
    await using agent = await FakeAgent.open((asked, response) => sendError(asked, response, away));
    const client = await agent.connect(binding);
    await expect(client.send('Ada', { timeoutMs: 1_000 })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/longer than 1000 ms.*The database is away/),
      cause: { code: 'UNAVAILABLE' },
    });
    expect(agent.asked).toHaveLength(1);
  });

  test('does not repeat what another try would not mend', async () => {
    await using agent = await FakeAgent.open((asked, response) =>
      sendError(asked, response, { jsonRpc: -32603, http: 500, reason: 'INTERNAL' }),
    );
    const client = await agent.connect(binding);
    await expect(client.send('Ada')).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(agent.asked).toHaveLength(1);
  });

  test('waits as long as the server hints before it tries again (ERR-15)', async () => {
    const waits: number[] = [];
    await using agent = await FakeAgent.open((asked, response) => {
      if (agent.asked.length === 1) sendError(asked, response, { ...unavailable, retrySeconds: 7 });
      else sendResult(asked, response, done);
    });
    // a clock on which no time is spent waiting
    const clock = {
      monotonic: () => 0,
      wall: () => 0,
      after: (ms: number, task: () => void) => {
        if (ms !== 30_000 && ms !== 10_000) queueMicrotask(task); // those are the time of the call and its patience with silence
        waits.push(ms);
        return { cancel: () => undefined };
      },
    };
    const client = await agent.connect(binding, { clock });
    await client.task(TASK_ID).get();
    expect(waits.filter((ms) => ms === 7_000)).toEqual([7_000]);
  });

  test('restores typed errors with code, metadata and violations (ERR-17 to ERR-20)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      sendError(asked, response, {
        jsonRpc: -32001,
        http: 404,
        reason: 'TASK_NOT_FOUND',
        message: 'No such task.',
        metadata: { taskId: TASK_ID },
      });
    });
    const client = await agent.connect(binding);
    const error: unknown = await client
      .task(TASK_ID)
      .get()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(A2AError);
    expect(isA2AError(error)).toBe(true);
    expect(error).toMatchObject({ code: 'TASK_NOT_FOUND', metadata: { taskId: TASK_ID } });
    expect(error).toHaveProperty('message', expect.stringContaining('No such task.'));
  });

  test('sends historyLength 0, takes a null result of a delete, and gives a typed error when the server stalls (case 92)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.operation === 'DeleteTaskPushNotificationConfig') {
        if (binding === 'JSONRPC') sendResult(asked, response, null);
        else response.writeHead(204).end();
      } else if (asked.operation === 'GetTask') sendResult(asked, response, taskIn('TASK_STATE_WORKING'));
    });
    const client = await agent.connect(binding);
    await client.task(TASK_ID).get({ historyLength: 0 });
    const [get] = agent.asked;
    if (binding === 'JSONRPC') expect(get?.params).toEqual({ id: TASK_ID, historyLength: 0 });
    else expect(get?.path).toBe(`/rest/tasks/${TASK_ID}?historyLength=0`);
    expect(await client.call('DeleteTaskPushNotificationConfig', { taskId: TASK_ID, id: 'hook' })).toEqual({});
    await expect(client.task(TASK_ID).cancel({ timeoutMs: 50 })).rejects.toMatchObject({
      name: 'A2AError',
      code: 'UNAVAILABLE',
      message: expect.stringContaining('longer than 50 ms'),
    });
    await expect(client.send('Ada', { timeoutMs: 50 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('asks again when a read brings nothing, as a paused replica behind a balancer would; a send it leaves alone', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.operation === 'SendMessage') setTimeout(() => sendResult(asked, response, { task: done }), 450);
      else if (agent.asked.length > 1) sendResult(asked, response, done); // the first one hangs
    });
    const client = await agent.connect(binding, { silentMs: 300 });
    expect((await client.task(TASK_ID).get()).id).toBe(TASK_ID);
    expect(agent.asked.length).toBeGreaterThan(1);
    await client.send('Ada');
    expect(agent.operations.filter((operation) => operation === 'SendMessage')).toHaveLength(1);
  });

  test('gives up at once when its signal fires, with the reason of the signal', async () => {
    await using agent = await FakeAgent.open(() => undefined);
    const client = await agent.connect(binding);
    const controller = new AbortController();
    const sent = client.send('Ada', { signal: controller.signal });
    await eventually(() => agent.asked.length === 1);
    controller.abort(new Error('changed my mind'));
    await expect(sent).rejects.toThrow('changed my mind');
    await eventually(() => agent.open === 0);
    await expect(client.send('Ada', { signal: controller.signal })).rejects.toThrow('changed my mind');
    expect(agent.asked).toHaveLength(1);
  });

  test('takes other media types and broken JSON for what they are, without trying again', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.operation === 'GetTask') response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
      else if (asked.operation === 'CancelTask') response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":}');
      else sendResult(asked, response, [1, 2]);
    });
    const client = await agent.connect(binding);
    const protocolError = { code: 'INVALID_AGENT_RESPONSE' };
    await expect(client.task(TASK_ID).get()).rejects.toMatchObject({ ...protocolError, message: expect.stringContaining('text/html') });
    await expect(client.task(TASK_ID).cancel()).rejects.toMatchObject(protocolError);
    await expect(client.page()).rejects.toMatchObject(protocolError);
    expect(agent.asked).toHaveLength(3);
  });

  test('reads no more of an answer than it was told to (case 84)', async () => {
    let written = 0;
    await using agent = await FakeAgent.open((_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const pour = (): void => {
        while (written < 1e9 && response.write('[0,'.repeat(10_000))) written += 30_000;
        if (written < 1e9) response.once('drain', pour);
      };
      pour();
    });
    const client = await agent.connect(binding, { answerBytesMax: 1_000_000 });
    await expect(client.task(TASK_ID).get()).rejects.toMatchObject({
      code: 'INVALID_AGENT_RESPONSE',
      message: 'The answer is larger than 1000000 bytes.',
    });
    await eventually(() => agent.open === 0);
    expect(written).toBeLessThan(50_000_000);
  });

  test('survives unknown states, absent members and empty lists (case 90)', async () => {
    const bare = [
      { id: TASK_ID, status: { state: 'TASK_STATE_DREAMING' } },
      { id: TASK_ID, status: {}, artifacts: [], history: [] },
      { id: TASK_ID },
      {
        id: TASK_ID,
        status: { state: 'TASK_STATE_COMPLETED', message: { role: 'ROLE_ELF', parts: [] } },
        artifacts: [{ artifactId: 'a' }],
        more: 1,
      },
      {
        id: TASK_ID,
        contextId: null,
        status: { state: 'TASK_STATE_WORKING', timestamp: null },
        artifacts: null,
        history: null,
        metadata: null,
      },
    ];
    await using agent = await FakeAgent.open((asked, response) => sendResult(asked, response, bare[agent.asked.length - 1]));
    const client = await agent.connect(binding);
    const tasks = [];
    while (agent.asked.length < bare.length) tasks.push(await client.task(TASK_ID).get());
    expect(tasks[0]?.status.state).toBe('TASK_STATE_DREAMING');
    expect(tasks[3]).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ artifactId: 'a', parts: [] }] });
    expect(tasks.map(answerText)).toEqual(['', '', '', '', '']);
  });

  test('goes on waiting when an agent answers before the task has come to rest (AMB-24)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.operation === 'SendMessage') sendResult(asked, response, { task: taskIn('TASK_STATE_WORKING') });
      else if (asked.operation === 'GetTask') sendResult(asked, response, done);
      else {
        sendStream(asked, response, [
          [{ task: taskIn('TASK_STATE_WORKING') }, 2],
          [chunkItem('Hello, Ada!', false), 3],
          [statusItem('TASK_STATE_COMPLETED'), 4],
        ]);
      }
    });
    const client = await agent.connect(binding);
    expect(await client.send('Ada')).toEqual(done);
    expect(agent.operations).toEqual(['SendMessage', 'SubscribeToTask', 'GetTask']);
  });
});

describe('an answer over JSON-RPC', () => {
  test('to another request is an error of the protocol (case 87)', async () => {
    await using agent = await FakeAgent.open((_asked, response) => sendJson(response, { jsonrpc: '2.0', id: 'another', result: done }));
    const client = await agent.connect();
    await expect(client.task(TASK_ID).get()).rejects.toMatchObject({
      code: 'INVALID_AGENT_RESPONSE',
      message: expect.stringContaining('id'),
    });
    expect(agent.asked).toHaveLength(1);
  });

  test('is taken when the id comes back as a number, as some servers do (peers J1)', async () => {
    await using agent = await FakeAgent.open((asked, response) =>
      sendJson(response, { jsonrpc: '2.0', id: Number(asked.id), result: done }),
    );
    await expect((await agent.connect()).task(TASK_ID).get()).resolves.toEqual(done);
  });

  test('with an error and another status than 200 gives that error (AMB-27)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      const { id } = asked;
      if (asked.operation === 'GetTask') sendJson(response, { jsonrpc: '2.0', id, error: { code: -32001, message: 'gone' } }, 404);
      else if (asked.operation === 'CancelTask') response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('who are you?');
      else sendJson(response, { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'what?' } }, 400);
    });
    const client = await agent.connect();
    await expect(client.task(TASK_ID).get()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(client.task(TASK_ID).cancel()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(client.page()).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});

describe('a client without sockets', () => {
  test('is not held up by a fetch that ignores its signal', async () => {
    const fetch = (request: Request): Response | Promise<Response> =>
      request.url.endsWith('.json') ? Response.json(cardAt('http://agent.example')) : new Promise<Response>(() => undefined);
    const client = await connect('http://agent.example', { fetch });
    await expect(client.send('Ada', { timeoutMs: 20 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('refuses options that cannot work, by name', async () => {
    await expect(connect(cardAt('http://agent.example'), { timeoutMs: 0 })).rejects.toThrow('option timeoutMs');
  });
});
