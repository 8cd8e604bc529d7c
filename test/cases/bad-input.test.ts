import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/protocol/types.ts';
import type { OperationName } from '../../src/wire/operations.ts';
import type { Wanted } from '../bindings/callers.ts';
import { RawSocket, requestText } from '../mounts/raw.ts';
import { callers, percentilesOf, refusalOf, sendRequest, stageOf, textsIn } from './support.ts';
import type { Stranger } from './support.ts';

const stage = stageOf();

/** A send whose message has another part, or other members. */
const withPart = (part: Json): Wanted => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: [part] } });
const withMessage = (more: Wanted): Wanted => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'done' }], ...more } });
const deep = (levels: number): Json => Array.from({ length: levels }).reduce<Json>((inner) => [inner], 1);

/** Somebody else asks all the while; says how it went. */
async function meanwhile(other: Stranger, act: () => Promise<unknown>): Promise<{ readonly asked: number; readonly mostMs: number }> {
  const over = new AbortController();
  const times: number[] = [];
  const asking = (async () => {
    do {
      const start = performance.now();
      expect(textsIn(await other.send('artifact a fine; done'))).toEqual(['fine']);
      times.push(performance.now() - start);
    } while (!over.signal.aborted);
  })();
  await act().finally(() => over.abort());
  await asking;
  return { asked: times.length, mostMs: percentilesOf(times).most };
}

describe('wrong types', () => {
  const bad: readonly (readonly [why: string, field: string, operation: OperationName, request: Wanted])[] = [
    ['a text that is a number', 'message.parts[0].text', 'SendMessage', withPart({ text: 7 })],
    ['a part with nothing in it', 'message.parts[0]', 'SendMessage', withPart({})],
    ['a part with two contents', 'message.parts[0]', 'SendMessage', withPart({ text: 'a', url: 'b' })],
    ['a part that is null', 'message.parts[0]', 'SendMessage', withPart(null)],
    ['bytes that are no base64', 'message.parts[0].raw', 'SendMessage', withPart({ raw: '%%%' })],
    ['metadata that is a list', 'message.metadata', 'SendMessage', withMessage({ metadata: [] })],
    ['no parts', 'message.parts', 'SendMessage', withMessage({ parts: [] })],
    ['parts that are a text', 'message.parts', 'SendMessage', withMessage({ parts: 'done' })],
    ['no message', 'message', 'SendMessage', {}],
    ['a message that is a list', 'message', 'SendMessage', { message: [] }],
    ['an empty messageId', 'message.messageId', 'SendMessage', withMessage({ messageId: '' })],
    ['a role nobody has', 'message.role', 'SendMessage', withMessage({ role: 'ROLE_KING' })],
    ['a taskId that is a number', 'message.taskId', 'SendMessage', withMessage({ taskId: 7 })],
    ['extensions that hold a number', 'message.extensions[1]', 'SendMessage', withMessage({ extensions: ['urn:x', 7] })],
    [
      'a truth value in words',
      'configuration.returnImmediately',
      'SendMessage',
      { ...withMessage({}), configuration: { returnImmediately: 'yes' } },
    ],
    ['a negative history', 'configuration.historyLength', 'SendMessage', { ...withMessage({}), configuration: { historyLength: -1 } }],
    [
      'half a history',
      'configuration.historyLength',
      'SendStreamingMessage',
      { ...withMessage({}), configuration: { historyLength: 1.5 } },
    ],
    ['a data part nested too deep', `message.parts[0].data${'[0]'.repeat(20)}`, 'SendMessage', withPart({ data: deep(100) })],
    [
      'more parts than a message may hold',
      'message.parts',
      'SendMessage',
      withMessage({ parts: Array.from({ length: 1_001 }, () => ({ text: 'x' })) }),
    ],
    ['a page of none', 'pageSize', 'ListTasks', { pageSize: 0 }],
    ['a page of too many', 'pageSize', 'ListTasks', { pageSize: 101 }],
    ['a page of a word', 'pageSize', 'ListTasks', { pageSize: 'many' }],
    ['a negative history in a list', 'historyLength', 'ListTasks', { historyLength: -1 }],
    ['a status nobody has', 'status', 'ListTasks', { status: 'TASK_STATE_BORED' }],
    ['a time that is none', 'statusTimestampAfter', 'ListTasks', { statusTimestampAfter: 'yesterday' }],
    ['a negative history of a task', 'historyLength', 'GetTask', { id: 't', historyLength: -1 }],
    ['U+0000 in a text', 'message.parts[0].text', 'SendMessage', withPart({ text: 'a\u0000b' })],
    ['half of a surrogate pair in a text', 'message.parts[0].text', 'SendMessage', withPart({ text: 'a\ud800b' })],
    ['U+0000 in data', 'message.parts[0].data.a', 'SendMessage', withPart({ data: { a: '\u0000' } })],
    ['U+0000 in a name of data', 'message.parts[0].data', 'SendMessage', withPart({ data: { 'a\u0000': 1 } })],
    ['half of a pair in metadata', 'message.metadata.a', 'SendMessage', withMessage({ metadata: { a: '\udc00' } })],
    ['a control character in an id', 'message.messageId', 'SendMessage', withMessage({ messageId: 'a\nb' })],
    ['half of a pair in an id', 'message.contextId', 'SendMessage', withMessage({ contextId: '\ud83d' })],
  ];

  test.each(
    callers.flatMap((raw) => bad.map(([why, field, operation, request]) => ({ raw, name: raw.name, why, field, operation, request }))),
  )(
    '$name: $why is refused, the field named, and nothing is done (ERR-09, ERR-10, LIST-05, case 74)',
    async ({ raw, field, operation, request }) => {
      const who = stage.by(raw).as('careless');
      const { told, status } = await refusalOf(who.ask(operation, request));
      expect(told.reason).toBe('INVALID_PARAMS');
      expect(status).toBe(raw.name === 'REST' ? 400 : 200);
      const [violation] = told.violations;
      expect(violation?.field.startsWith(field), `${violation?.field}: ${violation?.description}`).toBe(true);
      expect(violation?.description.length).toBeGreaterThan(5);
      expect((await who.ask<{ totalSize: number }>('ListTasks', {})).totalSize).toBe(0);
    },
  );
});

