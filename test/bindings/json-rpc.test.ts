import { describe, expect, test } from 'vitest';
import { jsonRpc } from './callers.ts';
import { aMessage, aTask, onStage } from './stage.ts';

const post = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/`, { method: 'POST', headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers }, body });

const envelope = (parts: Record<string, unknown>): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'GetTask', params: { id: 't' }, ...parts });

const bytes = (...values: number[]): Uint8Array<ArrayBuffer> => Uint8Array.from(values);

// case 70: [what is sent, the number to come back, the id to come back]
const letter: readonly (readonly [name: string, body: string | Uint8Array<ArrayBuffer>, code: number, id: unknown])[] = [
  ['bad JSON', '{"jsonrpc":', -32700, null],
  ['an empty body', '', -32700, null],
  ['bad UTF-8', bytes(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d), -32700, null],
  ['a UTF-8 text cut in the middle of a character', bytes(0x22, 0xe2, 0x82), -32700, null],
  ['a bare string', '"GetTask"', -32600, null],
  ['null', 'null', -32600, null],
  ['a batch', `[${envelope({})}]`, -32600, null],
  ['an empty batch', '[]', -32600, null],
  ['a fractional id', envelope({ id: 1.5 }), -32600, null],
  ['an object as id', envelope({ id: {} }), -32600, null],
  ['a boolean as id', envelope({ id: true }), -32600, null],
  ['no id (a notification)', envelope({ id: undefined }), -32600, null],
  ['no jsonrpc', envelope({ jsonrpc: undefined }), -32600, 7],
  ['another jsonrpc', envelope({ jsonrpc: '1.0' }), -32600, 7],
  ['no method', envelope({ method: undefined }), -32600, 7],
  ['an empty method', envelope({ method: '' }), -32600, 7],
  ['a number as method', envelope({ method: 5 }), -32600, 7],
  ['an unknown method', envelope({ method: 'tasks/get' }), -32601, 7],
  ['a method of every object', envelope({ method: 'constructor' }), -32601, 7],
  ['a method in another case', envelope({ method: 'getTask' }), -32601, 7],
  ['params as an array', envelope({ params: [] }), -32602, 7],
  ['params as a string', envelope({ params: 't' }), -32602, 7],
  ['params without what is required', envelope({ params: {} }), -32602, 7],
  ['nesting beyond all sense', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, -32600, null],
];

describe('JSON-RPC', () => {
  test.each(letter)('answers %s by the letter (case 70)', async (_name, body, code, id) => {
    await using open = await onStage();
    const response = await post(open.url, body);
    expect(response.status).toBe(200); // AMB-27
    expect(response.headers.get('content-type')).toBe('application/json');
    const json = (await response.json()) as { readonly error: { readonly code: number; readonly message: string; readonly data: unknown } };
    expect(json).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
    expect(Object.keys(json.error).toSorted()).toEqual(['code', 'data', 'message']);
    expect(Array.isArray(json.error.data)).toBe(true); // RPC-06
    expect(open.stage.seen).toEqual([]);
  });

  test.each([0, -3, 1, 'a', '1', '', Number.MAX_SAFE_INTEGER, null])('echoes the id %j with its type (case 70)', async (id) => {
    await using open = await onStage({ operations: { getTask: async () => aTask } });
    const response = await post(open.url, envelope({ id }));
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id, result: aTask });
  });

  test.each([
    [-32700, '{', 'Invalid JSON payload'],
    [-32600, '[]', 'Request payload validation error'],
    [-32601, envelope({ method: 'X' }), 'Method not found'],
    [-32602, envelope({ params: {} }), 'Invalid parameters'],
  ])('words %i as the protocol does, and says more (RPC-11)', async (_code, body, opening) => {
    await using open = await onStage();
    const { error } = (await (await post(open.url, body)).json()) as { readonly error: { readonly message: string } };
    expect(error.message.startsWith(opening)).toBe(true);
    expect(error.message.length).toBeGreaterThan(opening.length);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', ''])(
    'refuses a body of type %j unread, typed (SEC-10)',
    async (type) => {
      await using open = await onStage({ operations: { getTask: async () => aTask } });
      const response = await fetch(`${open.url}/`, {
        method: 'POST',
        headers: { 'content-type': type, 'a2a-version': '1.0' },
        body: new TextEncoder().encode(envelope({})),
      });
      const answer = await jsonRpc.read(response);
      expect(answer.error).toMatchObject({ code: -32005, reason: 'CONTENT_TYPE_NOT_SUPPORTED' });
      expect(open.stage.seen).toEqual([]);
    },
  );

  test('reads snake_case names, numeric enums and unknown members (JSON-11, JSON-18, case 73)', async () => {
    await using open = await onStage({ operations: { sendMessage: async () => ({ task: aTask }) } });
    const message = { message_id: 'm', role: 1, parts: [{ text: 'hi', media_type: 'text/plain', later: 1 }], later: { deep: [] } };
    const answer = await jsonRpc.read(await jsonRpc.fetch(open.url, 'SendMessage', { message, later: true }));
    expect(answer.result).toEqual({ task: aTask }); // RPC-04: the wrapper
    expect(open.stage.seen[0]?.request).toEqual({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi', mediaType: 'text/plain' }] },
    });
  });

  test('takes a request without params where nothing is required (XCARD-13)', async () => {
    await using open = await onStage({
      operations: { listTasks: async () => ({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 }) },
    });
    const response = await post(open.url, envelope({ method: 'ListTasks', params: undefined }));
    expect(await response.json()).toMatchObject({ result: { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 } }); // LIST-14, case 62
  });

  test('is served with one slash, two, or none (what the conformance kit posts to)', async () => {
    await using open = await onStage({ operations: { getTask: async () => aTask } });
    for (const path of ['', '/', '//']) {
      const response = await fetch(open.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: envelope({}),
      });
      expect(await response.json()).toMatchObject({ result: aTask });
    }
  });

  test('answers other methods on its path with 405 and Allow, and OPTIONS with what there is', async () => {
    await using open = await onStage();
    const get = await fetch(`${open.url}/`);
    expect([get.status, get.headers.get('allow'), get.headers.get('content-type')]).toEqual([405, 'POST, OPTIONS', 'application/json']);
    expect(await get.json()).toMatchObject({ error: { code: 405, status: 'UNIMPLEMENTED' } });
    const options = await fetch(`${open.url}/`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([204, 'POST, OPTIONS', '']);
  });

  test('gives text back byte for byte: markup, any script, U+2028, needless escapes (case 74)', async () => {
    const text = '<b>&"\'</b> 漢字 \u2028 \u{1f600} é';
    await using open = await onStage({
      operations: { sendMessage: async (_call, { message }) => ({ message: { ...message, role: 'ROLE_AGENT' } }) },
    });
    const message = { ...aMessage, parts: [{ text }] };
    const body = envelope({ method: 'SendMessage', params: { message } }).replace('<b>', '\\u003c\\u0062\\u003e').replace('</b>', '<\\/b>');
    const response = await post(open.url, body);
    const raw = await response.text();
    expect(JSON.parse(raw)).toMatchObject({ result: { message: { parts: [{ text }] } } });
    expect(raw).toContain('漢字'); // not folded to ASCII
  });

  test.each([
    ['U+0000', '\\u0000'],
    ['a lone surrogate', '\\ud800'],
  ])('refuses %s with the field named (case 74)', async (_name, escape) => {
    await using open = await onStage();
    const body = envelope({ method: 'SendMessage', params: { message: { ...aMessage, parts: [{ text: 'X' }] } } }).replace(
      '"X"',
      `"a${escape}b"`,
    );
    const answer = await jsonRpc.read(await post(open.url, body));
    expect(answer.error?.code).toBe(-32602);
    expect(answer.error?.violations[0]?.field).toBe('message.parts[0].text');
  });

  test('tells an unknown method back cut and clean', async () => {
    await using open = await onStage();
    const answer = await jsonRpc.read(await post(open.url, envelope({ method: `<script>\u0007${'x'.repeat(10_000)}` })));
    expect(answer.error?.code).toBe(-32601);
    expect(answer.error?.message.length).toBeLessThan(120);
    expect(answer.error?.message).not.toContain('\u0007');
  });
});
