import { expect, test } from 'vitest';
import { isA2AError } from '../../src/protocol/errors.ts';
import { idProblem } from '../../src/protocol/ids.ts';
import {
  mediaTypes,
  parseExtensions,
  parseIdempotencyKey,
  parseLastEventId,
  printExtensions,
  requestedVersion,
  requireContentType,
} from '../../src/wire/headers.ts';

function codeOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (isA2AError(error)) return error.code;
    throw error;
  }
}

test.each<[string | undefined, string | null, string]>([
  ['1.0', null, '1.0'],
  [undefined, '1.0', '1.0'],
  ['1.0', '99.0', '1.0'],
  ['1.0.7', null, '1.0'],
  [' 1.0 ', null, '1.0'],
  ['', '1.0', '1.0'],
  ['99.0', '1.0', 'VERSION_NOT_SUPPORTED'],
  [undefined, null, 'VERSION_NOT_SUPPORTED'],
  ['', '', 'VERSION_NOT_SUPPORTED'],
  ['0.3', null, 'VERSION_NOT_SUPPORTED'],
  ['1.1', null, 'VERSION_NOT_SUPPORTED'],
  ['1', null, 'VERSION_NOT_SUPPORTED'],
  ['v1.0', null, 'VERSION_NOT_SUPPORTED'],
  ['1.0.x', null, 'VERSION_NOT_SUPPORTED'],
  ['1.0, 1.0', null, 'VERSION_NOT_SUPPORTED'],
  ['abc', null, 'VERSION_NOT_SUPPORTED'],
])('header %j and query %j ask for %s where 1.0 is spoken (VER-01 to VER-08, AMB-26, case 67)', (header, query, expected) => {
  expect(codeOf(() => requestedVersion(header, query, ['1.0']))).toBe(expected);
});

test('no version means 0.3 where 0.3 is spoken; what is spoken is named in the error (VER-08)', () => {
  expect(requestedVersion(undefined, null, ['1.0', '0.3'])).toBe('0.3');
  try {
    requestedVersion('9.9\r\nx: é', null, ['1.0', '0.3']);
    expect.unreachable();
  } catch (error) {
    expect(isA2AError(error) && error.metadata).toEqual({ requested: '9.9??x: ?', supported: '1.0, 0.3' });
  }
});

test('extensions are a comma list, each once (EXT-02, SP-03)', () => {
  expect(parseExtensions(' https://a/1 ,https://b/2,, https://a/1')).toEqual(['https://a/1', 'https://b/2']);
  expect(parseExtensions(undefined)).toEqual([]);
  expect(printExtensions(['https://a/1', 'https://b/2'])).toBe('https://a/1, https://b/2');
  expect(codeOf(() => parseExtensions(Array.from({ length: 300 }, (_, i) => `e${i}`).join()))).toBe('INVALID_PARAMS');
});

test('a cursor is digits; anything else is as if there were none', () => {
  expect(parseLastEventId('0')).toBe(0);
  expect(parseLastEventId(' 42 ')).toBe(42);
  for (const bad of [undefined, null, '', '-1', '1.5', '1e3', 'x', '9'.repeat(16), '1 2']) expect(parseLastEventId(bad)).toBeUndefined();
});

test('an idempotency key is 1 to 255 printable characters (AMB-05)', () => {
  expect(parseIdempotencyKey(undefined)).toBeUndefined();
  expect(parseIdempotencyKey('"k 1"')).toBe('"k 1"');
  expect(parseIdempotencyKey('x'.repeat(255))).toHaveLength(255);
  for (const bad of ['', 'x'.repeat(256), 'a\tb', 'é', 'a\0']) expect(codeOf(() => parseIdempotencyKey(bad))).toBe('INVALID_PARAMS');
});

test.each<[string | undefined, boolean]>([
  ['application/json', true],
  ['Application/JSON; charset=UTF-8', true],
  ['application/json;charset="utf-8"; x=y', true],
  ['application/a2a+json', true],
  ['application/json; charset=latin1', false],
  ['text/plain', false],
  ['application/jsonx', false],
  ['', false],
  [undefined, false],
])('the content type %j of a body is taken: %s (REST-02, SEC-10)', (header, isTaken) => {
  const accepted = [mediaTypes.a2aJson, mediaTypes.json];
  expect(codeOf(() => requireContentType(header, accepted))).toBe(isTaken ? undefined : 'CONTENT_TYPE_NOT_SUPPORTED');
});

test('ids are 1 to 255 code points without control characters (case 95)', () => {
  for (const id of ['x', '😀'.repeat(255), ' ', 'ü/:%']) expect(idProblem(id)).toBeUndefined();
  for (const id of ['', 'x'.repeat(256), '😀'.repeat(256), 'x'.repeat(100_000), '\n', '\x9f', 'a\ud800'])
    expect(idProblem(id)).toBeDefined();
});
