import { describe, expect, test } from 'vitest';
import type { IncomingRequest } from '../../src/bindings/exchange.ts';
import { LINGER_BYTES_MAX } from '../../src/mounts/node-print.ts';
import { HEADERS_MAX } from '../../src/mounts/node-server.ts';
import { aMessage, aTask, chunk, Feed, ManualClock, onStage, until } from '../bindings/stage.ts';
import { RawSocket, requestText } from './raw.ts';

const CARD = '/.well-known/agent-card.json';
const json = { 'content-type': 'application/json' };
const sendBody = JSON.stringify({ message: aMessage });
const operations = { getTask: async () => aTask, sendMessage: async () => ({ task: aTask }) };

test('connections beyond the limit are closed as they come; those that are there go on, and there is room again when one ends (P11)', async () => {
  await using open = await onStage({ operations, serve: { connectionsMax: 2 } });
  const first = new RawSocket(open.url);
  await using second = new RawSocket(open.url);
  for (const one of [first, second]) {
    one.send(requestText('GET /rest/tasks/t'));
    await one.until('task-1');
  }
  await using third = new RawSocket(open.url);
  third.send(requestText('GET /rest/tasks/t'));
  await third.untilClosed();
  expect(third.received).toBe('');
  second.send(requestText('GET /rest/tasks/t'));
  await until(() => second.received.split('task-1').length === 3, 'the second is still served');
  await first[Symbol.asyncDispose]();
  await untilAsync(async () => (await statusOf(open.url)) === 200, 'there is room again');
});

/** Asks on a connection of its own; undefined if it was closed at once. */
async function statusOf(url: string): Promise<number | undefined> {
  await using one = new RawSocket(url);
  one.send(requestText('GET /rest/tasks/t', { connection: 'close' }));
  await one.untilClosed();
  return one.received === '' ? undefined : one.status;
}

async function untilAsync(holds: () => Promise<boolean>, what: string, deadlineMs = 10_000): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await holds())) if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
}

