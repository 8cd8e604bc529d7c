import { request } from 'node:https';
import { describe, expect, test } from 'vitest';
import type { AgentCard } from '../../src/protocol/types.ts';
import { callers } from '../bindings/callers.ts';
import { aTask, chunk, Feed, onStage } from '../bindings/stage.ts';
import { selfSigned } from './tls.ts';

const operations = { getTask: async () => aTask, subscribeToTask: async () => new Feed().push(chunk(1)).end() };
const asked = {
  origin: 'https://app.example',
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'a2a-version,x-key',
};
const corsOf = (response: Response) => [...response.headers].filter(([name]) => name.startsWith('access-control-')).map(([name]) => name);

describe('CORS', () => {
  test('is off: no page may read an answer, no preflight is allowed', async () => {
    await using open = await onStage({ operations });
    for (const caller of callers) {
      const response = await caller.fetch(open.url, 'GetTask', { id: 't' }, { headers: { origin: 'https://app.example' } });
      expect(corsOf(response)).toEqual([]);
    }
    const preflight = await fetch(`${open.url}/`, { method: 'OPTIONS', headers: asked });
    expect(corsOf(preflight)).toEqual([]);
  });

  test('lets the pages of named origins ask and read: preflight, unary, errors, streams, the card', async () => {
    await using open = await onStage({ operations, serve: { cors: ['https://app.example', 'https://other.example'] } });
    for (const path of ['/', '/rest/message:send', '/.well-known/agent-card.json']) {
      const preflight = await fetch(open.url + path, { method: 'OPTIONS', headers: asked });
      expect(preflight.status).toBe(204);
      expect(Object.fromEntries(preflight.headers)).toMatchObject({
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
        'access-control-allow-headers': 'a2a-version,x-key',
        vary: 'Origin',
      });
    }
    const headers = { origin: 'https://app.example' };
    for (const caller of callers) {
      for (const [operation, wanted] of [
        ['GetTask', { id: 't' }],
        ['SubscribeToTask', { id: 't' }],
        ['SendMessage', {}],
      ] as const) {
        const response = await caller.fetch(open.url, operation, wanted, { headers });
        expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
        expect(response.headers.get('access-control-expose-headers')).toContain('A2A-Extensions');
        await response.body?.cancel();
      }
    }
    const card = await fetch(`${open.url}/.well-known/agent-card.json`, { headers });
    expect([card.headers.get('access-control-allow-origin'), card.headers.get('vary')]).toEqual(['https://app.example', 'Origin']);
    await card.body?.cancel();
  });

  test('lets no other origin in, and tells caches that the answer depends on it', async () => {
    await using open = await onStage({ operations, serve: { cors: ['https://app.example'] } });
    for (const origin of ['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null']) {
      const preflight = await fetch(`${open.url}/`, { method: 'OPTIONS', headers: { ...asked, origin } });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    }
    const card = await fetch(`${open.url}/.well-known/agent-card.json`);
    expect([card.headers.get('access-control-allow-origin'), card.headers.get('vary')]).toEqual([null, 'Origin']);
    await card.body?.cancel();
  });

  test('may be opened to all, without credentials', async () => {
    await using open = await onStage({ operations, serve: { cors: ['*'] } });
    const preflight = await fetch(`${open.url}/`, { method: 'OPTIONS', headers: asked });
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('TLS', () => {
  const tls = selfSigned();

  test.skipIf(tls === undefined)(
    'serves HTTPS with the key and certificate given, and says so on the card (CARD-19, AUTH-01)',
    async () => {
      if (!tls) return;
      await using open = await onStage({ operations, serve: { tls } });
      expect(open.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
      const get = (path: string): Promise<string> =>
        new Promise((resolve, reject) => {
          request(open.url + path, { ca: tls.cert, headers: { 'a2a-version': '1.0' }, agent: false }, (response) => {
            let text = '';
            response.on('data', (piece: Buffer) => (text += piece.toString())).on('end', () => resolve(text));
          })
            .on('error', reject)
            .end();
        });
      const card = JSON.parse(await get('/.well-known/agent-card.json')) as AgentCard;
      expect(card.supportedInterfaces.map(({ url }) => url)).toEqual([`${open.url}/`, `${open.url}/rest`]);
      expect(JSON.parse(await get('/rest/tasks/t'))).toEqual(aTask);
      expect(await get('/rest/tasks/t:subscribe')).toMatch(/^id: 1\n/);
    },
  );

  test.skipIf(tls === undefined)('old versions of TLS are refused (SEC-20)', async () => {
    if (!tls) return;
    await using open = await onStage({ operations, serve: { tls } });
    const old = new Promise((_, reject) => {
      request(open.url, { ca: tls.cert, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', agent: false }).on('error', reject).end();
    });
    await expect(old).rejects.toThrow(/alert|protocol|version/i);
  });
});
