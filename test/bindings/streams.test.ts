import { describe, expect, test } from 'vitest';
import type { Call } from '../../src/operations/call.ts';
import { allEvents, callers, events, jsonRpc } from './callers.ts';
import { aMessage, aTask, chunk, Feed, ManualClock, onStage, until } from './stage.ts';

const subscribed = (feed: Feed) => ({ subscribeToTask: async (call: Call) => feed.for(call) });

describe('streams on both bindings', () => {
  test.each(callers)(
    '$name: each event is one data line with its cursor as id, ids rise with holes (STRM-21, RPC-05, REST-16)',
    async (caller) => {
      const items = [{ seq: 3, item: { task: aTask } }, chunk(4), chunk(7)];
      await using open = await onStage({ operations: subscribed(new Feed().push(...items).end()) });
      const response = await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' });
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
      const text = await response.text();
      const printed = items.map(({ seq, item }) => {
        const json = JSON.stringify(item);
        return `id: ${seq}\ndata: ${caller === jsonRpc ? `{"jsonrpc":"2.0","id":1,"result":${json}}` : json}\n\n`;
      });
      expect(text).toBe(printed.join(''));
    },
  );

  test.each(callers)('$name: a direct answer is one message without a cursor, then the end (STRM-03)', async (caller) => {
    const message = { ...aMessage, role: 'ROLE_AGENT' as const };
    await using open = await onStage({ operations: { sendStreamingMessage: async () => new Feed().push({ item: { message } }).end() } });
    const got = await allEvents(await caller.fetch(open.url, 'SendStreamingMessage', { message: aMessage }));
    expect(got).toHaveLength(1);
    expect(got[0]?.id).toBeUndefined();
    expect(caller.readEvent(got[0]?.data ?? '').result).toEqual({ message });
  });

  test.each(callers)('$name: the stream is open before its first event', async (caller) => {
    const feed = new Feed();
    await using open = await onStage({ operations: subscribed(feed) });
    const response = await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' }); // headers came
    feed.push(chunk(1)).end();
    expect(await allEvents(response)).toHaveLength(1);
  });

  test.each(callers)('$name: hands Last-Event-ID to the operation as it came (AMB-03)', async (caller) => {
    await using open = await onStage({ operations: { subscribeToTask: async () => new Feed().end() } });
    for (const cursor of ['12', '0', 'garbage']) {
      await allEvents(await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' }, { headers: { 'last-event-id': cursor } }));
    }
    await allEvents(await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' }));
    expect(open.stage.seen.map(({ call }) => call.lastEventId)).toEqual(['12', '0', 'garbage', undefined]);
  });

  test.each(callers)('$name: a heartbeat goes out after 15 s without an event, and only then (AMB-13)', async (caller) => {
    const clock = new ManualClock();
    const feed = new Feed();
    await using open = await onStage({ clock, operations: subscribed(feed) });
    const reading = events(await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' }));
    feed.push(chunk(1));
    expect((await reading.next()).value).toMatchObject({ id: '1' });
    for (let beat = 0; beat < 3; beat += 1) {
      await until(() => clock.pending > 0, 'the stream waits');
      clock.advance(14_999);
      clock.advance(1);
      expect((await reading.next()).value).toEqual({ comment: '' });
    }
    feed.push(chunk(2)).end();
    expect((await reading.next()).value).toMatchObject({ id: '2' });
    expect((await reading.next()).done).toBe(true);
  });

  test.each(callers)('$name: no heartbeat comes where events do', async (caller) => {
    const clock = new ManualClock();
    const feed = new Feed();
    await using open = await onStage({ clock, operations: subscribed(feed) });
    const reading = events(await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' }));
    for (let seq = 1; seq <= 4; seq += 1) {
      feed.push(chunk(seq));
      expect((await reading.next()).value).toMatchObject({ id: String(seq) });
      await until(() => clock.pending === 1, 'the stream waits');
      clock.advance(14_000);
    }
    feed.end();
    expect((await reading.next()).done).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test.each(callers)(
    '$name: a caller who hangs up ends its own stream, at once, and no other (STRM-14, STRM-15, case 85)',
    async (caller) => {
      const feeds: Feed[] = [];
      await using open = await onStage({
        operations: {
          subscribeToTask: async (call) => {
            const feed = new Feed();
            feeds.push(feed);
            return feed.push(chunk(1)).for(call);
          },
        },
      });
      const leaving = new AbortController();
      const first = events(await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' }, { signal: leaving.signal }));
      const second = events(await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' }));
      await first.next();
      await second.next();
      leaving.abort();
      await until(() => feeds[0]?.isLeft === true, 'the stream of who left is freed');
      expect(open.stage.seen[0]?.call.signal.aborted).toBe(true);
      expect(open.stage.seen[1]?.call.signal.aborted).toBe(false);
      feeds[1]?.push(chunk(2)).end();
      expect((await second.next()).value).toMatchObject({ id: '2' });
      expect((await second.next()).done).toBe(true);
    },
  );

  test.each(callers)('$name: text goes out as UTF-8, unescaped, the same as in unary answers (case 74)', async (caller) => {
    const text = '<b>&"\'</b> 漢字 \u2028 \u{1f600}';
    await using open = await onStage({ operations: subscribed(new Feed().push(chunk(1, text)).end()) });
    const got = await allEvents(await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' }));
    expect(got[0]?.data).toContain('漢字');
    expect(caller.readEvent(got[0]?.data ?? '').result).toMatchObject({ artifactUpdate: { artifact: { parts: [{ text }] } } });
  });

  test('5,000 events in one go arrive whole, once and in order, on three streams of both bindings (STRM-09, STRM-13, case 54)', async () => {
    const items = Array.from({ length: 5_000 }, (_, index) => chunk(index + 1));
    await using open = await onStage({ operations: { subscribeToTask: async () => new Feed().push(...items).end() } });
    const streams = [...callers, jsonRpc].map(async (caller) =>
      allEvents(await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' })),
    );
    for (const got of await Promise.all(streams)) {
      expect(got.map(({ id }) => id)).toEqual(items.map(({ seq }) => String(seq)));
    }
  });
});
