import { describe, expect, test } from 'vitest';
import type { Artifact, Json, Part } from '../../src/protocol/types.ts';
import { callers, chunks, collect, dataOf, ended, eventually, refusalOf, rounds, stageOf, textsIn, textsOf } from './support.ts';
import type { Seen } from './support.ts';

const stage = stageOf();

/** The artifact updates of a stream, in order. */
const updatesIn = (seen: readonly Seen[]) => seen.flatMap(({ item }) => (item && 'artifactUpdate' in item ? [item.artifactUpdate] : []));

describe('a long artifact', () => {
  test.each(callers)(
    '$name: arrives whole and in order on three streams at once, however fast it is written (case 54, STRM-06)',
    async (raw) => {
      const who = stage.by(raw);
      const count = rounds(5_000, 1_500);
      const stream = who.at(0).stream(`silent 2500; emit ${count} 0; done`);
      const first = await stream.next();
      const { item } = (first.value ?? { id: 0 }) as Seen; // a stream's first item is never its end
      const id = item && 'task' in item ? item.task.id : '';
      const all = await Promise.all([collect(stream), collect(who.at(0).subscribe(id)), collect(who.at(1).subscribe(id))]);
      const whole = chunks(1, count).join('');
      for (const seen of all) expect(textsOf(seen).join('')).toBe(whole);
      expect(textsIn(await who.at(1).get(id)).join('')).toBe(whole);
    },
  );
});

describe('an append', () => {
  test.each(callers)('$name: to an artifact that is not there opens it (case 55, ART-05, AMB-09)', async (raw) => {
    const who = stage.by(raw);
    const seen = await collect(who.stream('append fresh one; append fresh two; done'));
    const [first, second] = updatesIn(seen);
    expect(first).toMatchObject({ artifact: { artifactId: 'fresh', parts: [{ text: 'one' }] } });
    expect(second).toMatchObject({ artifact: { artifactId: 'fresh', parts: [{ text: 'two' }] }, append: true });
    const task = await who.get(first?.taskId ?? '');
    expect(task.artifacts).toMatchObject([{ artifactId: 'fresh', parts: [{ text: 'one' }, { text: 'two' }] }]);
  });

  test.each(callers)('$name: of a later turn on another replica goes on where the first left off (case 2, case 55)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.at(0).send('append log one; ask');
    const task = await who.at(1).send('append log two; done', { taskId: id });
    expect(task.artifacts).toMatchObject([{ artifactId: 'log', parts: [{ text: 'one' }, { text: 'two' }] }]);
  });

  test.each(callers)(
    '$name: adds parts and merges metadata key by key; without it all is replaced; the last is marked (case 56, ART-01 to ART-05, ART-07)',
    async (raw) => {
      const who = stage.by(raw);
      const seen = await collect(who.stream('!pieces'));
      const updates = updatesIn(seen);
      expect(updates.map(({ append = false, lastChunk = false }) => [append, lastChunk])).toEqual([
        [false, false],
        [true, false],
        [true, false],
        [false, false],
        [true, false],
        [true, true],
      ]);
      for (const update of updates) expect(update).not.toHaveProperty('index');
      const before = await who.get(updates[0]?.taskId ?? '');
      expect(before.artifacts).toEqual([
        { artifactId: 'pieces', name: 'pieces', metadata: { a: 9, d: 4 }, parts: [{ text: 'new' }, { text: 'er' }, { text: '!' }] },
      ]);
    },
  );

  test.each(callers)('$name: shows at each step what was merged so far (case 56, HIST-08)', async (raw) => {
    const who = stage.by(raw);
    const seen = await collect(who.stream('!pieces'));
    const from = (index: number): Artifact | undefined => updatesIn(seen)[index]?.artifact;
    expect([from(0), from(1), from(2)].map((artifact) => artifact?.metadata)).toEqual([{ a: 1, b: 1 }, { b: 2 }, { c: 3 }]);
    expect([from(0), from(1), from(2)].map((artifact) => artifact?.parts)).toEqual([[{ text: 'old' }], [{ text: 'er' }], [{ text: '!' }]]);
  });
});

