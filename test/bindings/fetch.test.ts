import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { createFetch } from '../../src/bindings/fetch.ts';
import type { AgentCard } from '../../src/protocol/types.ts';
import { events } from './callers.ts';
import { aMessage, aTask, chunk, Feed, Stage, until } from './stage.ts';

const CARD = '/.well-known/agent-card.json';
const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' };
const rpc = (method: string, params: unknown): RequestInit => ({
  method: 'POST',
  headers,
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});

describe('agent.fetch', () => {
  test('answers a bare Request with a Response on both bindings, and the card of that origin', async () => {
    const answer = createFetch(new Stage({ operations: { getTask: async () => aTask } }).handle);
    const viaRpc = await answer(new Request('https://a.example/', rpc('GetTask', { id: 't' })));
    expect(await viaRpc.json()).toEqual({ jsonrpc: '2.0', id: 1, result: aTask });
    const viaRest = await answer(new Request('https://a.example/rest/tasks/t', { headers }));
    expect(await viaRest.json()).toEqual(aTask);
    const card = (await (await answer(new Request(`https://a.example${CARD}`))).json()) as AgentCard;
    expect(card.supportedInterfaces.map(({ url }) => url)).toEqual(['https://a.example/', 'https://a.example/rest']);
  });

  test('answers HEAD, 304 and 204 without a body, and what is not there with a typed 404', async () => {
    const answer = createFetch(new Stage().handle);
    const head = await answer(new Request(`https://a.example${CARD}`, { method: 'HEAD' }));
    expect([head.status, head.body]).toEqual([200, null]);
    const etag = head.headers.get('etag') ?? '';
    expect((await answer(new Request(`https://a.example${CARD}`, { headers: { 'if-none-match': etag } }))).status).toBe(304);
    expect((await answer(new Request('https://a.example/', { method: 'OPTIONS' }))).status).toBe(204);
    const lost = await answer(new Request('https://a.example/nowhere'));
    expect([lost.status, await lost.json()]).toMatchObject([404, { error: { code: 404 } }]);
  });

  test('streams item by item and makes nothing before it is taken (P11)', async () => {
    let made = 0;
    async function* items() {
      for (let seq = 1; seq <= 1_000; seq += 1) {
        made += 1;
        yield chunk(seq);
      }
    }
    const answer = createFetch(new Stage({ operations: { subscribeToTask: async () => items() } }).handle);
    const response = await answer(new Request('https://a.example/rest/tasks/t:subscribe', { headers }));
    const reading = events(response);
    for (let seq = 1; seq <= 10; seq += 1) expect((await reading.next()).value).toMatchObject({ id: String(seq) });
    expect(made).toBeLessThan(20);
    await reading.return(undefined);
    await until(() => made < 20, 'nothing more is made');
  });

  test.each(['the consumer cancels the body', "the request's signal fires"])('frees the stream when %s (case 85)', async (how) => {
    const feed = new Feed().push(chunk(1));
    const stage = new Stage({ operations: { subscribeToTask: async (call) => feed.for(call) } });
    const leaving = new AbortController();
    const request = new Request('https://a.example/rest/tasks/t:subscribe', { headers, signal: leaving.signal });
    const response = await createFetch(stage.handle)(request);
    const reader = response.body?.getReader();
    await reader?.read();
    const waiting = reader?.read();
    if (how.includes('body')) await reader?.cancel();
    else leaving.abort();
    await until(() => feed.isLeft, 'the stream is freed');
    expect((await waiting)?.done).toBe(true);
    expect(stage.seen[0]?.call.signal.aborted).toBe(true);
  });

  test('stops reading a body at the limit and cancels the rest', async () => {
    let sent = 0;
    let isCanceled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(100));
      },
      cancel() {
        isCanceled = true;
      },
    });
    const init = { method: 'POST', headers, body: endless, duplex: 'half' };
    const answer = createFetch(new Stage({ limits: { bodyBytesMax: 1_000 } }).handle);
    const response = await answer(new Request('https://a.example/rest/message:send', init));
    expect([response.status, await response.json()]).toMatchObject([413, { error: { code: 413 } }]);
    expect(sent).toBeLessThan(20);
    expect(isCanceled).toBe(true);
  });

  test('stands in Hono: at the root, below a path that Hono cuts off, and below one that it leaves', async () => {
    const stage = new Stage({
      operations: { sendMessage: async () => ({ task: aTask }), subscribeToTask: async () => new Feed().push(chunk(1)).end() },
    });
    const atRoot = new Hono().get('/about', (c) => c.text('about')).all('*', (c) => createFetch(stage.handle)(c.req.raw));
    expect(await (await atRoot.request('/', rpc('SendMessage', { message: aMessage }))).json()).toMatchObject({ result: { task: aTask } });
    expect(await (await atRoot.request('/about')).text()).toBe('about');

    const below = createFetch(stage.handle, { publicUrl: 'https://a.example/agents/one/' });
    const mounted = new Hono().mount('/agents/one', below);
    const routed = new Hono().all('/agents/one/*', (c) => below(c.req.raw)).all('/agents/one', (c) => below(c.req.raw));
    for (const app of [mounted, routed]) {
      const card = (await (await app.request(`/agents/one${CARD}`)).json()) as AgentCard;
      expect(card.supportedInterfaces[1]?.url).toBe('https://a.example/agents/one/rest');
      expect(await (await app.request('/agents/one/', rpc('SendMessage', { message: aMessage }))).json()).toMatchObject({
        result: { task: aTask },
      });
      const stream = await app.request('/agents/one/rest/tasks/t:subscribe', { headers });
      expect(await stream.text()).toMatch(/^id: 1\ndata: \{"artifactUpdate"/);
    }
  });
});