describe('who sends badly', () => {
  test('headers that come drop by drop are cut in time, typed, while others are served (headersTimeout)', async () => {
    await using open = await onStage({ serve: { headersMs: 1_000, requestMs: 2_000 } });
    await using slow = new RawSocket(open.url);
    slow.send('GET /rest/tasks/t HTTP/1.1\r\nhost: x\r\nx-slow: ');
    expect((await fetch(open.url + CARD)).status).toBe(200);
    await slow.untilClosed();
    expect(slow.status).toBe(408);
    expect(slow.body).toMatchObject({ error: { code: 408, details: [{ domain: 'a2a-protocol.org' }] } });
  });

  test('a connection on which nothing was asked is closed without a word: the next request on it would take that for its answer', async () => {
    await using open = await onStage({ serve: { headersMs: 100, requestMs: 200 } });
    await using idle = new RawSocket(open.url);
    await idle.untilClosed();
    expect(idle.received).toBe('');
  });

  test.each(['/', '/rest/message:send'])('a body to %s that stops coming is answered, typed, and the connection ends', async (path) => {
    await using open = await onStage({ operations, serve: { bodyMs: 100 } });
    await using slow = new RawSocket(open.url);
    slow.send(requestText(`POST ${path}`, { ...json, 'content-length': 1_000 }, '{"message":'));
    await slow.untilClosed();
    expect(slow.received).toContain('UNAVAILABLE');
    expect(slow.received.toLowerCase()).toContain('connection: close');
    expect(open.stage.seen).toEqual([]);
    expect((await fetch(open.url + CARD)).status).toBe(200);
  });

  test('a request that does not come whole in time is cut by the server itself (requestTimeout)', async () => {
    await using open = await onStage({ operations, serve: { headersMs: 1_000, requestMs: 1_500, bodyMs: 60_000 } });
    await using slow = new RawSocket(open.url);
    slow.send(requestText('POST /rest/message:send', { ...json, 'content-length': 1_000 }, '{'));
    await slow.untilClosed();
    expect(slow.status).toBe(408);
    expect(slow.body).toMatchObject({ error: { code: 408 } });
  });

  test('an answer may take longer than a request may take to come', async () => {
    const feed = new Feed();
    await using open = await onStage({ operations: { subscribeToTask: async () => feed }, serve: { headersMs: 500, requestMs: 600 } });
    await using reader = new RawSocket(open.url);
    reader.send(requestText('GET /rest/tasks/t:subscribe'));
    await reader.until('text/event-stream');
    await new Promise((resolve) => setTimeout(resolve, 1_800)); // three times the limit: nothing to wait for but time itself
    feed.push(chunk(1)).end();
    await reader.until('0\r\n\r\n');
    expect(reader.received).toContain('id: 1\n');
  });

  test.each([
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 400],
    ['a forged length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n', 400],
    ['chunks and a length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  ])('%s is refused, typed, and never as HTML', async (_name, text, status) => {
    await using open = await onStage();
    await using bad = new RawSocket(open.url);
    bad.send(text);
    await bad.untilClosed();
    expect(bad.status).toBe(status);
    expect(bad.body).toMatchObject({ error: { code: status, details: [{ reason: 'INVALID_REQUEST' }] } });
  });

  test('garbage behind a stream that is open ends that connection without writing into the stream', async () => {
    await using open = await onStage({ operations: { subscribeToTask: async (call) => new Feed().push(chunk(1)).for(call) } });
    await using bad = new RawSocket(open.url);
    bad.send(requestText('GET /rest/tasks/t:subscribe'));
    await bad.until('id: 1\n');
    bad.send('\0\0garbage\r\n\r\n');
    await bad.untilClosed();
    expect(bad.received).not.toContain('HTTP/1.1 400');
  });

  test('a body over the limit by its own word is answered before it is sent, and the answer arrives', async () => {
    await using open = await onStage({ limits: { bodyBytesMax: 1_000 } });
    await using big = new RawSocket(open.url);
    big.send(requestText('POST /rest/message:send', { ...json, 'content-length': 10_000_000 }));
    await big.until('}');
    expect(big.status).toBe(413);
    big.send('x'.repeat(100_000)); // it sends on all the same
    await big.untilClosed();
  });

  test('a body without end is cut at the limit, the sender still reads why', async () => {
    await using open = await onStage({ limits: { bodyBytesMax: 100_000 } });
    const endless = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(new Uint8Array(10_000).fill(0x20));
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
    await using big = new RawSocket(open.url);
    big.send(requestText('POST /rest/message:send', { ...json, 'transfer-encoding': 'chunked' }));
    const reader = endless.getReader();
    while (!big.received.includes('TOO_LARGE') && !big.isClosed) {
      const { value } = await reader.read();
      big.send(`${(value?.length ?? 0).toString(16)}\r\n${' '.repeat(value?.length ?? 0)}\r\n`);
    }
    expect(big.status).toBe(413);
    await big.untilClosed();
    expect((await fetch(open.url + CARD)).status).toBe(200);
  });

  test('who goes on sending behind its answer is read for a while, and then cut, however fast it is (P11)', async () => {
    // the clock stands still: it is the bytes that end it
    await using open = await onStage({ clock: new ManualClock(), limits: { bodyBytesMax: 1_000 } });
    await using big = new RawSocket(open.url);
    big.send(requestText('POST /rest/message:send', { ...json, 'content-length': 4 * LINGER_BYTES_MAX }));
    const piece = 'x'.repeat(1_048_576);
    for (let sent = 0; sent < 4 * LINGER_BYTES_MAX && !big.isClosed; sent += piece.length) {
      await new Promise((resolve) => big.socket.write(piece, resolve));
    }
    await big.untilClosed();
    expect(big.status).toBe(413);
    expect(big.socket.bytesWritten).toBeGreaterThan(LINGER_BYTES_MAX);
    expect(big.socket.bytesWritten).toBeLessThan(2 * LINGER_BYTES_MAX); // and what the two kernels hold
  });

  test('more headers than anybody needs are passed over', async () => {
    const seen: (string | undefined)[] = [];
    const identify = (request: IncomingRequest): undefined => {
      for (const index of [0, HEADERS_MAX]) seen.push(request.header(`x-${index}`));
    };
    await using open = await onStage({ operations, identify });
    await using one = new RawSocket(open.url);
    const many = Object.fromEntries(Array.from({ length: HEADERS_MAX + 1 }, (_, index) => [`x-${index}`, 'here']));
    one.send(requestText('GET /rest/tasks/t', many));
    await one.until('"}');
    if (one.status === 431)
      expect(one.body).toMatchObject({ error: { message: expect.stringContaining(`more than ${HEADERS_MAX} headers`) } });
    else expect([one.status, seen]).toEqual([200, ['here', undefined]]);
  });

  test('a caller who hangs up in the middle of a body costs nothing more, and no task', async () => {
    await using open = await onStage({ operations });
    {
      await using gone = new RawSocket(open.url);
      gone.send(requestText('POST /rest/message:send', { ...json, 'content-length': 1_000 }, '{'));
      await until(() => gone.socket.bytesWritten > 100, 'it was sent');
    }
    expect((await fetch(open.url + CARD)).status).toBe(200);
    expect(open.stage.seen).toEqual([]);
  });

  test('requests in one write on one connection are answered in order (pipelining)', async () => {
    await using open = await onStage({ operations: { getTask: async (_call, { id }) => ({ ...aTask, id }) } });
    await using one = new RawSocket(open.url);
    one.send(['a', 'b', 'c'].map((id) => requestText(`GET /rest/tasks/${id}`)).join(''));
    await one.until('"id":"c"');
    expect([...one.received.matchAll(/"id":"(\w)"/g)].map((match) => match[1])).toEqual(['a', 'b', 'c']);
  });

  test('the absolute form of a request line, as proxies send it, is understood', async () => {
    await using open = await onStage({ operations });
    await using one = new RawSocket(open.url);
    one.send(requestText('GET http://a.example/rest/tasks/t?historyLength=0'));
    await one.until('}');
    expect(one.status).toBe(200);
    expect(open.stage.seen[0]?.request).toEqual({ id: 't', historyLength: 0 });
  });

  test('Expect: 100-continue is answered, and the body read', async () => {
    await using open = await onStage({ operations });
    await using one = new RawSocket(open.url);
    one.send(requestText('POST /rest/message:send', { ...json, expect: '100-continue', 'content-length': sendBody.length }));
    await one.until('100 Continue');
    one.send(sendBody);
    await one.until('"task-1"');
  });
});