describe('texts', () => {
  const texts = [
    `<b>&"'</b> \\ / \b\f\t`,
    '漢字かな한글',
    'ä ö ü ñ é — combining e\u0301',
    '😀👩‍👩‍👧‍👦🏳️‍🌈',
    'line\u2028paragraph\u2029next\u0085del\u007f',
    '𝒳𐍈𠮷',
    'cr\rlf\r\ndata: x\n\nid: 7\nevent: y\n: z',
    '\u0001\u001f\ufeff\ufffe\uffff\ufffd',
    ' leading and trailing ',
    'שלום مرحبا',
  ];

  test.each(callers)(
    '$name: come back as they were sent: in the answer, in the stream, in the history, on every replica (case 74, AMB-13)',
    async (raw) => {
      const who = stage.by(raw);
      for (const text of texts) {
        const said = `!echo ${text}`;
        const answer = await who.at(0).send(said);
        expect([textsIn(answer), answer.history?.[0]?.parts]).toEqual([[text], [{ text: said }]]);
        expect(await who.at(1).get(answer.id)).toEqual(answer);
        const seen = await collect(who.at(1).stream(said));
        expect(textsOf(seen)).toEqual([text]);
      }
    },
  );

  test('stand on the wire as themselves, not as escapes, and needless escapes in requests mean what they mean (case 74)', async () => {
    for (const raw of callers) {
      const who = stage.by(raw);
      const { path, ...printed } = raw.print('SendMessage', {
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: '!echo XX' }] },
      });
      const body = printed.body?.replace('XX', '\\u0041\\/\\u00e9\\ud83d\\ude00<é>');
      const response = await fetch(who.url + path, { ...printed, ...(body === undefined ? {} : { body }) });
      const text = await response.text();
      expect(text).toContain('A/é😀<é>');
      expect(text).not.toMatch(/\\u00e9|\\u003c|\\ud83d|\\\//i);
    }
  });

  test.each(callers)('$name: that no store can keep are refused by name, wherever they stand (case 74)', async (raw) => {
    const who = stage.by(raw);
    for (const bad of ['a\u0000', '\ud800', '\udc00x', 'a\ud83d']) {
      const places: readonly (readonly [field: string, part: Part, more?: Readonly<Record<string, Json>>])[] = [
        ['message.parts[0].text', { text: bad }],
        ['message.parts[0].data.deep[1]', { data: { deep: [1, bad] } }],
        ['message.parts[0].metadata.k', { text: 'done', metadata: { k: bad } }],
        ['message.parts[0].filename', { text: 'done', filename: bad }],
        ['message.parts[0].mediaType', { text: 'done', mediaType: bad }],
        ['message.parts[0].url', { url: bad }],
        ['metadata.k', { text: 'done' }, { metadata: { k: bad } }],
      ];
      for (const [field, part, more] of places) {
        const message = { messageId: 'm', role: 'ROLE_USER', parts: [part as unknown as Json] }; // a part is JSON
        const { told } = await refusalOf(who.ask('SendMessage', { message, ...more }));
        expect(told).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field }] });
      }
    }
  });
});

describe('data', () => {
  const values: readonly Json[] = [
    { a: null, b: 1, d: 1.5, e: [], f: {}, g: '', h: false, i: 0, j: -0.25, k: 9_007_199_254_740_991, l: 1e-7, m: 1e21 },
    null,
    0,
    '',
    false,
    [],
    {},
    [null, [null], { n: null }],
    { __proto__x: 1, constructor: 2, toString: null, '': 3, 'a.b': 4, 'é😀': 5 },
  ];

  test.each(callers)('$name: comes back as the JSON it was: null stays, numbers stay whole (case 75, JSON-10)', async (raw) => {
    const who = stage.by(raw);
    for (const value of values) {
      const parts = [{ text: '!parts' }, { data: value }];
      const answer = await who.at(0).send('', { parts });
      expect(answer.history?.[0]?.parts).toEqual(parts);
      expect(answer.artifacts?.[0]?.parts).toEqual([{ data: value }]);
      expect(await who.at(1).get(answer.id)).toEqual(answer);
    }
  });

  test('is printed with whole numbers whole, and those beyond 2^53 as the nearest double (case 75, JSON-09)', async () => {
    for (const raw of callers) {
      const { path, ...printed } = raw.print('SendMessage', {
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: '!parts' }, { data: 'XX' }] },
      });
      const body = printed.body?.replace('"XX"', '{"a":null,"b":1,"c":9007199254740993,"d":1.5,"e":[],"f":1.0}');
      const text = await (await fetch(stage.by(raw).url + path, { ...printed, ...(body === undefined ? {} : { body }) })).text();
      expect(text).toContain('{"a":null,"b":1,"c":9007199254740992,"d":1.5,"e":[],"f":1}');
    }
  });

  test.each(callers)('$name: with a name that means something to JavaScript is a name like others (case 75)', async (raw) => {
    const who = stage.by(raw);
    const text = '{"__proto__":{"admin":true},"b":1}';
    const { path, ...printed } = raw.print('SendMessage', {
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: '!parts' }, { data: 'XX' }] },
    });
    const body = printed.body?.replace('"XX"', text);
    const answer = await (await fetch(who.url + path, { ...printed, ...(body === undefined ? {} : { body }) })).text();
    expect(answer.split(text)).toHaveLength(3); // in the history and in the artifact
  });

  test.each(callers)('$name: parts of every kind are kept with all they carry (JSON-08, JSON-12)', async (raw) => {
    const who = stage.by(raw);
    const parts: readonly Part[] = [
      { raw: 'AAEC/w==', filename: 'bytes.bin', mediaType: 'application/octet-stream' },
      { url: 'https://example.com/a?b=c#d', mediaType: 'text/html', metadata: { k: [1, null] } },
      { text: '', metadata: { empty: true } },
      { data: { x: 1 }, mediaType: 'application/json', filename: 'x.json' },
    ];
    const answer = await who.send('', { parts: [{ text: '!parts' }, ...parts] });
    expect(answer.artifacts?.[0]?.parts).toEqual(parts);
  });

  test.each(callers)('$name: of a scripted artifact reaches a poller on the other replica (case 75, GET-01, GET-04)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.at(0).start('data {"a":null,"n":1}; done');
    await ended(who.at(1), id);
    const task = await eventually('the artifact', () => who.at(1).get(id));
    expect(dataOf(task, 'data')).toEqual({ a: null, n: 1 });
  });
});
