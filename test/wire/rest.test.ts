import { expect, test } from 'vitest';
import { isA2AError } from '../../src/protocol/errors.ts';
import type { OperationName } from '../../src/wire/operations.ts';
import { operationNamed, operations } from '../../src/wire/operations.ts';
import { readMessage } from '../../src/wire/reader.ts';
import { matchRest, restCall, restRequest } from '../../src/wire/rest.ts';

function found(method: string, path: string): string {
  const match = matchRest(method, path);
  switch (match.kind) {
    case 'operation':
      return [match.operation.name, ...Object.entries(match.params).map(([name, value]) => `${name}=${value}`)].join(' ');
    case 'methodNotAllowed':
      return `allow ${match.allow.join(',')}`;
    case 'notFound':
      return 'notFound';
  }
}

test.each([
  ['POST', '/message:send', 'SendMessage'],
  ['POST', '/message:stream', 'SendStreamingMessage'],
  ['GET', '/tasks/t1', 'GetTask id=t1'],
  ['GET', '/tasks', 'ListTasks'],
  ['POST', '/tasks/t1:cancel', 'CancelTask id=t1'],
  ['GET', '/tasks/t1:subscribe', 'SubscribeToTask id=t1'],
  ['POST', '/tasks/t1:subscribe', 'SubscribeToTask id=t1'],
  ['POST', '/tasks/t1/pushNotificationConfigs', 'CreateTaskPushNotificationConfig taskId=t1'],
  ['GET', '/tasks/t1/pushNotificationConfigs', 'ListTaskPushNotificationConfigs taskId=t1'],
  ['GET', '/tasks/t1/pushNotificationConfigs/c1', 'GetTaskPushNotificationConfig taskId=t1 id=c1'],
  ['DELETE', '/tasks/t1/pushNotificationConfigs/c1', 'DeleteTaskPushNotificationConfig taskId=t1 id=c1'],
  ['GET', '/extendedAgentCard', 'GetExtendedAgentCard'],
])('%s %s is %s, also below a tenant (REST-01, TEN-04)', (method, path, operation) => {
  expect(found(method, path)).toBe(operation);
  const [name = '', ...params] = operation.split(' ');
  expect(found(method, `/acme%20inc${path}`)).toBe([name, 'tenant=acme inc', ...params].join(' '));
});

test.each([
  ['GET', '/tasks/urn:task:1', 'GetTask id=urn:task:1'],
  ['POST', '/tasks/urn:task:1:cancel', 'CancelTask id=urn:task:1'],
  ['GET', '/tasks/a%2Fb%3Acancel', 'GetTask id=a/b:cancel'],
  ['POST', '/tasks/a%3Asubscribe:subscribe', 'SubscribeToTask id=a:subscribe'],
  ['GET', '/tasks/a:subscribe', 'SubscribeToTask id=a'],
  ['GET', '/tasks/a:cancel', 'allow POST'],
  ['GET', '/tasks/a:cancel/pushNotificationConfigs', 'ListTaskPushNotificationConfigs taskId=a:cancel'],
  ['GET', '/tasks/%F0%9F%98%80', 'GetTask id=😀'],
  ['GET', '/tasks/tasks', 'GetTask id=tasks'],
  ['POST', '/tasks/message:send', 'SendMessage tenant=tasks'],
])('ids with colons and slashes do not swallow verbs: %s %s is %s (REST-19)', (method, path, operation) => {
  expect(found(method, path)).toBe(operation);
});

test.each([
  ['POST', '/', 'notFound'],
  ['GET', '', 'notFound'],
  ['GET', '/tasks/', 'notFound'],
  ['GET', '/task/x', 'notFound'],
  ['POST', '/tasks/:cancel', 'notFound'],
  ['GET', '/tasks/%E0%A4%A', 'notFound'],
  ['GET', '/a/b/tasks', 'notFound'],
  ['GET', '//tasks', 'notFound'],
  ['GET', '/v1/message:send/x', 'notFound'],
  ['DELETE', '/tasks', 'allow GET'],
  ['PUT', '/tasks/x', 'allow GET'],
  ['PATCH', '/tasks/x/pushNotificationConfigs/y', 'allow GET,DELETE'],
  ['PUT', '/tasks/x/pushNotificationConfigs', 'allow POST,GET'],
  ['get', '/tasks', 'allow GET'],
])('%s %s is %s', (method, path, answer) => {
  expect(found(method, path)).toBe(answer);
});

function read(name: OperationName, query: string, params: Readonly<Record<string, string>> = {}): unknown {
  const operation = operations[name];
  return readMessage(operation.request, restRequest(operation, params, { query: new URLSearchParams(query) }));
}

test('queries are read by the table of fields: camelCase, booleans, integers, enums, timestamps (REST-06, REST-07)', () => {
  const query =
    'contextId=c%201&status=TASK_STATE_WORKING&pageSize=7&historyLength=0&includeArtifacts=true&statusTimestampAfter=2026-01-01T00:00:00Z&pageToken=';
  expect(read('ListTasks', query)).toEqual({
    contextId: 'c 1',
    status: 'TASK_STATE_WORKING',
    pageSize: 7,
    historyLength: 0,
    includeArtifacts: true,
    statusTimestampAfter: '2026-01-01T00:00:00.000Z',
  });
});

test('snake_case names and enum numbers are tolerated, names that are no field are ignored', () => {
  expect(read('ListTasks', 'context_id=c&status=2&page_size=3&A2A-Version=1.0&x=y')).toEqual({
    contextId: 'c',
    status: 'TASK_STATE_WORKING',
    pageSize: 3,
  });
  expect(read('GetTask', 'history_length=2', { id: 't' })).toEqual({ id: 't', historyLength: 2 });
  expect(read('ListTasks', 'status=')).toEqual({});
});

