import { describe, expect, test } from 'vitest';
import type { AgentCard } from '../../src/protocol/types.ts';
import { exchangeAt, onStage, Stage } from './stage.ts';

const CARD = '/.well-known/agent-card.json';

describe('the public card', () => {
  test('stands at the well-known path with the interfaces that are served, JSON-RPC first (CARD-03, CARD-05, CARD-07 to CARD-09, BIND-05)', async () => {
    await using open = await onStage();
    const response = await fetch(open.url + CARD);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    const card = (await response.json()) as AgentCard;
    expect(card.supportedInterfaces).toEqual([
      { url: `${open.url}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${open.url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ]);
    for (const { url } of card.supportedInterfaces) expect((await fetch(url, { method: 'OPTIONS' })).status).not.toBe(500);
  });

  test('may be kept for a while and is then asked for by its ETag (CACHE-02, CACHE-03, CACHE-06)', async () => {
    await using open = await onStage();
    const first = await fetch(open.url + CARD);
    expect(first.headers.get('cache-control')).toMatch(/\bmax-age=[1-9]\d*\b/);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\da-f]{32}"$/);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await fetch(open.url + CARD, { headers: { 'if-none-match': tag } });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    const other = await fetch(open.url + CARD, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
    await other.body?.cancel();
  });

  test('has one ETag and one text on all replicas that are reached by one name (AMB-29)', async () => {
    const base = 'https://agents.example/stage';
    const [a, b] = await Promise.all([new Stage(), new Stage()].map((stage) => stage.handle(exchangeAt(base, CARD))));
    expect(a?.body).toContain(`"${base}/rest"`);
    expect([b?.headers, b?.body]).toEqual([a?.headers, a?.body]);
    const other = await new Stage().handle(exchangeAt('https://other.example', CARD));
    expect(other.headers['etag']).not.toBe(a?.headers['etag']);
  });

  test('answers HEAD like GET, without the body', async () => {
    await using open = await onStage();
    const get = await fetch(open.url + CARD);
    const head = await fetch(open.url + CARD, { method: 'HEAD' });
    expect(await head.text()).toBe('');
    for (const name of ['etag', 'cache-control', 'content-type', 'content-length']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });

  test('on all addresses of a machine names the host that the request names, if it is one', async () => {
    await using open = await onStage({ serve: { host: '0.0.0.0' } });
    const { port } = new URL(open.url);
    const asHost = async (host: string): Promise<AgentCard> => {
      const { request } = await import('node:http');
      return new Promise((resolve, reject) => {
        request({ port, path: CARD, headers: { host } }, (response) => {
          let text = '';
          response.on('data', (piece: Buffer) => (text += piece.toString())).on('end', () => resolve(JSON.parse(text) as AgentCard)); // our card
        })
          .on('error', reject)
          .end();
      });
    };
    expect((await asHost('agents.example:80')).supportedInterfaces[0]?.url).toBe('http://agents.example:80/');
    expect((await asHost('[::1]:4000')).supportedInterfaces[0]?.url).toBe('http://[::1]:4000/');
    expect((await asHost('evil"><script>')).supportedInterfaces[0]?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  });
});