/** How long the card takes, in the middle of 50 times. */
const medianMs = async (url: string): Promise<number> => {
  const times: number[] = [];
  for (let round = 0; round < 50; round += 1) {
    const start = performance.now();
    expect((await fetch(url + CARD)).status).toBe(200);
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[25] ?? Infinity;
};

describe('who reads badly', () => {
  // enough to fill the buffers of the kernel on both sides
  const flood = function* (): Generator<ReturnType<typeof chunk>> {
    for (let seq = 1; seq <= 1_000; seq += 1) yield chunk(seq, 'x'.repeat(32 * 1024));
  };
  const flooding = () => {
    const state = { made: 0, isLeft: false };
    const items = async function* () {
      try {
        for (const item of flood()) {
          state.made += 1;
          yield item;
        }
      } finally {
        state.isLeft = true;
      }
    };
    return { state, items };
  };

  test('a reader who takes nothing for its minute is cut, and is given nothing meanwhile; others go on (P11, case 9)', async () => {
    const clock = new ManualClock();
    const { state, items } = flooding();
    const feed = new Feed();
    await using open = await onStage({
      clock,
      operations: { subscribeToTask: async (_call, { id }) => (id === 'flood' ? items() : feed) },
    });
    await using other = new RawSocket(open.url);
    other.send(requestText('GET /rest/tasks/quiet:subscribe'));
    await other.until('text/event-stream');
    await using stuck = new RawSocket(open.url, { reads: false });
    stuck.socket.pause();
    stuck.send(requestText('GET /rest/tasks/flood:subscribe'));
    let before = -1;
    await until(() => {
      const isStill = state.made > 0 && state.made === before && clock.pending >= 2; // the other's heartbeat, and the watch on this one
      before = state.made;
      return isStill;
    }, 'the buffers are full');
    expect(state.made).toBeLessThan(900); // the rest is not made before somebody takes it
    clock.advance(59_000);
    expect(state.isLeft).toBe(false);
    clock.advance(1_000);
    await until(() => state.isLeft, 'the stream of who does not read is freed');
    expect(open.stage.seen[1]?.call.signal.aborted).toBe(true);
    feed.push(chunk(1)).end();
    await other.until('id: 1\n');
  });

  test('a reader who is merely slow gets everything', async () => {
    const clock = new ManualClock();
    const { state, items } = flooding();
    await using open = await onStage({ clock, operations: { subscribeToTask: async () => items() } });
    await using slow = new RawSocket(open.url, { reads: false });
    let bytes = 0;
    let ends = '';
    slow.socket.on('data', (piece: Buffer) => {
      // nearly a minute for each 8 MB: more than the kernel holds between us, so each time something was taken
      if (Math.floor(bytes / 8e6) < Math.floor((bytes + piece.length) / 8e6)) clock.advance(55_000);
      bytes += piece.length;
      ends = piece.toString('latin1', Math.max(0, piece.length - 5));
    });
    slow.send(requestText('GET /rest/tasks/flood:subscribe'));
    await until(() => ends === '0\r\n\r\n', 'the stream has ended', 30_000);
    expect(state.made).toBe(1_000);
    expect(bytes).toBeGreaterThan(32 * 1024 * 1_000);
  });

  test('a large answer to a reader who takes nothing is cut as well', async () => {
    const clock = new ManualClock();
    const text = `${'x'.repeat(65_535)}\u{1f600}`.repeat(250);
    const large = { ...aTask, status: { ...aTask.status, message: { ...aMessage, role: 'ROLE_AGENT' as const, parts: [{ text }] } } };
    await using open = await onStage({ clock, operations: { getTask: async () => large } });
    await using stuck = new RawSocket(open.url, { reads: false });
    stuck.socket.pause();
    stuck.send(requestText('GET /rest/tasks/t'));
    await until(() => clock.pending > 0, 'the answer is watched');
    clock.advance(60_000);
    clock.advance(60_000);
    stuck.socket.resume();
    await stuck.untilClosed();
    // and who reads gets it whole, although it was cut into pieces for the socket
    const whole = await (await fetch(`${open.url}/rest/tasks/t`, { headers: { 'a2a-version': '1.0' } })).text();
    expect(whole === JSON.stringify(large)).toBe(true);
  });

  test('40 readers that never read do not slow the card down (case 9)', async () => {
    const floods = Array.from({ length: 40 }, flooding);
    await using open = await onStage({
      operations: { subscribeToTask: async (_call, { id }) => floods[Number(id)]?.items() ?? new Feed() },
    });
    const before = await medianMs(open.url);
    const stuck = floods.map((_, index) => {
      const socket = new RawSocket(open.url, { reads: false });
      socket.socket.pause();
      socket.send(requestText(`GET /rest/tasks/${index}:subscribe`));
      return socket;
    });
    await until(() => floods.every(({ state }) => state.made > 0), 'all floods have begun', 30_000);
    const after = await medianMs(open.url);
    expect(after).toBeLessThan(5 * before + 20); // a ratio: the machine may be busy with other things
    await Promise.all(stuck.map((socket) => socket[Symbol.asyncDispose]()));
    await until(() => floods.every(({ state }) => state.isLeft), 'all are freed');
  });
});
