import { expect, test } from 'vitest';
import { isA2AError, taskNotFound } from '../../src/protocol/errors.ts';
import { errorTable } from '../../src/wire/error-table.ts';
import { parseRequest, printError, printRequest, printResult, readResponse } from '../../src/wire/json-rpc.ts';
import { DOCUMENT_DEPTH_MAX, collectBody, parseJson } from '../../src/wire/json.ts';

function answerTo(body: string | Uint8Array): readonly [code: number | string, id: unknown] {
  const request = parseRequest(body);
  return request.kind === 'call' ? [request.method, request.id] : [errorTable[request.error.code].jsonRpc, request.id];
}

test.each<[string, readonly [number | string, unknown]]>([
  ['{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}', ['GetTask', 1]],
  ['{"jsonrpc":"2.0","id":"1","method":"GetTask"}', ['GetTask', '1']],
  ['{"jsonrpc":"2.0","id":null,"method":"GetTask","params":null}', ['GetTask', null]],
  ['{"jsonrpc":"2.0","id":-7,"method":"NoSuch","params":{}}', ['NoSuch', -7]],
  ['{"jsonrpc":"2.0","id":"","method":"GetTask"}', ['GetTask', '']],
  ['{"jsonrpc": bad', [-32700, null]],
  ['', [-32700, null]],
  ['"text"', [-32600, null]],
  ['null', [-32600, null]],
  ['7', [-32600, null]],
  ['[]', [-32600, null]],
  ['[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]', [-32600, null]],
  ['{"jsonrpc":"2.0","method":"GetTask"}', [-32600, null]],
  ['{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}', [-32600, null]],
  ['{"jsonrpc":"2.0","id":{},"method":"GetTask"}', [-32600, null]],
  ['{"jsonrpc":"2.0","id":true,"method":"GetTask"}', [-32600, null]],
  ['{"jsonrpc":"2.0","id":9007199254740993,"method":"GetTask"}', [-32600, null]],
  ['{"id":1,"method":"GetTask"}', [-32600, 1]],
  ['{"jsonrpc":"1.0","id":"a","method":"GetTask"}', [-32600, 'a']],
  ['{"jsonrpc":2.0,"id":1,"method":"GetTask"}', [-32600, 1]],
  ['{"jsonrpc":"2.0","id":1,"method":""}', [-32600, 1]],
  ['{"jsonrpc":"2.0","id":1,"method":7}', [-32600, 1]],
  ['{"jsonrpc":"2.0","id":1}', [-32600, 1]],
  ['{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', [-32602, 1]],
  ['{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"x"}', [-32602, 1]],
])('the request %s is answered with %j (RPC-01, AMB-27, case 70)', (body, expected) => {
  expect(answerTo(body)).toEqual(expected);
  expect(answerTo(new TextEncoder().encode(body))).toEqual(expected);
});

test('an id too long to repeat in each event is refused', () => {
  expect(answerTo(JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(1_025), method: 'GetTask' }))).toEqual([-32600, null]);
});

test('absent params are an empty object (XCARD-13)', () => {
  expect(parseRequest('{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}')).toEqual({
    kind: 'call',
    id: 1,
    method: 'GetExtendedAgentCard',
    params: {},
  });
});

test('bad UTF-8 and bad JSON are parse errors that repeat nothing of the body (case 71)', () => {
  expect(answerTo(new Uint8Array([0x22, 0xff, 0x22]))).toEqual([-32700, null]);
  const request = parseRequest('{"secret":"hunter2", oops}');
  expect(request.kind === 'refused' && request.error.message).toMatch(/^The body is not valid JSON: see position \d+\.$/);
  const other = parseRequest('{"a": hunter2}');
  expect(other.kind === 'refused' && other.error.message).not.toContain('hunter2');
});

test('a byte order mark before the JSON is passed over', () => {
  expect(parseJson(new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))).toEqual({});
});

test('nesting without end is refused before it is parsed, brackets in strings do not count', () => {
  for (const open of ['[', '{"a":', '[{"a":']) {
    expect(() => parseJson(open.repeat(1_000_000))).toThrow(`nested deeper than ${DOCUMENT_DEPTH_MAX} levels`);
  }
  const deepest = '['.repeat(DOCUMENT_DEPTH_MAX) + ']'.repeat(DOCUMENT_DEPTH_MAX);
  expect(JSON.stringify(parseJson(deepest))).toBe(deepest);
  const wide = `[${'[],'.repeat(5_000)}"${'['.repeat(5_000)}","\\"${'{'.repeat(5_000)}","\\\\"]`;
  expect(JSON.stringify(parseJson(wide))).toBe(wide);
  expect(() => parseJson(`"${'['.repeat(5_000)}`)).toThrow('not valid JSON');
});

test('a body is collected up to its limit, and left unread beyond it', async () => {
  let given = 0;
  let isReturned = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        given += 1;
        yield new Uint8Array(10);
      }
    } finally {
      isReturned = true;
    }
  }
  await expect(collectBody(chunks(), 25)).rejects.toMatchObject({ code: 'TOO_LARGE', metadata: { bytesMost: '25' } });
  expect([given, isReturned]).toEqual([3, true]);
  async function* two(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array([1, 2]);
    yield new Uint8Array([3]);
  }
  expect([...(await collectBody(two(), 3))]).toEqual([1, 2, 3]);
});

test('answers repeat the id with its type and always carry result or error (RPC-04, RPC-06)', () => {
  expect(printResult('7', '{"a":1}')).toBe('{"jsonrpc":"2.0","id":"7","result":{"a":1}}');
  expect(printResult(7, '{}')).toBe('{"jsonrpc":"2.0","id":7,"result":{}}');
  expect(printResult('"\u2028', '{}')).toBe(`{"jsonrpc":"2.0","id":${JSON.stringify('"\u2028')},"result":{}}`);
  expect(JSON.parse(printError(null, taskNotFound('t')))).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32001 } });
  expect(JSON.parse(printRequest(1, 'GetTask', { id: 't' }))).toEqual({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 't' } });
});

function read(response: unknown): unknown {
  try {
    return readResponse(response, 10);
  } catch (error) {
    if (isA2AError(error)) return error.code;
    throw error;
  }
}

test('the client takes the response to its own request only (case 87)', () => {
  expect(read({ jsonrpc: '2.0', id: 10, result: { a: 1 } })).toEqual({ a: 1 });
  expect(read({ jsonrpc: '2.0', id: '10', result: {} })).toEqual({});
  expect(read({ jsonrpc: '2.0', id: 11, result: {} })).toBe('INVALID_AGENT_RESPONSE');
  expect(read({ jsonrpc: '2.0', result: {} })).toBe('INVALID_AGENT_RESPONSE');
  expect(read({ jsonrpc: '2.0', id: 11, error: { code: -32001, message: 'x' } })).toBe('INVALID_AGENT_RESPONSE');
  for (const odd of [null, [], 'x', 7]) expect(read(odd)).toBe('INVALID_AGENT_RESPONSE');
});

test('errors come back typed, also without an id; a missing or null result is undefined (case 92)', () => {
  expect(read({ jsonrpc: '2.0', id: 10, error: { code: -32001, message: 'x' } })).toBe('TASK_NOT_FOUND');
  expect(read({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'x' } })).toBe('PARSE_ERROR');
  expect(read({ jsonrpc: '2.0', id: 10, result: null })).toBeUndefined();
  expect(read({ jsonrpc: '2.0', id: 10 })).toBeUndefined();
  expect(read({ jsonrpc: '2.0', id: 10, error: null, result: {} })).toEqual({});
});
