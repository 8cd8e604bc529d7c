import { expect, test } from 'vitest';
import type { ErrorCode } from '../../src/protocol/errors.ts';
import { A2AError, internalError, invalidParams, isA2AError, taskNotFound, tooLarge, unavailable } from '../../src/protocol/errors.ts';
import type { LogFields, Logger } from '../../src/ground/logger.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { fromJsonRpcError, fromRestError } from '../../src/wire/error-reading.ts';
import { errorTable } from '../../src/wire/error-table.ts';
import { toA2AError, toJsonRpcError, toRestError } from '../../src/wire/errors.ts';

const errorInfo = 'type.googleapis.com/google.rpc.ErrorInfo';

test.each<[ErrorCode, number, number, number, string]>([
  ['TASK_NOT_FOUND', -32001, 404, 5, 'NOT_FOUND'],
  ['TASK_NOT_CANCELABLE', -32002, 400, 9, 'FAILED_PRECONDITION'],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', -32003, 400, 9, 'FAILED_PRECONDITION'],
  ['UNSUPPORTED_OPERATION', -32004, 400, 9, 'FAILED_PRECONDITION'],
  ['CONTENT_TYPE_NOT_SUPPORTED', -32005, 400, 3, 'INVALID_ARGUMENT'],
  ['INVALID_AGENT_RESPONSE', -32006, 500, 13, 'INTERNAL'],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32007, 400, 9, 'FAILED_PRECONDITION'],
  ['EXTENSION_SUPPORT_REQUIRED', -32008, 400, 9, 'FAILED_PRECONDITION'],
  ['VERSION_NOT_SUPPORTED', -32009, 400, 9, 'FAILED_PRECONDITION'],
  ['PARSE_ERROR', -32700, 400, 3, 'INVALID_ARGUMENT'],
  ['INVALID_REQUEST', -32600, 400, 3, 'INVALID_ARGUMENT'],
  ['METHOD_NOT_FOUND', -32601, 404, 12, 'UNIMPLEMENTED'],
  ['INVALID_PARAMS', -32602, 400, 3, 'INVALID_ARGUMENT'],
  ['TOO_LARGE', -32600, 413, 8, 'RESOURCE_EXHAUSTED'],
  ['INTERNAL', -32603, 500, 13, 'INTERNAL'],
  ['UNAVAILABLE', -32603, 503, 14, 'UNAVAILABLE'],
  ['UNAUTHENTICATED', -32031, 401, 16, 'UNAUTHENTICATED'],
  ['PERMISSION_DENIED', -32032, 403, 7, 'PERMISSION_DENIED'],
])('%s is %i on JSON-RPC, %i on HTTP, %i (%s) on gRPC (table B, ERR-20, case 68)', (code, jsonRpc, http, grpc, status) => {
  const error = new A2AError(code, 'why', { metadata: { taskId: 't' } });
  const info = { '@type': errorInfo, reason: code, domain: 'a2a-protocol.org', metadata: { taskId: 't' } };
  expect(toJsonRpcError(error)).toEqual({ code: jsonRpc, message: expect.stringContaining('why'), data: [info] });
  expect(toRestError(error)).toEqual({
    status: http,
    headers: {},
    body: { error: { code: http, status, message: 'why', details: [info] } },
  });
  expect(errorTable[code].grpc).toBe(grpc);
  // and back, over both wires, with everything that was said
  for (const back of [
    fromJsonRpcError(onWire(toJsonRpcError(error))),
    fromRestError({ status: http, body: onWire(toRestError(error).body) }),
  ]) {
    expect(isA2AError(back)).toBe(true);
    expect(back.code).toBe(code);
    expect(back.metadata['taskId']).toBe('t');
    expect(back.message).toContain('why');
  }
});