describe('page tokens', () => {
  test.each(callers)('$name: that are forged, damaged or of another list are refused by name (AMB-11)', async (raw) => {
    const who = stage.by(raw).as(`pages ${raw.name}`);
    for (let count = 0; count < 3; count += 1) await who.send('done');
    const { nextPageToken: token } = await who.ask<{ nextPageToken: string }>('ListTasks', { pageSize: 1 });
    const decoded = atob(token.replaceAll('-', '+').replaceAll('_', '/'));
    const forged = btoa(decoded.replace(/\d{13}/, '9999999999999')).replaceAll('=', '');
    const tokens = [
      'x',
      'AAAA',
      '../../etc/passwd',
      "' OR 1=1 --",
      '0',
      token.slice(1),
      `${token}A`,
      token.slice(0, -4),
      forged,
      'A'.repeat(10_000),
    ];
    for (const pageToken of tokens) {
      const { told } = await refusalOf(who.ask('ListTasks', { pageSize: 1, pageToken }));
      expect(told, pageToken.slice(0, 40)).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field: 'pageToken' }] });
    }
    const other = await refusalOf(who.ask('ListTasks', { pageSize: 1, pageToken: token, status: 'TASK_STATE_FAILED' }));
    expect(other.told.violations).toMatchObject([{ field: 'pageToken' }]);
    expect((await who.ask<{ tasks: unknown[] }>('ListTasks', { pageSize: 1, pageToken: token })).tasks).toHaveLength(1);
  });
});

