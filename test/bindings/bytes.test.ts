import { describe, expect, test } from 'vitest';
import { Bytes, SMALL_BYTES } from '../../src/bindings/bytes.ts';
import type { IncomingRequest } from '../../src/bindings/exchange.ts';
import type { Call } from '../../src/operations/call.ts';
import { RawSocket, requestText } from '../mounts/raw.ts';
import { callers } from './callers.ts';
import { aMessage, aTask, Feed, onStage, until } from './stage.ts';

const KIB = 1_024;
const byName = (request: IncomingRequest) => ({ name: request.header('x-name') ?? 'nobody' });
const large = { ...aTask, artifacts: [{ artifactId: 'out', parts: [{ text: 'x'.repeat(8_000 * KIB) }] }] };
const json = { 'content-type': 'application/json' };

/** Asks for a large task and takes nothing of it, so that no buffer of two sockets can have taken it all. */
const stalledRead = (url: string, name: string): RawSocket => {
  const socket = new RawSocket(url, { reads: false });
  socket.send(requestText('GET /rest/tasks/x', { 'x-name': name }));
  return socket;
};

describe('bytes', () => {
  test('are counted in all and of each named caller; who holds nothing else may hold more, and small ones are passed over', () => {
    const bytes = new Bytes({ what: 'things', most: 400 * KIB, mostPerCaller: 200 * KIB });
    const [first, second, other] = [bytes.hold('ann'), bytes.hold('ann'), bytes.hold('bob')];
    first.set(300 * KIB);
    second.set(SMALL_BYTES);
    expect(bytes.inUse).toBe(300 * KIB);
    expect(() => second.set(SMALL_BYTES + 1)).toThrow(/You have/);
    expect(() => other.set(101 * KIB)).toThrow(/This replica/);
    other.set(100 * KIB);
    expect(() => bytes.hold(undefined).set(100 * KIB)).toThrow(/This replica/);
    first.release();
    second.set(150 * KIB);
    bytes.hold(undefined).set(150 * KIB);
    for (const hold of [first, second, other]) hold.release();
    expect(bytes.inUse).toBe(150 * KIB);
  });
});

describe('on both bindings', () => {
  test.each(callers)('$name: large bodies that are under way are limited in all, and given back however they end (P11)', async (caller) => {
    await using open = await onStage({
      identify: byName,
      limits: { bodiesBytesMax: 300 * KIB, bodiesBytesPerCallerMax: 300 * KIB },
      operations: { sendMessage: async () => ({ task: aTask }) },
    });
    const message = { ...aMessage, parts: [{ text: 'x'.repeat(200 * KIB) }] };
    const send = async () => caller.read(await caller.fetch(open.url, 'SendMessage', { message }, { headers: { 'x-name': 'bob' } }));
    const path = caller.name === 'REST' ? '/rest/message:send' : '/';
    const begin = (): RawSocket => {
      const slow = new RawSocket(open.url);
      slow.send(requestText(`POST ${path}`, { ...json, 'x-name': 'ann', 'content-length': 400 * KIB }, 'x'.repeat(200 * KIB)));
      return slow;
    };
    let slow = begin();
    await eventually(async () => {
      if (slow.received !== '') slow = begin(); // hers was the one too many: it met one of his
      return (await send()).error?.reason === 'UNAVAILABLE';
    }, 'her body is counted');
    await slow[Symbol.asyncDispose]();
    await eventually(async () => (await send()).error === undefined, 'it is given back when she has hung up');
    for (let round = 0; round < 3; round += 1) expect((await send()).result).toEqual({ task: aTask });
  });

  test.each(callers)(
    '$name: answers that nobody takes are limited for each caller and in all, and given back (P11, case 9)',
    async (caller) => {
      await using open = await onStage({
        identify: byName,
        limits: { answersBytesMax: 20_000 * KIB, answersBytesPerCallerMax: 10_000 * KIB },
        operations: { getTask: async () => large },
      });
      const get = async (name: string) =>
        caller.read(await caller.fetch(open.url, 'GetTask', { id: 'x' }, { headers: { 'x-name': name } }));
      const stalled: RawSocket[] = [];
      // once the operation was called its answer is counted before another request is read
      const stall = async (name: string): Promise<void> => {
        const before = open.stage.seen.length;
        stalled.push(stalledRead(open.url, name));
        await until(() => open.stage.seen.length > before, 'the request is there');
      };
      try {
        await stall('ann');
        expect((await get('ann')).error?.reason).toBe('UNAVAILABLE');
        expect((await get('bob')).error).toBeUndefined(); // she hurts only herself
        await stall('bob');
        expect((await get('cid')).error?.reason).toBe('UNAVAILABLE'); // all together have their limit as well
      } finally {
        await Promise.all(stalled.map((socket) => socket[Symbol.asyncDispose]()));
      }
      await eventually(async () => (await get('ann')).error === undefined, 'it is given back when they have hung up');
    },
  );

  test.each(callers)('$name: so are the large events of streams: one too many ends with UNAVAILABLE (AMB-12)', async (caller) => {
    const feeds: Feed[] = [];
    const subscribeToTask = async (call: Call): Promise<Feed> => {
      const feed = new Feed().push({ seq: 1, item: { task: large } }, { seq: 2, item: { task: aTask } });
      feeds.push(feed);
      call.signal.addEventListener('abort', () => feed.end());
      return feed.end();
    };
    await using open = await onStage({ limits: { answersBytesMax: 10_000 * KIB }, operations: { subscribeToTask } });
    const read = async () => (await caller.fetch(open.url, 'SubscribeToTask', { id: 'x' })).text();
    {
      await using stalled = new RawSocket(open.url, { reads: false });
      stalled.send(requestText('GET /rest/tasks/x:subscribe'));
      await until(() => feeds.length === 1, 'the request is there');
      const refused = await read();
      expect(refused).toContain('UNAVAILABLE');
      expect(refused.match(/^data: /gm)).toHaveLength(1);
      expect(feeds.at(-1)?.isLeft).toBe(true);
    }
    await eventually(async () => !(await read()).includes('UNAVAILABLE'), 'it is given back when the reader has hung up');
    for (let round = 0; round < 3; round += 1) expect((await read()).match(/^data: /gm)).toHaveLength(2);
  });
});

/** Asks again until it holds; fails after the deadline. */
async function eventually(holds: () => Promise<boolean>, what: string, deadlineMs = 15_000): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await holds())) if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
}
