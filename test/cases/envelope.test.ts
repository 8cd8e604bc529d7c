import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/protocol/types.ts';
import type { OperationName } from '../../src/wire/operations.ts';
import { wellFormed } from '../bindings/callers.ts';
import { callers, collect, sendRequest, stageOf, stateOf, taskIn } from './support.ts';

const stage = stageOf();
const [jsonRpc, rest] = callers as readonly [(typeof callers)[number], (typeof callers)[number]]; // there are two bindings

const operations = Object.keys(wellFormed) as OperationName[]; // its type says so

/** Any text as the body of a JSON-RPC request. */
const post = async (body: string | Uint8Array, headers: Record<string, string> = {}) => {
  const response = await fetch(`${stage.by(jsonRpc).url}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: body as BodyInit, // bytes are one
  });
  return (await response.json()) as {
    id: unknown;
    jsonrpc: string;
    result?: object;
    error?: { code: number; message: string; data: object[] };
  }; // JSON-RPC
};

describe('the version', () => {
  const accepted = [
    ['1.0', '1.0', ''],
    ['a patch number beside it (VER-03)', '1.0.7', ''],
    ['1.0 in the query (VER-05)', undefined, '1.0'],
    ['1.0, against another in the query (AMB-26, VER-14)', '1.0', '0.3'],
  ] as const;
  const refused = [
    ['0.3', '0.3', ''],
    ['none, which is 0.3 (VER-08)', undefined, ''],
    ['an empty one', '', ''],
    ['99.0', '99.0', ''],
    ['a word', 'abc', ''],
    ['a number alone (VER-12)', '1', ''],
    ['0.3 in the query', undefined, '0.3'],
    ['another than the query', '2.0', '1.0'],
  ] as const;

  const asked = async (raw: (typeof callers)[number], operation: OperationName, version: string | undefined, query: string) => {
    const { path, headers, ...printed } = raw.print(operation, wellFormed[operation]);
    const { 'a2a-version': _own, ...others } = headers;
    const target = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}A2A-Version=${query}`;
    const given = version === undefined ? others : { ...others, 'a2a-version': version };
    const response = await fetch(stage.by(raw).url + target, { ...printed, headers: given });
    if (response.headers.get('content-type') !== 'text/event-stream') return (await raw.read(response)).error?.reason;
    await response.body?.cancel();
    return 'stream';
  };

  test.each(callers.flatMap((raw) => accepted.map(([why, header, query]) => ({ raw, name: raw.name, why, header, query }))))(
    '$name: $why serves all eleven operations (case 67, VER-01, VER-06)',
    async ({ raw, header, query }) => {
      for (const operation of operations) expect(await asked(raw, operation, header, query), operation).not.toBe('VERSION_NOT_SUPPORTED');
    },
  );

  test.each(callers.flatMap((raw) => refused.map(([why, header, query]) => ({ raw, name: raw.name, why, header, query }))))(
    '$name: $why is refused by all eleven operations (case 67, VER-07)',
    async ({ raw, header, query }) => {
      for (const operation of operations) expect(await asked(raw, operation, header, query), operation).toBe('VERSION_NOT_SUPPORTED');
    },
  );

  test('is told with what is supported, and the card needs none (VER-02, VER-07, VER-13)', async () => {
    const { error } = await stage.by(rest).answer('ListTasks', {}, { headers: { 'a2a-version': '3.1' } });
    expect(error?.metadata).toEqual({ requested: '3.1', supported: '1.0' });
    const card = (await (await fetch(`${stage.by(rest).url}/.well-known/agent-card.json`)).json()) as {
      supportedInterfaces: { protocolVersion: string }[];
    }; // the card's required member
    expect(card.supportedInterfaces.map(({ protocolVersion }) => protocolVersion)).toEqual(['1.0', '1.0']);
  });
});

