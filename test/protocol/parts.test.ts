import { expect, test } from 'vitest';
import { isA2AError } from '../../src/protocol/errors.ts';
import { copyJson, copyStruct } from '../../src/protocol/json.ts';
import { textOf, toParts } from '../../src/protocol/parts.ts';
import type { Content } from '../../src/protocol/parts.ts';

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isA2AError(error) && error.code === 'INVALID_AGENT_RESPONSE') return error.message;
    throw error;
  }
  return 'accepted';
}

const parts = (content: unknown): string => refusal(() => toParts(content as Content)); // what a program without types may hand over

test('a text, a part and a list of parts are all content', () => {
  expect(toParts('hi')).toEqual([{ text: 'hi' }]);
  expect(toParts('')).toEqual([{ text: '' }]);
  expect(toParts({ data: null })).toEqual([{ data: null }]);
  expect(toParts([{ text: 'a' }, { url: 'https://x.example/y', mediaType: 'text/plain', filename: 'y' }])).toEqual([
    { text: 'a' },
    { url: 'https://x.example/y', mediaType: 'text/plain', filename: 'y' },
  ]);
});

test('bytes are written in the standard alphabet with padding, whatever the agent gave (JSON-08)', () => {
  expect(toParts([{ raw: '-_8' }, { raw: 'QQ==' }, { raw: '' }])).toEqual([{ raw: '+/8=' }, { raw: 'QQ==' }, { raw: '' }]);
});

test('what the agent changes afterwards never shows (case 35)', () => {
  const data = { list: [1, { deep: true }] };
  const metadata = { a: [1] };
  const copy = toParts({ data, metadata });
  data.list.push(2);
  metadata.a.push(2);
  expect(copy).toEqual([{ data: { list: [1, { deep: true }] }, metadata: { a: [1] } }]);
});

test('members that are undefined are absent', () => {
  expect(toParts({ text: 'x', filename: undefined, data: undefined } as unknown as Content)).toEqual([{ text: 'x' }]);
  expect(Object.keys(copyStruct({ a: undefined, b: 1 }, 'metadata'))).toEqual(['b']);
});

test('content that A2A cannot carry is INVALID_AGENT_RESPONSE and names its path (ERR-21, JSON-12)', () => {
  expect(parts({})).toContain('parts must have exactly one of text, raw, url, data');
  expect(parts([{ text: 'a' }, { text: 'b', url: 'c' }])).toContain('parts[1] must have exactly one of');
  expect(parts([])).toContain('parts must hold at least one part');
  expect(parts([{ text: 1 }])).toContain('parts[0].text must be a string');
  expect(parts(7)).toContain('parts must be a part');
  expect(parts('a\0')).toContain('parts must not hold the character U+0000');
  expect(parts({ text: '\ud83d' })).toContain('parts.text must not hold half of a surrogate pair');
  expect(parts({ raw: 'not base64' })).toContain('parts.raw must be base64');
  expect(parts({ data: { when: new Date(0) } })).toContain('parts.data.when must be JSON, not Date');
  expect(parts({ data: [1, undefined] })).toContain('parts.data[1] must be JSON, not undefined');
  expect(parts({ data: { n: Number.NaN } })).toContain('parts.data.n must be a finite number');
  expect(parts({ data: 1n })).toContain('parts.data must be JSON, not bigint');
  expect(parts({ data: { 'k\0': 1 } })).toContain('parts.data has a key that must not hold');
  expect(parts({ text: 'x', metadata: [] })).toContain('parts.metadata must be a plain object');
  expect(parts(Array.from({ length: 1_001 }, () => ({ text: '' })))).toContain('at most 1000 parts');
});

test('cycles and deep nesting end in an error and not in a full stack', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  expect(parts({ data: cycle })).toContain('nested deeper than 64');
  expect(refusal(() => copyJson(nested(64), 'data'))).toBe('accepted');
  expect(refusal(() => copyJson(nested(65), 'data'))).toMatch(/data\[0\]\.a.*… must not be nested deeper than 64/);
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

test('a key named __proto__ is data like any other and changes no prototype', () => {
  const copy = copyStruct(JSON.parse('{"__proto__":{"isAdmin":true},"a":1}'), 'metadata');
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"isAdmin":true},"a":1}');
  expect('isAdmin' in copy).toBe(false);
});

test('the text of a message is its text parts, joined with nothing between (case 89)', () => {
  expect(textOf([{ text: 'Hello, ' }, { data: 1 }, { text: 'world!' }])).toBe('Hello, world!');
  expect(textOf({ parts: [] })).toBe('');
});
