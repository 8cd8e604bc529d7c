import { describe, expect, test } from 'vitest';
import type { IncomingRequest } from '../../src/bindings/exchange.ts';
import { callers, events } from './callers.ts';
import { aMessage, aTask, Feed, onStage, until } from './stage.ts';

const getTask = async () => aTask;
const byName = (request: IncomingRequest) => {
  const name = request.header('X-Name');
  return name === undefined ? undefined : { name };
};

describe('calls on both bindings', () => {
  test.each(callers)('$name: the caller is who identify says, each request anew (case 28, case 81)', async (caller) => {
    await using open = await onStage({ operations: { getTask }, identify: byName });
    const names = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? undefined : `user-${index % 3}`));
    await Promise.all(
      names.map((name, index) => {
        const headers = { 'a2a-extensions': 'urn:x', ...(name === undefined ? {} : { 'x-name': name }) };
        return caller.fetch(open.url, 'GetTask', { id: `${index}` }, { headers });
      }),
    );
    const got = open.stage.seen.map(({ call, request }) => [request, call.caller.name]);
    expect(got).toHaveLength(40);
    for (const [request, name] of got) expect(name).toBe(names[Number((request as { readonly id: string }).id)]);
  });

  test.each(callers)('$name: identify sees method, path, query and headers of any case', async (caller) => {
    const seen: unknown[] = [];
    const identify = (request: IncomingRequest): undefined => {
      seen.push([request.method, request.path, request.query.get('key'), request.header('A2A-VERSION'), request.header('none')]);
    };
    await using open = await onStage({ operations: { getTask }, identify });
    await caller.fetch(open.url, 'GetTask', { id: 'x' });
    const [, path] = caller.name === 'REST' ? ['GET', '/rest/tasks/x'] : ['POST', '/'];
    expect(seen).toEqual([[caller.name === 'REST' ? 'GET' : 'POST', path, null, '1.0', undefined]]);
  });

  test.each(callers)('$name: a caller cannot choose its tenant by identify, only by the request (TEN-06)', async (caller) => {
    await using open = await onStage({ operations: { getTask }, identify: () => ({ name: 'u', tenant: 'forged', claims: { role: 'x' } }) });
    await caller.fetch(open.url, 'GetTask', { id: 'x' });
    await caller.fetch(open.url, 'GetTask', { id: 'x', tenant: 'acme' });
    expect(open.stage.seen.map(({ call }) => [call.caller, call.tenant])).toEqual([
      [{ name: 'u', claims: { role: 'x' } }, ''],
      [{ name: 'u', claims: { role: 'x' } }, 'acme'],
    ]);
  });

  test.each(callers)('$name: a name no store could keep is refused before anything runs (case 95)', async (caller) => {
    await using open = await onStage({
      operations: { getTask },
      identify: (request) => ({ name: decodeURIComponent(request.header('x-name') ?? '') }),
    });
    for (const name of ['', 'x'.repeat(256), 'a%00b', 'a%0Ab', 'a%C2%85b']) {
      const answer = await caller.read(await caller.fetch(open.url, 'GetTask', { id: 'x' }, { headers: { 'x-name': name } }));
      expect(answer.error?.violations, name).toMatchObject([{ field: 'caller' }]);
    }
    await caller.fetch(open.url, 'GetTask', { id: 'x' }, { headers: { 'x-name': encodeURIComponent('é'.repeat(255)) } });
    expect(open.stage.seen).toHaveLength(1);
  });

  test.each(callers)('$name: a bug in identify is INTERNAL, and nobody gets in (SCOPE-02)', async (caller) => {
    const identify = async (): Promise<never> => {
      throw new TypeError('users is not iterable');
    };
    await using open = await onStage({ operations: { getTask }, identify });
    const answer = await caller.read(await caller.fetch(open.url, 'GetTask', { id: 'x' }));
    expect(answer.error?.reason).toBe('INTERNAL');
    expect(open.stage.seen).toEqual([]);
  });

  test.each(callers)('$name: the idempotency key reaches the operation; a bad one is refused by name (AMB-05)', async (caller) => {
    await using open = await onStage({ operations: { sendMessage: async () => ({ task: aTask }) } });
    const send = (key?: string) =>
      caller.fetch(open.url, 'SendMessage', { message: aMessage }, { headers: key === undefined ? {} : { 'idempotency-key': key } });
    await send();
    await send('k'.repeat(255));
    expect(open.stage.seen.map(({ call }) => call.idempotencyKey)).toEqual([undefined, 'k'.repeat(255)]);
    for (const key of ['', 'k'.repeat(256), 'a\tb']) {
      const answer = await caller.read(await send(key));
      expect(answer.error?.violations, JSON.stringify(key)).toMatchObject([{ field: 'Idempotency-Key' }]);
    }
    expect(open.stage.seen).toHaveLength(2);
  });

  test.each(callers)(
    '$name: extensions reach the operation, the active ones are echoed, on streams too (EXT-02, AMB-25)',
    async (caller) => {
      const operations = { getTask, subscribeToTask: async () => new Feed().end() };
      await using open = await onStage({ operations, extensions: [{ uri: 'urn:a' }, { uri: 'urn:b' }, { uri: 'urn:c' }] });
      const headers = { 'a2a-extensions': 'urn:b, urn:unknown,urn:a, urn:b' };
      for (const operation of ['GetTask', 'SubscribeToTask'] as const) {
        const response = await caller.fetch(open.url, operation, { id: 'x' }, { headers });
        expect(response.headers.get('a2a-extensions')).toBe('urn:b, urn:a');
        expect(open.stage.seen.at(-1)?.call.extensions).toEqual(['urn:b', 'urn:unknown', 'urn:a']);
      }
      const plain = await caller.fetch(open.url, 'GetTask', { id: 'x' });
      expect(plain.headers.has('a2a-extensions')).toBe(false);
    },
  );

  test.each(callers)('$name: each call has its own reference for the log', async (caller) => {
    await using open = await onStage({ operations: { getTask } });
    await caller.fetch(open.url, 'GetTask', { id: 'x' });
    await caller.fetch(open.url, 'GetTask', { id: 'x' });
    expect(new Set(open.stage.seen.map(({ call }) => call.reference)).size).toBe(2);
  });
});

