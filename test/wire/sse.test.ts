import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StreamEvent } from '../../src/wire/sse.ts';
import { createEventParser, EVENT_LENGTH_MAX, HEARTBEAT, printEvent, readEvents } from '../../src/wire/sse.ts';

const encoder = new TextEncoder();

function parse(text: string | Uint8Array, chunkLength = Infinity): readonly StreamEvent[] {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  const parser = createEventParser();
  const events: StreamEvent[] = [];
  for (let at = 0; at < bytes.length; at += chunkLength) events.push(...parser.push(bytes.subarray(at, at + chunkLength)));
  return events;
}

test.each<[string, string, readonly StreamEvent[]]>([
  ['one line', 'data: x\n\n', [{ data: 'x' }]],
  ['no space after the colon', 'data:x\n\n', [{ data: 'x' }]],
  ['only one space is taken away', 'data:  x\n\n', [{ data: ' x' }]],
  ['several data lines', 'data: a\ndata\ndata: b\n\n', [{ data: 'a\n\nb' }]],
  ['an id', 'id: 7\ndata: x\n\n', [{ data: 'x', id: '7' }]],
  [
    'an id that lasts',
    'id: 7\ndata: x\n\ndata: y\n\n',
    [
      { data: 'x', id: '7' },
      { data: 'y', id: '7' },
    ],
  ],
  ['an id alone', 'id: 7\n\ndata: y\n\n', [{ data: 'y', id: '7' }]],
  [
    'an empty id',
    'id: 7\ndata: x\n\nid\ndata: y\n\n',
    [
      { data: 'x', id: '7' },
      { data: 'y', id: '' },
    ],
  ],
  [
    'an id with U+0000',
    'id: 7\ndata: x\n\nid: 8\0\ndata: y\n\n',
    [
      { data: 'x', id: '7' },
      { data: 'y', id: '7' },
    ],
  ],
  ['an event name, for one event', 'event: e\ndata: x\n\ndata: y\n\n', [{ data: 'x', event: 'e' }, { data: 'y' }]],
  ['comments', ': hi\n:\ndata: x\n: id: 9\n\n:\n\n', [{ data: 'x' }]],
  ['unknown names', 'dat: x\ndatax: y\n data: z\ndata: x\n\n', [{ data: 'x' }]],
  ['blank lines', '\n\n\ndata: x\n\n\n\n', [{ data: 'x' }]],
  ['no data', 'event: e\nid: 1\n\n', []],
  ['empty data', 'data\n\n', [{ data: '' }]],
  ['a byte order mark', '\ufeffdata: x\n\n', [{ data: 'x' }]],
  ['an unfinished last event', 'data: x\n\ndata: y\n', [{ data: 'x' }]],
  ['an unfinished last line', 'data: x\n\ndata: y', [{ data: 'x' }]],
  ['characters of every length', 'data: aé漢😀\u2028\n\n', [{ data: 'aé漢😀\u2028' }]],
])('%s is read by the WHATWG rules, with LF, CRLF or CR, in chunks of any size (case 83)', (_, text, events) => {
  for (const end of ['\n', '\r\n', '\r']) {
    for (const chunkLength of [1, 2, 3, 5, Infinity]) {
      expect(parse(text.replaceAll('\n', end), chunkLength), `${JSON.stringify(end)} by ${chunkLength}`).toEqual(events);
    }
  }
});

test('an event that ends with CR is there at once, and a late LF adds nothing', () => {
  const parser = createEventParser();
  expect(parser.push(encoder.encode('data: x\r\r'))).toEqual([{ data: 'x' }]);
  expect(parser.push(encoder.encode(''))).toEqual([]);
  expect(parser.push(encoder.encode('\ndata: y\r\n\r'))).toEqual([{ data: 'y' }]);
  expect(parser.push(encoder.encode('\n\n'))).toEqual([]);
});

