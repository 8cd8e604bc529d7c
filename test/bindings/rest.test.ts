import { describe, expect, test } from 'vitest';
import { rest, wellFormed } from './callers.ts';
import { aMessage, aTask, Feed, onStage } from './stage.ts';

const headers = { 'a2a-version': '1.0' };
const json = { ...headers, 'content-type': 'application/json' };
const emptyPage = { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 };

describe('REST', () => {
  test.each(['application/a2a+json', 'application/json', 'application/json; charset=utf-8', 'Application/A2A+JSON'])(
    'reads bodies of type %s (REST-02)',
    async (type) => {
      await using open = await onStage({ operations: { sendMessage: async () => ({ task: aTask }) } });
      const body = JSON.stringify({ message: aMessage });
      const response = await fetch(`${open.url}/rest/message:send`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body,
      });
      expect(await response.json()).toEqual({ task: aTask });
    },
  );

  test.each(['text/plain', 'multipart/form-data', ''])('refuses a body of type %j, typed (SEC-10)', async (type) => {
    await using open = await onStage();
    const body = new TextEncoder().encode(JSON.stringify({ message: aMessage }));
    const response = await fetch(`${open.url}/rest/message:send`, { method: 'POST', headers: { ...headers, 'content-type': type }, body });
    const answer = await rest.read(response);
    expect(answer).toMatchObject({ status: 400, error: { reason: 'CONTENT_TYPE_NOT_SUPPORTED' } });
    expect(open.stage.seen).toEqual([]);
  });

  test.each([
    [undefined, 'application/a2a+json'],
    ['*/*', 'application/a2a+json'],
    ['application/a2a+json', 'application/a2a+json'],
    ['application/json, application/a2a+json;q=0.5', 'application/a2a+json'],
    ['application/json', 'application/json'],
    ['application/json; charset=utf-8, text/event-stream', 'application/json'],
    ['text/html', 'application/a2a+json'],
  ])('answers Accept %j with %s, results and errors alike (REST-02)', async (accept, type) => {
    await using open = await onStage({ operations: { getTask: async () => aTask } });
    const asked = accept === undefined ? headers : { ...headers, accept };
    for (const path of ['/rest/tasks/task-1', '/rest/tasks?pageSize=x']) {
      const response = await fetch(open.url + path, { headers: asked });
      expect(response.headers.get('content-type')).toBe(type);
    }
  });

  test.each([
    ['/rest/nothing', 'GET'],
    ['/rest', 'GET'],
    ['/rest/', 'GET'],
    ['/restless', 'GET'],
    ['/tasks/task-1', 'GET'],
    ['/v1/message:send', 'POST'],
    ['/rest/v1/tasks/task-1/x/y', 'GET'],
    ['/rest/tasks/%', 'GET'],
    ['/rest/tasks/%ff', 'GET'],
    ['/.well-known/agent.json', 'GET'],
    ['/favicon.ico', 'GET'],
    ['/rest/tasks/task-1/cancel', 'POST'],
  ])('answers %s, which is nothing, with a typed 404 (never HTML)', async (path, method) => {
    await using open = await onStage();
    const response = await fetch(open.url + path, { method, headers });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect((await rest.read(response)).error).toMatchObject({ code: 404, reason: 'METHOD_NOT_FOUND', domain: 'a2a-protocol.org' });
  });

  test.each([
    ['/rest/message:send', 'GET', 'POST, OPTIONS'],
    ['/rest/tasks/task-1', 'DELETE', 'GET, OPTIONS'],
    ['/rest/tasks', 'POST', 'GET, OPTIONS'],
    ['/rest/tasks/task-1:cancel', 'GET', 'POST, OPTIONS'],
    ['/rest/tasks/task-1:subscribe', 'DELETE', 'POST, GET, OPTIONS'],
    ['/rest/tasks/t/pushNotificationConfigs', 'DELETE', 'POST, GET, OPTIONS'],
    ['/.well-known/agent-card.json', 'POST', 'GET, HEAD, OPTIONS'],
  ])('answers %s %s with 405 and Allow: %s', async (path, method, allow) => {
    await using open = await onStage();
    const response = await fetch(open.url + path, { method, headers });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect((await rest.read(response)).error).toMatchObject({ code: 405, reason: 'METHOD_NOT_FOUND' });
    const options = await fetch(open.url + path, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
  });

  test.each(['POST', 'GET'])('subscribes by %s (REST-05, AMB-10, case 72)', async (method) => {
    await using open = await onStage({
      operations: {
        subscribeToTask: async () => new Feed().push({ seq: 1, item: { task: aTask } }),
      },
    });
    const response = await fetch(`${open.url}/rest/tasks/task-1:subscribe`, { method, headers });
    expect(response.status).toBe(200);
    expect(open.stage.seen).toMatchObject([{ operation: 'subscribeToTask', request: { id: 'task-1' } }]);
    await response.body?.cancel();
  });

  test.each([
    ['no body', undefined],
    ['an empty body', ''],
    ['{}', '{}'],
    ['null', 'null'],
    ['a body that repeats the id', '{"id":"task-1"}'],
  ])('cancels with %s (case 72)', async (_name, body) => {
    await using open = await onStage({ operations: { cancelTask: async () => aTask } });
    const response = await fetch(`${open.url}/rest/tasks/task-1:cancel`, {
      method: 'POST',
      headers: json,
      ...(body === undefined ? {} : { body }),
    });
    expect(await response.json()).toEqual(aTask);
    expect(open.stage.seen).toMatchObject([{ operation: 'cancelTask', request: { id: 'task-1' } }]);
  });

  test('takes ids with slashes, colons, spaces and any script, percent-encoded (REST-10, REST-19)', async () => {
    await using open = await onStage({ operations: { getTask: async () => aTask } });
    for (const id of ['a/b', 'a:b', 'a b', '漢字', 'x:cancel', '100%']) {
      const response = await fetch(`${open.url}/rest/tasks/${encodeURIComponent(id)}`, { headers });
      expect(response.status).toBe(200);
      expect(open.stage.seen.at(-1)?.request).toEqual({ id });
    }
  });

  test('keeps an id apart from the verb behind it (REST-19)', async () => {
    await using open = await onStage({ operations: { getTask: async () => aTask, cancelTask: async () => aTask } });
    await fetch(`${open.url}/rest/tasks/a:b:cancel`, { method: 'POST', headers });
    await fetch(`${open.url}/rest/tasks/a:b`, { headers });
    expect(open.stage.seen.map(({ operation, request }) => [operation, request])).toEqual([
      ['cancelTask', { id: 'a:b' }],
      ['getTask', { id: 'a:b' }],
    ]);
  });

  test('reads the query: numbers, booleans, enums, timestamps; 0 is not absent (REST-06, REST-07, HIST-05)', async () => {
    await using open = await onStage({ operations: { listTasks: async () => emptyPage } });
    const query =
      'pageSize=7&historyLength=0&includeArtifacts=true&status=TASK_STATE_WORKING&statusTimestampAfter=2026-01-02T03:04:05Z&later=1';
    await fetch(`${open.url}/rest/tasks?${query}&contextId=a%20b%2Bc`, { headers });
    expect(open.stage.seen[0]?.request).toEqual({
      pageSize: 7,
      historyLength: 0,
      includeArtifacts: true,
      status: 'TASK_STATE_WORKING',
      statusTimestampAfter: '2026-01-02T03:04:05.000Z',
      contextId: 'a b+c',
    });
  });

  test.each([
    'pageSize=x',
    'historyLength=1.5',
    'includeArtifacts=perhaps',
    'status=NOPE',
    'statusTimestampAfter=yesterday',
    'pageSize=1&pageSize=2',
  ])('refuses the query %s and names the field (LIST-05)', async (query) => {
    await using open = await onStage();
    const answer = await rest.read(await fetch(`${open.url}/rest/tasks?${query}`, { headers }));
    expect(answer).toMatchObject({ status: 400, error: { reason: 'INVALID_PARAMS', violations: [{ field: query.split('=')[0] }] } });
  });

  test.each([
    ['bad JSON', '{"message":', 'PARSE_ERROR'],
    ['bad UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'PARSE_ERROR'],
    ['an array', '[]', 'INVALID_PARAMS'],
    ['a string', '"x"', 'INVALID_PARAMS'],
    ['nesting beyond all sense', '['.repeat(50_000), 'INVALID_REQUEST'],
    [
      'a value nested too deep',
      `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${'['.repeat(90)}${']'.repeat(90)}}]}}`,
      'INVALID_PARAMS',
    ],
  ])('refuses %s (case 70, case 71)', async (_name, body, reason) => {
    await using open = await onStage();
    const response = await fetch(`${open.url}/rest/message:send`, { method: 'POST', headers: json, body });
    expect(await rest.read(response)).toMatchObject({ status: 400, error: { reason } });
    expect(open.stage.seen).toEqual([]);
  });

  test('takes the tenant from the path, for every operation (TEN-04)', async () => {
    await using open = await onStage();
    for (const [operation, request] of Object.entries(wellFormed)) {
      await rest.fetch(open.url, operation as keyof typeof wellFormed, { ...request, tenant: 'a%2Fb' });
    }
    expect(open.stage.seen).toHaveLength(11);
    for (const { call, request } of open.stage.seen) {
      expect(call.tenant).toBe('a/b');
      expect(request).toMatchObject({ tenant: 'a/b' });
    }
  });

  test.each([
    ['body', { tenant: 'other' }, '', 'tenant'],
    ['body id', { id: 'other' }, '', 'id'],
  ])('refuses a %s that says something else than the path (AMB-20)', async (_name, body, query, field) => {
    await using open = await onStage();
    const response = await fetch(`${open.url}/rest/acme/tasks/task-1:cancel${query}`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify(body),
    });
    expect(await rest.read(response)).toMatchObject({ status: 400, error: { reason: 'INVALID_PARAMS', violations: [{ field }] } });
    expect(open.stage.seen).toEqual([]);
  });

  test('answers Delete with 200 and {} (AMB-28)', async () => {
    await using open = await onStage({ operations: { deleteTaskPushNotificationConfig: async () => ({}) } });
    const response = await rest.fetch(open.url, 'DeleteTaskPushNotificationConfig', { taskId: 't', id: 'c' });
    expect([response.status, await response.text()]).toEqual([200, '{}']);
  });
});