describe('limits on both bindings', () => {
  test.each(callers)('$name: a body over the limit is refused while others are served (SEC-09)', async (caller) => {
    await using open = await onStage({ limits: { bodyBytesMax: 1_000 }, operations: { sendMessage: async () => ({ task: aTask }) } });
    const message = { ...aMessage, parts: [{ text: 'x'.repeat(2_000) }] };
    const answer = await caller.read(await caller.fetch(open.url, 'SendMessage', { message }));
    expect(answer).toMatchObject({
      status: caller.name === 'REST' ? 413 : 200,
      error: { reason: 'TOO_LARGE', metadata: { bytesMost: '1000' } },
    });
    expect((await caller.read(await caller.fetch(open.url, 'SendMessage', { message: aMessage }))).result).toEqual({ task: aTask });
    expect(open.stage.seen).toHaveLength(1);
  });

  test.each(callers)('$name: open streams are limited per caller and in all, and given back (SEC-16)', async (caller) => {
    const limits = { streamsMax: 3, streamsPerCallerMax: 2 };
    await using open = await onStage({ limits, identify: byName, operations: { subscribeToTask: async (call) => new Feed().for(call) } });
    const leaving: AbortController[] = [];
    const subscribe = (name: string): Promise<Response> => {
      const controller = new AbortController();
      leaving.push(controller);
      return caller.fetch(open.url, 'SubscribeToTask', { id: 'x' }, { headers: { 'x-name': name }, signal: controller.signal });
    };
    const refusal = async (name: string) => (await caller.read(await subscribe(name))).error;
    await subscribe('ann');
    await subscribe('ann');
    expect((await refusal('ann'))?.reason).toBe('UNAVAILABLE'); // hers
    await subscribe('bob');
    expect((await refusal('cid'))?.reason).toBe('UNAVAILABLE'); // all
    expect(open.stage.seen).toHaveLength(3);
    leaving[0]?.abort();
    await until(() => open.stage.seen[0]?.call.signal.aborted === true, 'the server saw her go');
    const again = await subscribe('ann');
    expect(again.headers.get('content-type')).toBe('text/event-stream');
    for (const one of leaving) one.abort();
  });

  test.each(callers)('$name: calls in progress are limited likewise; a stream that fails at once holds nothing', async (caller) => {
    let answerAll = (): void => {};
    const blocked = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    await using open = await onStage({
      limits: { callsMax: 2, callsPerCallerMax: 1, streamsMax: 1 },
      identify: byName,
      operations: {
        async sendMessage() {
          await blocked;
          return { task: aTask };
        },
      },
    });
    const send = async (name: string) =>
      caller.read(await caller.fetch(open.url, 'SendMessage', { message: aMessage }, { headers: { 'x-name': name } }));
    const first = send('ann');
    await until(() => open.stage.seen.length === 1, 'the first is under way');
    expect((await send('ann')).error?.reason).toBe('UNAVAILABLE');
    const second = send('bob');
    await until(() => open.stage.seen.length === 2, 'the second is under way');
    expect((await send('cid')).error?.reason).toBe('UNAVAILABLE');
    answerAll();
    expect((await first).result).toEqual({ task: aTask });
    expect((await second).result).toEqual({ task: aTask });
    expect((await send('ann')).result).toEqual({ task: aTask });
    // the stage refuses to subscribe: the one stream there may be must be free again each time
    for (let round = 0; round < 3; round += 1) {
      const answer = await caller.read(await caller.fetch(open.url, 'SubscribeToTask', { id: 'x' }));
      expect(answer.error?.reason).toBe('UNSUPPORTED_OPERATION');
    }
  });

  test.each(callers)('$name: a stream that ended, failed or was read to its end is given back', async (caller) => {
    const ends: Feed[] = [new Feed().end(), new Feed().push(new Error('x')), new Feed().end()];
    await using open = await onStage({
      limits: { streamsMax: 1 },
      operations: { subscribeToTask: async () => ends.shift() ?? new Feed().end() },
    });
    for (let round = 0; round < 4; round += 1) {
      const response = await caller.fetch(open.url, 'SubscribeToTask', { id: 'x' });
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      for await (const event of events(response)) expect(event.data).toBeDefined();
    }
  });
});