test('any cut of any stream gives the same events', () => {
  const line = fc.constantFrom('data: a', 'data:', 'data: é😀', 'id: 1', 'id: 2\0', ': c', 'event: e', 'retry: 5', 'x', '', '', '');
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 20 }).map((lines) => lines.flat().join(''));
  fc.assert(
    fc.property(stream, fc.array(fc.nat(40)), (text, cuts) => {
      const bytes = encoder.encode(text);
      const parser = createEventParser();
      const events: StreamEvent[] = [];
      let from = 0;
      for (const to of [...cuts, bytes.length].toSorted((a, b) => a - b)) {
        events.push(...parser.push(bytes.subarray(from, Math.max(from, to))));
        from = Math.max(from, to);
      }
      expect(events).toEqual(parse(text));
      expect(events).toEqual(simple(text));
    }),
    { seed: 7, numRuns: 2_000 },
  );
});

// the same rules once more, on the whole text, without any care for speed
function simple(text: string): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  let data: string[] = [];
  let event = '';
  let id: string | undefined;
  for (const line of text.split(/\r\n|\r|\n/).slice(0, -1)) {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (line === '') {
      if (data.length > 0) events.push({ data: data.join('\n'), ...(id === undefined ? {} : { id }), ...(event === '' ? {} : { event }) });
      data = [];
      event = '';
    } else if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  }
  return events;
}

test('the cursor after a cut is the id of the last whole block, retry is kept', () => {
  const parser = createEventParser();
  parser.push(encoder.encode('id: 1\ndata: x\n\nretry: 250\nretry: soon\nid: 2\ndata: y\n'));
  expect([parser.lastEventId, parser.retryMs]).toEqual(['1', 250]);
  parser.push(encoder.encode('\n'));
  expect(parser.lastEventId).toBe('2');
});

test('an event of 8 MB arrives, in small chunks too (case 84)', () => {
  const data = 'x'.repeat(8 * 1024 * 1024);
  const [event] = parse(`data: ${data}\n\n`, 16_384);
  expect(event?.data.length).toBe(data.length);
  expect(event?.data === data).toBe(true);
});

test.each([
  ['a line without end', 'data: ' + 'x'.repeat(2_000)],
  ['a comment without end', ':'.padEnd(2_000, 'x')],
  ['data lines without end', 'data: x\n'.repeat(1_000)],
  ['empty data lines without end', 'data:\n'.repeat(2_000)],
])('%s ends in an error at the stated limit (case 84)', (_, text) => {
  for (const chunkLength of [7, 10_000]) {
    const parser = createEventParser(1_000);
    expect(() => {
      const bytes = encoder.encode(text);
      for (let at = 0; at < bytes.length; at += chunkLength) parser.push(bytes.subarray(at, at + chunkLength));
    }).toThrow('more than 1000 characters');
  }
});

test('many small events and comments never reach the limit of one', () => {
  const parser = createEventParser(100);
  for (let i = 0; i < 1_000; i++) parser.push(encoder.encode(`: comment\nid: ${i}\ndata: 0123456789\n\n`));
  expect(parser.lastEventId).toBe('999');
  expect(EVENT_LENGTH_MAX).toBe(16 * 1024 * 1024);
});

test('what is printed is read back, whatever the text (case 74)', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(), (text, id) => {
      const json = JSON.stringify({ text });
      expect(parse(HEARTBEAT + printEvent(json, id) + HEARTBEAT + printEvent(json), 3)).toEqual([
        { data: json, id: String(id) },
        { data: json, id: String(id) },
      ]);
    }),
    { seed: 7, numRuns: 300 },
  );
});

test('leaving the loop early ends the body (case 85)', async () => {
  let isReturned = false;
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield encoder.encode('data: x\n\n');
    } finally {
      isReturned = true;
    }
  }
  for await (const event of readEvents(body())) {
    expect(event).toEqual({ data: 'x' });
    break;
  }
  expect(isReturned).toBe(true);
});
