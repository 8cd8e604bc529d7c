import { describe, expect, test } from 'vitest';
import type { Binding, Client, ConnectOptions } from '../../src/client.ts';
import { connect } from '../../src/client.ts';
import { TASK_ID, bindings, cardAt, chunkItem, quick, statusItem, taskIn } from './fake-agent.ts';

/** A client whose streams bring exactly these chunks, cut where the test cuts them; after the last one the stream ends. */
async function connectTo(chunks: readonly (string | Uint8Array)[], options: ConnectOptions = {}): Promise<Client> {
  const encoder = new TextEncoder();
  const fetch = (request: Request): Response => {
    if (request.url.endsWith('.json')) return Response.json(cardAt('http://agent.example'));
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = chunks[next];
        next += 1;
        if (chunk === undefined) controller.close();
        else controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  };
  return connect('http://agent.example', { fetch, prefer: 'HTTP+JSON', retry: quick, reconnect: quick, ...options });
}

const snapshot = JSON.stringify({ task: taskIn('TASK_STATE_WORKING') });
const chunk = (text: string): string => JSON.stringify(chunkItem(text));
const end = JSON.stringify(statusItem('TASK_STATE_COMPLETED'));

/** The text of the artifact after the stream has been read to its end. */
async function textFrom(client: Client): Promise<string> {
  const stream = client.task(TASK_ID).follow();
  await stream.result();
  return stream.task?.artifacts?.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('|') ?? '';
}

/** Every way to cut a text into three. */
function* cuts(bytes: Uint8Array, step: number): Generator<readonly Uint8Array[]> {
  for (let first = 0; first <= bytes.length; first += step) {
    for (let second = first; second <= bytes.length; second += step * 7) {
      yield [bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second)];
    }
  }
}

describe('a stream of events (case 83)', () => {
  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('is read with lines that end in %s, cut anywhere, also inside a character', async (_name, newline) => {
    const text = [
      `id: 1${newline}data: ${snapshot}${newline}${newline}`,
      `: a comment with id: 99${newline}:${newline}`,
      `id: 2${newline}data:${chunk('zwölf 🦊 ')}${newline}${newline}`,
      `event: news${newline}data: ${chunk('two').slice(0, 1)}${newline}data: ${chunk('two').slice(1)}${newline}id: 3${newline}${newline}`,
      `retry: 1${newline}unknown: field${newline}data${newline}${newline}`,
      `id: 4${newline}data: ${end}${newline}${newline}`,
    ].join('');
    for (const pieces of cuts(new TextEncoder().encode(text), 17)) {
      expect(await textFrom(await connectTo(pieces))).toBe('zwölf 🦊 |two');
    }
  });

  test('begins with a byte order mark, and its last event counts only if it is finished', async () => {
    const client = await connectTo([`\uFEFFid: 1\ndata: ${snapshot}\n\n`, `id: 2\ndata: ${chunk('two')}\n\nid: 3\ndata: ${end}\n`]);
    const stream = client.open('SubscribeToTask', { id: TASK_ID });
    const ids = [];
    for await (const { id } of stream) ids.push(id);
    expect(ids).toEqual(['1', '2']);
  });

  test('may hold items of later versions, which are passed over (JSON-18)', async () => {
    const later = JSON.stringify({ taskMessageUpdate: { taskId: TASK_ID } });
    const client = await connectTo([`data: ${snapshot}\n\ndata: ${later}\n\ndata: ${chunk('a')}\n\ndata: ${end}\n\n`]);
    expect(await textFrom(client)).toBe('a');
  });
});

describe('limits on events (case 84)', () => {
  test('an event of 8 MB arrives', async () => {
    const big = 'x'.repeat(8 * 1024 * 1024);
    const bytes = new TextEncoder().encode(`data: ${snapshot}\n\ndata: ${chunk(big)}\n\ndata: ${end}\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
      bytes.slice(index * 65_536, (index + 1) * 65_536),
    );
    expect((await textFrom(await connectTo(pieces))).length).toBe(big.length);
  });

  test.each<[string, string]>([
    ['a line', 'x'],
    ['an event of many lines', 'data: x\n'],
  ])('%s without end is an error at the stated size, and no more is read', async (_name, piece) => {
    const block = piece.repeat(1_000);
    let sent = 0;
    const endless = (function* () {
      while (sent < 1e8) {
        sent += block.length;
        yield block;
      }
    })();
    const answerBytesMax = 200_000;
    const fetch = (request: Request): Response => {
      if (request.url.endsWith('.json')) return Response.json(cardAt('http://agent.example'));
      const body = new ReadableStream<string>({ pull: (controller) => controller.enqueue(endless.next().value ?? '') });
      return new Response(body.pipeThrough(new TextEncoderStream()), { headers: { 'content-type': 'text/event-stream' } });
    };
    const client = await connect('http://agent.example', { fetch, answerBytesMax, retry: quick });
    await expect(client.task(TASK_ID).follow().result()).rejects.toMatchObject({
      code: 'INVALID_AGENT_RESPONSE',
      message: expect.stringContaining('200000'),
    });
    expect(sent).toBeLessThan(2_000_000);
  });
});

describe.each(bindings)('what is not an item, over %s', (binding: Binding) => {
  const answer = (body: string, type = 'text/event-stream'): Promise<Client> =>
    connect('http://agent.example', {
      prefer: binding,
      retry: quick,
      fetch: ({ url }) =>
        url.endsWith('.json') ? Response.json(cardAt('http://agent.example')) : new Response(body, { headers: { 'content-type': type } }),
    });

  test.each<[string, string, string]>([
    ['an event that is not JSON', 'data: {"task":\n\n', 'text/event-stream'],
    ['an event that is no object', 'data: [1]\n\n', 'text/event-stream'],
    ['another media type', '<h1>Welcome</h1>', 'text/html'],
    ['an answer that is no item', '{"a":1}', 'application/json'],
  ])('%s is an error of the protocol', async (_name, body, type) => {
    const client = await answer(body, type);
    await expect(client.stream('hi').result()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
  });
});
