import { describe, expect, test } from 'vitest';
import { isA2AError } from '../../src/protocol/errors.ts';
import type { A2AError } from '../../src/protocol/errors.ts';
import { readRequestOf, readResponseOf } from '../../src/wire/calls.ts';
import { operations } from '../../src/wire/operations.ts';
import { createReader, readAnswer, readMessage } from '../../src/wire/reader.ts';
import { requestRules } from '../../src/wire/rules.ts';
import type { MessageName } from '../../src/wire/schema.ts';

function errorOf(run: () => unknown): A2AError {
  try {
    run();
  } catch (error) {
    if (isA2AError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

function violations(name: MessageName, json: unknown): Readonly<Record<string, string>> {
  const error = errorOf(() => readMessage(name, json));
  expect(error.code).toBe('INVALID_PARAMS');
  return Object.fromEntries(error.violations.map(({ field, description }) => [field, description]));
}

const part = (content: unknown): unknown => readMessage('Part', content);
const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };

describe('the strict reader', () => {
  test('gives back the same JSON for what is canonical already', () => {
    const request = {
      tenant: 't',
      message: {
        ...message,
        contextId: 'c',
        taskId: 'k',
        metadata: { a: [1, null, { b: 'c' }] },
        extensions: ['https://x/e'],
        referenceTaskIds: ['r'],
      },
      configuration: { acceptedOutputModes: ['text/plain'], historyLength: 0, returnImmediately: true },
      metadata: {},
    };
    expect(readMessage('SendMessageRequest', structuredClone(request))).toEqual(request);
  });

  test('takes names as in the proto and enums by number (JSON-11)', () => {
    expect(readMessage('GetTaskRequest', { id: 'x', history_length: 2 })).toEqual({ id: 'x', historyLength: 2 });
    expect(readMessage('ListTasksRequest', { status: 2 })).toEqual({ status: 'TASK_STATE_WORKING' });
    expect(readMessage('Message', { message_id: 'm', role: 1, parts: [{ media_type: 'a/b', text: 'x' }] })).toEqual({
      messageId: 'm',
      role: 'ROLE_USER',
      parts: [{ text: 'x', mediaType: 'a/b' }],
    });
  });

  test('refuses a member under both names, unless one is null', () => {
    expect(violations('GetTaskRequest', { id: 'x', historyLength: 1, history_length: 1 })).toEqual({
      historyLength: 'is given twice, as historyLength and as history_length',
    });
    expect(readMessage('GetTaskRequest', { id: 'x', historyLength: 1, history_length: null })).toEqual({ id: 'x', historyLength: 1 });
  });

  test('names the valid values for an unknown enum name (LIST-05, ERR-11)', () => {
    expect(violations('ListTasksRequest', { status: 'working' })['status']).toMatch(
      /^must be one of TASK_STATE_SUBMITTED, TASK_STATE_WORKING, /,
    );
    expect(violations('ListTasksRequest', { status: 99 })['status']).toContain('must be one of');
    expect(violations('ListTasksRequest', { status: 1.5 })['status']).toContain('must be one of');
  });

  test('takes UNSPECIFIED as unset, and as missing where a value is required (LIST-12, case 58)', () => {
    expect(readMessage('ListTasksRequest', { status: 0 })).toEqual({});
    expect(readMessage('ListTasksRequest', { status: 'TASK_STATE_UNSPECIFIED' })).toEqual({});
    expect(violations('SendMessageRequest', { message: { ...message, role: 'ROLE_UNSPECIFIED' } })).toEqual({
      'message.role': 'is required',
    });
  });

  test('takes whole numbers in any spelling and keeps them in range (JSON-09, LIST-05)', () => {
    for (const value of [7, '7', '7.0', '0.7e1', 7.0])
      expect(readMessage('GetTaskRequest', { id: 'x', historyLength: value })).toEqual({ id: 'x', historyLength: 7 });
    for (const value of [1.5, '1.5', '', ' 1', '0x1', true, [], {}]) {
      expect(violations('GetTaskRequest', { id: 'x', historyLength: value })).toEqual({ historyLength: 'must be a whole number' });
    }
    expect(violations('GetTaskRequest', { id: 'x', historyLength: 2 ** 31 })['historyLength']).toMatch(/^must be from 0 to/);
    expect(violations('GetTaskRequest', { id: 'x', historyLength: -1 })['historyLength']).toMatch(/^must be from 0 to/);
    expect(violations('ListTasksRequest', { pageSize: 0 })).toEqual({ pageSize: 'must be from 1 to 100' });
    expect(violations('ListTasksRequest', { pageSize: 101 })).toEqual({ pageSize: 'must be from 1 to 100' });
    expect(Object.is(readMessage('GetTaskRequest', { id: 'x', historyLength: -0 }).historyLength, 0)).toBe(true);
  });

  test('tells an explicit default from absence only where the field has presence (JSON-17, JSON-19, case 63)', () => {
    expect(readMessage('GetTaskRequest', { id: 'x', historyLength: 0, tenant: '' })).toEqual({ id: 'x', historyLength: 0 });
    expect(readMessage('ListTasksRequest', { includeArtifacts: false, contextId: '' })).toEqual({ includeArtifacts: false });
    expect(readMessage('SendMessageConfiguration', { returnImmediately: false, acceptedOutputModes: [] })).toEqual({});
    expect(readMessage('ListTaskPushNotificationConfigsRequest', { taskId: 'x', pageSize: 0 })).toEqual({ taskId: 'x' });
  });

  test('writes bytes in one form (JSON-08)', () => {
    expect(part({ raw: '-_8' })).toEqual({ raw: '+/8=' });
    expect(part({ raw: '+/8=' })).toEqual({ raw: '+/8=' });
    expect(part({ raw: 'QR' })).toEqual({ raw: 'QQ==' });
    for (const raw of ['*', 'Q', 'QQ=', 'Q Q=', 1]) expect(violations('Part', { raw })).toEqual({ raw: 'must be base64' });
  });

  test('bytes of several MB cost what their length costs, whatever they are made of', () => {
    expect(part({ raw: 'QUJD'.repeat(2_000_000) })).toEqual({ raw: 'QUJD'.repeat(2_000_000) });
    expect(part({ raw: '-_8A'.repeat(2_000_000) })).toEqual({ raw: '+/8A'.repeat(2_000_000) });
    expect(violations('Part', { raw: `${'QUJD'.repeat(2_000_000)}*` })).toEqual({ raw: 'must be base64' });
  });

  test.each([
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.5+05:30', '2026-01-31T06:30:00.500Z'],
    ['2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31T12:00:00.999999999999-08:00', '2026-01-31T20:00:00.999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0050-06-01T00:00:00+00:00', '0050-06-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['2024-02-29T00:00:00-00:00', '2024-02-29T00:00:00.000Z'],
  ])('writes the timestamp %s as %s (JSON-03 to JSON-07)', (given, canonical) => {
    expect(readMessage('ListTasksRequest', { statusTimestampAfter: given })).toEqual({ statusTimestampAfter: canonical });
  });

  test.each<unknown>([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2026-01-31T12:00:60Z',
    '2026-01-31T12:00:00',
    '2026-01-31 12:00:00Z',
    '2026-01-31t12:00:00z',
    '2026-01-31T12:00:00.Z',
    '2026-01-31T12:00:00+24:00',
    '0000-01-01T00:00:00.000Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '',
    1769860800000,
  ])('refuses the timestamp %s', (given) => {
    expect(Object.keys(violations('ListTasksRequest', { statusTimestampAfter: given }))).toEqual(['statusTimestampAfter']);
  });

  test('takes null as unset, but as a value in Part.data (JSON-10, case 75)', () => {
    expect(readMessage('ListTasksRequest', { contextId: null, status: null, pageSize: null })).toEqual({});
    expect(part({ data: null })).toEqual({ data: null });
    expect(part({ text: null, data: null, metadata: null })).toEqual({ data: null });
    expect(part({ data: { a: null, b: [null] } })).toEqual({ data: { a: null, b: [null] } });
    expect(violations('Message', { ...message, extensions: [null] })).toEqual({ 'extensions[0]': 'must not be null' });
  });

  test('wants exactly one content in a part; empty placeholders of the others do not count (JSON-12)', () => {
    expect(part({ text: '' })).toEqual({ text: '' });
    expect(part({ raw: '' })).toEqual({ raw: '' });
    expect(part({ text: 'a', raw: '', url: '', data: null })).toEqual({ text: 'a' });
    expect(part({ text: '', raw: '', url: '', data: 0 })).toEqual({ data: 0 });
    expect(part({ text: '', data: {} })).toEqual({ data: {} });
    for (const bad of [
      {},
      { text: 'a', url: 'b' },
      { text: '', raw: '' },
      { text: '', data: null },
      { data: 1, text: 'x' },
      { kind: 'text' },
      { text: null },
    ]) {
      expect(violations('Part', bad)).toEqual({ '': 'must have exactly one of text, raw, url, data' });
    }
  });

  test('ignores unknown members at any depth (JSON-18, case 73)', () => {
    expect(readMessage('SendMessageRequest', { message: { ...message, kind: 'message', parts: [{ text: 'hi', x: 1 }] }, y: {} })).toEqual({
      message,
    });
  });

  test('wants required fields present and set (JSON-14, JSON-15, JSON-21)', () => {
    expect(violations('SendMessageRequest', {})).toEqual({ message: 'is required' });
    expect(violations('SendMessageRequest', { message: {} })).toEqual({
      'message.messageId': 'is required',
      'message.role': 'is required',
      'message.parts': 'is required',
    });
    expect(violations('SendMessageRequest', { message: { ...message, messageId: '', parts: [] } })).toEqual({
      'message.messageId': 'is required',
      'message.parts': 'must not be empty',
    });
    expect(violations('GetTaskRequest', { id: '' })).toEqual({ id: 'is required' });
  });

  test('an absent body is an empty message (case 72)', () => {
    expect(readMessage('GetExtendedAgentCardRequest', undefined)).toEqual({});
    expect(readMessage('ListTasksRequest', null)).toEqual({});
    expect(errorOf(() => readMessage('ListTasksRequest', [])).message).toContain('must be an object');
  });

  test('names wrong types by path in JSON names, whatever the name was on the wire (ERR-10)', () => {
    const bad = {
      message: { message_id: 7, role: [], parts: ['x', { text: 'a' }, { data: 1, metadata: 'm' }], reference_task_ids: 'x' },
      configuration: [],
    };
    expect(violations('SendMessageRequest', bad)).toEqual({
      'message.messageId': 'must be a string',
      'message.role': expect.stringContaining('must be one of ROLE_USER, ROLE_AGENT'),
      'message.parts[0]': 'must be an object',
      'message.parts[2].metadata': 'must be an object',
      'message.referenceTaskIds': 'must be an array',
      configuration: 'must be an object',
    });
  });

  test('names at most 16 violations and counts the others', () => {
    const error = errorOf(() => readMessage('Message', { ...message, parts: Array.from({ length: 50 }, () => ({})) }));
    expect(error.violations).toHaveLength(16);
    expect(error.message).toContain('(and 49 more)');
  });

  test('refuses U+0000 and lone surrogates anywhere, in values and in names (case 74)', () => {
    const bad = { ...message, parts: [{ text: 'a\0' }, { data: { 'x\ud800': 1, list: ['\udc00', { y: '\0' }] } }], metadata: { 'k\0': 1 } };
    expect(violations('Message', bad)).toEqual({
      'parts[0].text': 'must not hold the character U+0000',
      'parts[1].data["x\\ud800"]': 'has a name that must not hold half of a surrogate pair',
      'parts[1].data.list[0]': 'must not hold half of a surrogate pair',
      'parts[1].data.list[1].y': 'must not hold the character U+0000',
      'metadata["k\\u0000"]': 'has a name that must not hold the character U+0000',
    });
  });

  test('keeps text as it is: markup, every script, line separators, needless escapes (case 74)', () => {
    const texts = ['<b>&"\'', '漢字', '😀', '\u2028\u2029', JSON.parse('"\\u0041\\/"') as string, '\ufeff', ' \t\r\n'];
    for (const text of texts) expect(part({ text })).toEqual({ text });
  });

  test('holds ids to 1 to 255 code points of any script without control characters (case 95)', () => {
    for (const id of ['x', '漢'.repeat(255), '😀'.repeat(255), 'a b/c:d', '.'])
      expect(readMessage('GetTaskRequest', { id })).toEqual({ id });
    expect(violations('GetTaskRequest', { id: 'x'.repeat(256) })).toEqual({ id: 'must have at most 255 characters' });
    expect(violations('GetTaskRequest', { id: '😀'.repeat(256) })).toEqual({ id: 'must have at most 255 characters' });
    for (const id of ['a\nb', '\x7f', '\x85', '\0'])
      expect(violations('GetTaskRequest', { id })).toEqual({ id: 'must not hold control characters' });
    expect(violations('ListTasksRequest', { contextId: 'x'.repeat(5_000), tenant: '\t' })).toEqual({
      tenant: 'must not hold control characters',
      contextId: 'must have at most 255 characters',
    });
    expect(violations('Message', { ...message, referenceTaskIds: ['ok', '\n'] })).toEqual({
      'referenceTaskIds[1]': 'must not hold control characters',
    });
  });

  test('refuses line breaks in what will be sent as a header (case 45)', () => {
    const config = { url: 'https://x.example', token: 'a\r\nX-Evil: 1', authentication: { scheme: 'Bearer', credentials: 'é' } };
    expect(Object.keys(violations('TaskPushNotificationConfig', config))).toEqual(['token', 'authentication.credentials']);
  });

  test('limits parts, lists of strings and depth, and names the field', () => {
    expect(violations('Message', { ...message, parts: Array.from({ length: 1_001 }, () => ({ text: '' })) })).toEqual({
      parts: 'must have at most 1000 elements',
    });
    expect(violations('Message', { ...message, extensions: Array.from({ length: 257 }, () => 'e') })).toEqual({
      extensions: 'must have at most 256 elements',
    });
    expect(part({ data: nested(64) })).toEqual({ data: nested(64) });
    const [[field, description] = []] = Object.entries(violations('Part', { data: nested(65) }));
    expect(field).toMatch(/^data\[0\]\[0\]/);
    expect(description).toBe('is nested too deeply');
    expect(Object.keys(violations('Part', { data: nested(100_000) }))).toHaveLength(1);
  });

  test('limits are what the rules say', () => {
    const reader = createReader({ ...requestRules, partsMax: 1, valueDepthMax: 1 });
    expect(() => reader('Message', { ...message, parts: [{ text: '' }, { text: '' }] })).toThrow('at most 1 elements');
    expect(() => reader('Part', { data: [[]] })).toThrow('nested too deeply');
  });

  test('a member named __proto__ or constructor is data or unknown, never a prototype', () => {
    const hostile: unknown = JSON.parse(
      '{"__proto__":{"messageId":"evil"},"constructor":1,"role":"ROLE_USER","parts":[{"data":{"__proto__":{"x":1}}}]}',
    );
    expect(violations('Message', hostile)).toEqual({ messageId: 'is required' });
    const read = part(JSON.parse('{"data":{"__proto__":{"x":1}},"metadata":{"__proto__":1}}'));
    expect(JSON.stringify(read)).toBe('{"data":{"__proto__":{"x":1}},"metadata":{"__proto__":1}}');
    const card = readMessage('SecurityRequirement', JSON.parse('{"schemes":{"__proto__":{"list":["a"]}}}'));
    expect(JSON.stringify(card)).toBe('{"schemes":{"__proto__":{"list":["a"]}}}');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('refuses numerals that no double holds', () => {
    expect(violations('Part', JSON.parse('{"data":{"n":1e999}}'))).toEqual({ 'data.n': 'must be a number of double precision' });
  });

  test('an answer is never longer than the trouble is worth', () => {
    let value: unknown = '\0';
    for (let i = 0; i < 60; i++) value = { ['k'.repeat(1_000)]: value };
    const [first] = errorOf(() => readMessage('Part', { data: value })).violations;
    expect(first?.field.startsWith('data')).toBe(true);
    expect(first?.field.length).toBeLessThan(500);
  });
});

describe('the lenient reader', () => {
  test('fills in what is missing, but for what everything hangs on (case 90)', () => {
    expect(readAnswer('Task', { id: 't' })).toEqual({ id: 't', status: { state: 'TASK_STATE_UNSPECIFIED' } });
    expect(readAnswer('Task', { id: 't', status: { state: 2, message: { parts: [{}] } }, artifacts: [{ artifactId: 'a' }] })).toEqual({
      id: 't',
      status: { state: 'TASK_STATE_WORKING', message: { messageId: '', role: 'ROLE_UNSPECIFIED', parts: [{}] } },
      artifacts: [{ artifactId: 'a', parts: [] }],
    });
    const error = errorOf(() => readAnswer('Task', { status: { state: 'TASK_STATE_WORKING' } }));
    expect([error.code, error.violations]).toEqual(['INVALID_AGENT_RESPONSE', [{ field: 'id', description: 'is required' }]]);
  });

  test('keeps enum values of a later version as they are', () => {
    expect(readAnswer('TaskStatus', { state: 'TASK_STATE_PAUSED' })).toEqual({ state: 'TASK_STATE_PAUSED' });
    expect(readAnswer('TaskStatus', { state: 99 })).toEqual({ state: 99 });
  });

  test('wants an answer or a stream item to hold something', () => {
    expect(() => readAnswer('SendMessageResponse', {})).toThrow('must have exactly one of task, message');
    expect(() => readAnswer('StreamResponse', { unheardOf: {} })).toThrow('must have exactly one of');
    expect(readAnswer('StreamResponse', { statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_WORKING' } } })).toEqual({
      statusUpdate: { taskId: 't', contextId: '', status: { state: 'TASK_STATE_WORKING' } },
    });
  });

  test('reads cards whose lists are null, and cards of both generations', () => {
    const card = readAnswer('AgentCard', {
      name: 'n',
      url: 'http://x',
      skills: null,
      defaultInputModes: null,
      preferredTransport: 'JSONRPC',
      capabilities: {},
    });
    expect(card).toEqual({
      name: 'n',
      description: '',
      version: '',
      supportedInterfaces: [],
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    });
  });

  test('keeps the empty page token and zero counts of a list (LIST-07, LIST-14)', () => {
    const list = { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 };
    expect(readAnswer('ListTasksResponse', list)).toEqual(list);
    expect(readMessage('ListTasksResponse', list)).toEqual(list);
    expect(readAnswer('ListTasksResponse', {})).toEqual({ tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 });
  });

  test('keeps a timestamp that is not in the form of the protocol', () => {
    const status = { state: 'TASK_STATE_WORKING', timestamp: '2026-01-31T12:00:00.123456' };
    expect(readAnswer('TaskStatus', status)).toEqual(status);
    expect(readAnswer('TaskStatus', { ...status, timestamp: '2026-01-31T12:00:00Z' })).toEqual({
      ...status,
      timestamp: '2026-01-31T12:00:00.000Z',
    });
  });

  test('reads the answer of each operation; a Delete may be answered with {}, null or nothing (AMB-28)', () => {
    for (const json of [{}, null, undefined]) expect(readResponseOf(operations.DeleteTaskPushNotificationConfig, json)).toEqual({});
    const task = { id: 't', status: { state: 'TASK_STATE_WORKING' } };
    expect(readResponseOf(operations.GetTask, { ...task, kind: 'task' })).toEqual(task);
    expect(readRequestOf(operations.GetTask, { id: 't' })).toEqual({ id: 't' });
  });

  test('types still hold', () => {
    expect(errorOf(() => readAnswer('Task', { id: 7 })).code).toBe('INVALID_AGENT_RESPONSE');
  });
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