describe('JSON-RPC', () => {
  const request = (more: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {}, ...more });

  test.each([
    ['what is no JSON', '{"jsonrpc":', -32700, null],
    ['nothing at all', '', -32700, null],
    ['a fractional id', request({ id: 1.5 }), -32600, null],
    ['an id that is an object', request({ id: {} }), -32600, null],
    ['an id that is a list', request({ id: [1] }), -32600, null],
    ['an id that is a truth value', request({ id: true }), -32600, null],
    ['no id', request({ id: undefined }), -32600, null],
    ['no jsonrpc', request({ jsonrpc: undefined }), -32600, 1],
    ['jsonrpc 1.0', request({ jsonrpc: '1.0' }), -32600, 1],
    ['jsonrpc 2 as a number', request({ jsonrpc: 2 }), -32600, 1],
    ['an empty method', request({ method: '' }), -32600, 1],
    ['no method', request({ method: undefined }), -32600, 1],
    ['a method that is a number', request({ method: 7 }), -32600, 1],
    ['params that are a list', request({ params: [{}] }), -32602, 1],
    ['params that are a text', request({ params: 'x' }), -32602, 1],
    ['an unknown method', request({ method: 'MakeCoffee' }), -32601, 1],
    ['a method of version 0.3', request({ method: 'message/send' }), -32601, 1],
    ['a method in another case', request({ method: 'listTasks' }), -32601, 1],
    ['a method of every object', request({ method: 'constructor' }), -32601, 1],
    ['a batch', `[${request({})}]`, -32600, null],
    ['an empty batch', '[]', -32600, null],
    ['a number', '7', -32600, null],
    ['null', 'null', -32600, null],
  ])('answers %s with its code (case 70, RPC-01, RPC-03, RPC-11)', async (_why, body, code, id) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
    expect(answer.result).toBeUndefined();
    expect(answer.error?.data[0]).toMatchObject({ domain: 'a2a-protocol.org' }); // others may follow it (RPC-09)
  });

  test.each([7, 0, -3, 9_007_199_254_740_991, 'seven', '', '7', '\u{1f600}', null])(
    'echoes the id %j with its type (case 70)',
    async (id) => {
      expect(await post(request({ id }))).toMatchObject({ id, result: { totalSize: expect.any(Number) } });
      expect(await post(request({ id, method: 'Nope' }))).toMatchObject({ id, error: { code: -32601 } });
    },
  );

  test('repeats the id in every event of a stream (RPC-05)', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'stream-7', method: 'SendStreamingMessage', params: sendRequest('emit 3 1; done') });
    const printed = jsonRpc.print('SendStreamingMessage', {});
    const response = await fetch(`${stage.by(jsonRpc).url}/`, { method: 'POST', headers: printed.headers, body });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const events = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
    expect(events.length).toBeGreaterThanOrEqual(3);
    for (const event of events) expect(JSON.parse(event.slice(6))).toMatchObject({ jsonrpc: '2.0', id: 'stream-7', result: {} });
  });

  test('takes params that are absent or null for none (XCARD-13)', async () => {
    for (const params of [undefined, null])
      expect(await post(request({ params }))).toMatchObject({ result: { totalSize: expect.any(Number) } });
  });

  test('answers application/json, errors with HTTP 200 (RPC-02, AMB-27)', async () => {
    for (const method of ['ListTasks', 'Nope']) {
      const response = await fetch(`${stage.by(jsonRpc).url}/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8', 'a2a-version': '1.0' },
        body: request({ method }),
      });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
      await response.body?.cancel();
    }
  });
});

describe('REST', () => {
  test.each(['GET', 'POST'])('subscribes by %s, with and without a body (case 72, REST-05)', async (method) => {
    const { id } = await stage.by(rest).send('ask');
    const bodies = method === 'GET' ? [undefined] : [undefined, '', '{}', 'null'];
    for (const body of bodies) {
      const response = await fetch(`${stage.by(rest).url}/rest/tasks/${id}:subscribe`, {
        method,
        headers: { 'a2a-version': '1.0', ...(body ? { 'content-type': 'application/a2a+json' } : {}) },
        ...(body === undefined ? {} : { body }),
      });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      const reader = response.body?.getReader();
      const first = new TextDecoder().decode((await reader?.read())?.value);
      expect(first).toContain(`"id":"${id}"`);
      expect(first).toContain('TASK_STATE_INPUT_REQUIRED');
      await reader?.cancel();
    }
  });

  test.each([undefined, '', '{}', 'null', '{"metadata":{"why":"enough"}}'])(
    'cancels with the body %j alike (case 72, CANC-05)',
    async (body) => {
      const { id } = await stage.by(rest).send('ask');
      const response = await fetch(`${stage.by(rest).url}/rest/tasks/${id}:cancel`, {
        method: 'POST',
        headers: { 'a2a-version': '1.0', ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body === undefined ? {} : { body }),
      });
      expect(response.status).toBe(200);
      expect(((await response.json()) as Task).status.state).toBe('TASK_STATE_CANCELED'); // a cancel is answered with a task
    },
  );

  test('streams bare items, answers application/a2a+json (REST-02, REST-16)', async () => {
    const printed = rest.print('SendStreamingMessage', sendRequest('done'));
    const streamed = await (await fetch(stage.by(rest).url + printed.path, { ...printed })).text();
    expect(streamed).toMatch(/^id: \d+\ndata: \{"task":\{/);
    const response = await stage.by(rest).fetch('ListTasks', {});
    expect(response.headers.get('content-type')).toBe('application/a2a+json');
    await response.body?.cancel();
  });

  test('takes enum numbers, snake_case and numerals in strings, as ProtoJSON does (JSON-09, JSON-11)', async () => {
    const { id } = await stage.by(rest).send('ask');
    const list = async (query: string) =>
      (await (await fetch(`${stage.by(rest).url}/rest/tasks?${query}`, { headers: { 'a2a-version': '1.0' } })).json()) as {
        tasks: Task[];
        pageSize: number;
      }; // a list
    const found = await list('status=6&page_size=7');
    expect(found.tasks.map((task) => task.id)).toContain(id);
    expect(found.pageSize).toBe(7);
  });
});

describe('unknown members', () => {
  test.each(callers)('$name: at any depth are ignored, and not kept (case 73, JSON-18)', async (raw) => {
    const who = stage.by(raw);
    const odd = { zzz: { deep: [1, { er: null }] } };
    const request = {
      ...odd,
      message: { messageId: 'm-odd', role: 'ROLE_USER', parts: [{ text: 'done', kind: 'text', ...odd }], kind: 'message', ...odd },
      configuration: { blocking: true, ...odd },
    };
    const { task } = await who.ask<{ task: Task }>('SendMessage', request);
    expect(task.history).toEqual([
      { messageId: 'm-odd', contextId: task.contextId, taskId: task.id, role: 'ROLE_USER', parts: [{ text: 'done' }] },
    ]);
    const [first] = await collect(who.items('SendStreamingMessage', request));
    expect(JSON.stringify(taskIn(first))).not.toContain('zzz');
    expect(stateOf(first ?? { id: 0 })).toBeDefined();
  });
});