test('lists may be repeated names or have commas (REST-08)', () => {
  // no query of A2A 1.0 has a list; the rule is that of the table, so a message with one shows it
  const operation = { ...operations.GetTask, request: 'Message' } as unknown as typeof operations.GetTask; // any request with a list will do
  const query = new URLSearchParams('extensions=a,b&extensions=c');
  expect(restRequest(operation, {}, { query })).toEqual({ extensions: ['a', 'b', 'c'] });
});

test.each([
  ['ListTasks', 'includeArtifacts=yes', 'includeArtifacts'],
  ['ListTasks', 'pageSize=ten', 'pageSize'],
  ['ListTasks', 'pageSize=0', 'pageSize'],
  ['ListTasks', 'pageSize=1&page_size=1', 'pageSize'],
  ['ListTasks', 'contextId=a&contextId=b', 'contextId'],
  ['ListTasks', 'status=working', 'status'],
  ['GetTask', 'historyLength=-1', 'historyLength'],
] as const)('%s?%s is refused with the name of the field (LIST-05)', (name, query, field) => {
  const error = thrown(() => read(name, query, name === 'GetTask' ? { id: 't' } : {}));
  expect([error.code, error.violations[0]?.field]).toEqual(['INVALID_PARAMS', field]);
});

test('the path fills its fields; a body or a query that says otherwise is refused (AMB-20, REST-03)', () => {
  const operation = operations.CreateTaskPushNotificationConfig;
  const params = { tenant: 'acme', taskId: 't' };
  const whole = { tenant: 'acme', taskId: 't', url: 'https://x.example' };
  expect(restRequest(operation, params, { body: { url: 'https://x.example' } })).toEqual(whole);
  expect(restRequest(operation, params, { body: { ...whole } })).toEqual(whole);
  expect(restRequest(operation, params, { body: { url: 'https://x.example', task_id: 't', tenant: '' } })).toEqual(whole);
  for (const body of [{ taskId: 'u' }, { task_id: 'u' }, { tenant: 'other' }, { tenant: 7 }]) {
    expect(thrown(() => restRequest(operation, params, { body })).code).toBe('INVALID_PARAMS');
  }
  expect(thrown(() => read('ListTasks', 'tenant=other', { tenant: 'acme' })).violations[0]?.field).toBe('tenant');
});

test('a cancel needs no body; {} and null are the same as none (case 72)', () => {
  for (const body of [undefined, null, {}]) {
    expect(readMessage('CancelTaskRequest', restRequest(operations.CancelTask, { id: 't' }, { body }))).toEqual({ id: 't' });
  }
  expect(() => readMessage('CancelTaskRequest', restRequest(operations.CancelTask, { id: 't' }, { body: [] }))).toThrow(
    'must be an object',
  );
});

test('the client puts path fields into the path and the rest into query or body (REST-03 to REST-10)', () => {
  expect(restCall(operations.GetTask, { id: 'a/b:cancel c', historyLength: 0, tenant: 'ü' })).toEqual({
    method: 'GET',
    path: '/%C3%BC/tasks/a%2Fb%3Acancel%20c?historyLength=0',
  });
  expect(restCall(operations.ListTasks, { contextId: 'a+b c&d', includeArtifacts: true })).toEqual({
    method: 'GET',
    path: '/tasks?contextId=a%2Bb%20c%26d&includeArtifacts=true',
  });
  expect(restCall(operations.SubscribeToTask, { id: 't' })).toEqual({ method: 'POST', path: '/tasks/t:subscribe' });
  expect(restCall(operations.CancelTask, { id: 't', metadata: { a: 1 } })).toEqual({
    method: 'POST',
    path: '/tasks/t:cancel',
    body: '{"metadata":{"a":1}}',
  });
  expect(restCall(operations.DeleteTaskPushNotificationConfig, { taskId: 't', id: 'c' })).toEqual({
    method: 'DELETE',
    path: '/tasks/t/pushNotificationConfigs/c',
  });
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } as const;
  expect(restCall(operations.SendMessage, { tenant: 't', message })).toEqual({
    method: 'POST',
    path: '/t/message:send',
    body: JSON.stringify({ message }),
  });
});

test('an id that no path can carry is refused before it is sent', () => {
  expect(() => restCall(operations.GetTask, { id: '..' })).toThrow('cannot be sent in a path');
  expect(() => restCall(operations.GetTask, { id: '' })).toThrow('is required');
});

test('what the client prints, the server reads, for ids of any spelling', () => {
  for (const id of ['a', 'a:cancel', 'x/y', ':subscribe', '%2F', 'ü 😀', 'pushNotificationConfigs', 'a?b#c', 'message:send']) {
    for (const name of ['GetTask', 'CancelTask', 'SubscribeToTask'] as const) {
      const call = restCall(operations[name], { id, tenant: id });
      expect(found(call.method, call.path)).toBe(`${name} tenant=${id} id=${id}`);
    }
  }
});

test('methods are found by their exact name only', () => {
  expect(operationNamed('GetTask')).toBe(operations.GetTask);
  for (const name of ['getTask', 'message/send', '', 'constructor', '__proto__', 'toString']) expect(operationNamed(name)).toBeUndefined();
});

function thrown(run: () => unknown): { readonly code: string; readonly violations: readonly { readonly field: string }[] } {
  try {
    run();
  } catch (error) {
    if (isA2AError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