function onWire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test('the generic categories begin with the words of the protocol and go on with ours (RPC-11)', () => {
  const message = (code: ErrorCode): string => toJsonRpcError(new A2AError(code, 'why')).message;
  expect(message('PARSE_ERROR')).toBe('Invalid JSON payload: why');
  expect(message('INVALID_REQUEST')).toBe('Request payload validation error: why');
  expect(message('METHOD_NOT_FOUND')).toBe('Method not found: why');
  expect(message('INVALID_PARAMS')).toBe('Invalid parameters: why');
  expect(toJsonRpcError(invalidParams('id', 'is required')).message).toBe('Invalid parameters: id: is required');
  expect(toJsonRpcError(internalError('r1')).message).toBe('Internal error. Reference: r1');
  expect(message('TASK_NOT_FOUND')).toBe('why');
});

test('validation errors carry BadRequest with each field, there and back (RPC-08, REST-14, ERR-10)', () => {
  const error = invalidParams('message.parts[0]', 'must have exactly one of text, raw, url, data');
  const badRequest = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: error.violations };
  expect(toJsonRpcError(error).data[1]).toEqual(badRequest);
  expect(toRestError(error).body.error.details[1]).toEqual(badRequest);
  expect(fromJsonRpcError(onWire(toJsonRpcError(error))).violations).toEqual(error.violations);
});