describe('bytes', () => {
  test.each(callers)('$name: that are no UTF-8 are refused (case 70)', async (raw) => {
    const { path, ...printed } = raw.print('SendMessage', sendRequest('XX'));
    const text = Buffer.from(printed.body ?? '', 'utf8');
    const at = text.indexOf('XX');
    for (const bytes of [
      [0xff, 0xfe],
      [0xc0, 0x80],
      [0xed, 0xa0],
      [0xf8, 0x88],
    ]) {
      text.set(bytes, at);
      const answered = await raw.read(await fetch(stage.by(raw).url + path, { ...printed, body: text }));
      expect(answered.error?.reason).toBe('PARSE_ERROR');
    }
  });

  test.each(callers)('$name: beyond the limit of a body are refused at once, others are served meanwhile (SEC-09)', async (raw) => {
    const { path, ...printed } = raw.print('SendMessage', sendRequest('x'.repeat(9 * 1_048_576)));
    const { asked } = await meanwhile(stage.by(raw).as('other'), async () => {
      const url = stage.by(raw).url;
      const refused = await Promise.all(
        Array.from({ length: 4 }, async () =>
          raw.read(await fetch(url + path, { ...printed, headers: { ...printed.headers, connection: 'close' } })),
        ),
      );
      for (const { error, status } of refused) {
        expect(error?.reason).toBe('TOO_LARGE');
        if (raw.name === 'REST') expect(status).toBe(413);
      }
    });
    expect(asked).toBeGreaterThan(0);
  });

  test.each(callers)('$name: just under the limit are taken, and come back whole', async (raw) => {
    const who = stage.by(raw);
    const text = `artifact big ${'é'.repeat(3_000_000)}`;
    expect(textsIn(await who.send(text))).toEqual([text.slice(13)]);
  });

  test.each(callers)('$name: of nothing but brackets cost nothing, others are served meanwhile', async (raw) => {
    const printed = raw.print('SendMessage', {});
    const body = '['.repeat(5_000_000);
    const { mostMs } = await meanwhile(stage.by(raw).as('other'), async () => {
      for (let round = 0; round < 5; round += 1) {
        const answered = await raw.read(await fetch(stage.by(raw).url + printed.path, { ...printed, body }));
        expect(answered.error?.reason).toBe('INVALID_REQUEST');
      }
    });
    expect(mostMs).toBeLessThan(30_000); // one that grows with their square takes hours
  });

  test.each(callers)('$name: that stop coming, in headers and in bodies, keep nobody else waiting', async (raw) => {
    const url = stage.by(raw).at(0).url;
    const printed = raw.print('SendMessage', sendRequest('done'));
    const slow = Array.from({ length: 60 }, () => new RawSocket(url));
    try {
      for (const [index, socket] of slow.entries()) {
        if (index % 2 === 0) socket.send(`POST ${printed.path} HTTP/1.1\r\nhost: x\r\nx-slow: `);
        else socket.send(requestText(`POST ${printed.path}`, { ...printed.headers, 'content-length': 500 }, '{"jso'));
      }
      const { asked } = await meanwhile(stage.by(raw).as('other').at(0), async () => {
        for (let round = 0; round < 5; round += 1) for (const socket of slow) socket.send(' ');
      });
      expect(asked).toBeGreaterThan(0);
      expect(slow.filter(({ isClosed }) => isClosed)).toEqual([]); // none was answered before its time: the others were served beside them
    } finally {
      await Promise.all(slow.map((socket) => socket[Symbol.asyncDispose]()));
    }
    expect((await stage.by(raw).at(0).send('done')).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('a bad task', () => {
  test.each(callers)('$name: never fails its neighbours in a group of writes (P9)', async (raw) => {
    const who = stage.by(raw);
    const kinds = ['fail', 'error INVALID_PARAMS no', '!nonsense', 'refuse', 'what is this'];
    const sends = Array.from({ length: 60 }, async (_, index) => {
      if (index % 3 === 0) return who.sendRaw(kinds[(index / 3) % kinds.length] ?? '').catch(() => 'failed');
      return textsIn(await who.send(`emit 3 0; artifact own ${index}; done`)).join('|');
    });
    const outcomes = await Promise.all(sends);
    for (const [index, outcome] of outcomes.entries()) if (index % 3 !== 0) expect(outcome).toMatch(new RegExp(`^1 .*3 \\|${index}$`));
  });
});