test('a retry hint travels as RetryInfo and as Retry-After, there and back (ERR-15)', () => {
  const error = unavailable('try later', 1_500);
  const rest = toRestError(error);
  expect(rest.headers).toEqual({ 'retry-after': '2' });
  expect(rest.body.error.details[1]).toEqual({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.5s' });
  expect(fromRestError({ status: 503, body: onWire(rest.body) })).toMatchObject({ code: 'UNAVAILABLE', retryAfterMs: 1_500 });
  expect(fromJsonRpcError(onWire(toJsonRpcError(error)))).toMatchObject({ code: 'UNAVAILABLE', retryAfterMs: 1_500 });
  expect(fromRestError({ status: 503, retryAfter: '7' })).toMatchObject({ code: 'UNAVAILABLE', retryAfterMs: 7_000 });
});

test('a path that exists for another method is 405 in status and body', () => {
  expect(toRestError(new A2AError('METHOD_NOT_FOUND', 'no'), 405)).toMatchObject({
    status: 405,
    body: { error: { code: 405, status: 'UNIMPLEMENTED' } },
  });
});

test('what was thrown and is not meant for callers shows only a reference; the logger has it all (case 71)', () => {
  const logged: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (event: string, fields?: LogFields) => logged.push(event, fields) };
  const error = toA2AError(new Error('password=hunter2'), { referenceId: 'r7', logger });
  expect(error).toMatchObject({ code: 'INTERNAL', message: 'Internal error. Reference: r7', metadata: { referenceId: 'r7' } });
  expect(JSON.stringify([toJsonRpcError(error), toRestError(error)])).not.toContain('hunter2');
  expect(logged).toEqual(['unexpected error', { referenceId: 'r7', error: expect.stringContaining('hunter2') }]);
  for (const odd of ['text', undefined, null, 7, { code: 'TASK_NOT_FOUND' }])
    expect(toA2AError(odd, { referenceId: 'r' }).code).toBe('INTERNAL');
});

test('a typed error of another copy of this package keeps its code; a code of another version does not pass (case 69)', () => {
  const brand = Symbol.for('chorus-a2a/A2AError');
  const foreign = { code: 'TASK_NOT_FOUND', message: 'm', metadata: {}, violations: [], [brand]: true };
  expect(toJsonRpcError(toA2AError(foreign, { referenceId: 'r' })).code).toBe(-32001);
  expect(toA2AError({ ...foreign, code: 'TASK_GENERATION_MISMATCH' }, { referenceId: 'r' }).code).toBe('INTERNAL');
  const error = taskNotFound('t');
  expect(toA2AError(error, { referenceId: 'r' })).toBe(error);
});

test.each<[unknown, ErrorCode]>([
  [{ code: -32001, message: 'Task not found' }, 'TASK_NOT_FOUND'],
  [{ code: -32001, message: 'x', data: { taskId: 't' } }, 'TASK_NOT_FOUND'],
  [{ code: -32602, message: 'x', data: null }, 'INVALID_PARAMS'],
  [{ code: -32600, message: 'x' }, 'INVALID_REQUEST'],
  [{ code: -32603, message: 'x' }, 'INTERNAL'],
  [{ code: -32603, message: 'x', data: [{ '@type': errorInfo, reason: 'UNAVAILABLE', domain: 'a2a-protocol.org' }] }, 'UNAVAILABLE'],
  [{ code: -32001, message: 'x', data: [{ '@type': errorInfo, reason: 'TASK_NOT_CANCELABLE' }] }, 'TASK_NOT_CANCELABLE'],
  [{ code: -32602, message: 'x', data: [{ '@type': errorInfo, reason: 'UNAVAILABLE', domain: 'googleapis.com' }] }, 'INVALID_PARAMS'],
  [{ code: -32050, message: 'x' }, 'INTERNAL'],
  ['boom', 'INTERNAL'],
  [{}, 'INTERNAL'],
])('the JSON-RPC error %j is read as %s', (error, code) => {
  expect(fromJsonRpcError(error).code).toBe(code);
});

test('what is not known of an error is kept in its metadata', () => {
  const data = [{ '@type': errorInfo, reason: 'QUOTA', domain: 'x.example', metadata: { limit: '3', bad: 7 } }];
  expect(fromJsonRpcError({ code: -32050, message: 'too much', data })).toMatchObject({
    code: 'INTERNAL',
    message: 'too much',
    metadata: { jsonRpcCode: '-32050', reason: 'QUOTA', limit: '3' },
  });
});

test.each<[number, unknown, ErrorCode]>([
  [404, { error: { code: 404, status: 'NOT_FOUND', message: 'x', details: [] } }, 'TASK_NOT_FOUND'],
  [400, { code: -32004, message: 'x' }, 'UNSUPPORTED_OPERATION'],
  [400, { error: { code: -32602, message: 'x' } }, 'INVALID_PARAMS'],
  [400, { error: { code: 400, status: 'FAILED_PRECONDITION', message: 'x' } }, 'UNSUPPORTED_OPERATION'],
  [404, { type: 'https://a2a-protocol.org/errors/task-not-found', title: 'T', detail: 'd', status: 404 }, 'TASK_NOT_FOUND'],
  [409, { type: 'about:blank', title: 'Conflict' }, 'TASK_NOT_CANCELABLE'],
  [404, '<html>', 'METHOD_NOT_FOUND'],
  [401, undefined, 'UNAUTHENTICATED'],
  [403, '<html>', 'PERMISSION_DENIED'],
  [405, undefined, 'METHOD_NOT_FOUND'],
  [413, { error: { status: 'RESOURCE_EXHAUSTED' } }, 'TOO_LARGE'],
  [415, undefined, 'CONTENT_TYPE_NOT_SUPPORTED'],
  [429, { error: { status: 'RESOURCE_EXHAUSTED', message: 'x' } }, 'UNAVAILABLE'],
  [502, undefined, 'UNAVAILABLE'],
  [500, [], 'INTERNAL'],
  [418, null, 'INTERNAL'],
])('HTTP %i with the body %j is read as %s (REST-11, REST-17)', (status, body, code) => {
  const error = fromRestError({ status, body });
  expect(error.code).toBe(code);
  expect(error.message).not.toBe('');
  expect(error.metadata['httpStatus']).toBe(String(status));
});

test('errors of size name the limit', () => {
  expect(toRestError(tooLarge('The body', 100)).body.error).toMatchObject({ code: 413, message: 'The body is larger than 100 bytes.' });
});
