import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { describe, expect, test } from 'vitest';
import { nodeListener } from '../../src/mounts/node-listener.ts';
import { serve } from '../../src/mounts/node.ts';
import type { AgentCard } from '../../src/protocol/types.ts';
import { callers } from '../bindings/callers.ts';
import { aMessage, aTask, onStage, Stage, until } from '../bindings/stage.ts';

const CARD = '/.well-known/agent-card.json';
const operations = { getTask: async () => aTask, sendMessage: async () => ({ task: aTask }) };

const cardAt = async (base: string): Promise<AgentCard> => (await (await fetch(base + CARD)).json()) as AgentCard; // the tests look

describe('serve', () => {
  test('starts the agent, listens where it says, on this machine only unless told otherwise', async () => {
    await using open = await onStage({ operations });
    expect(open.stage.starts).toBe(1);
    expect(open.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    for (const caller of callers) {
      expect((await caller.read(await caller.fetch(open.url, 'GetTask', { id: 't' }))).result).toEqual(aTask);
    }
  });

  test('gives a url and a close that work without what they came in', async () => {
    const stage = new Stage({ operations });
    const { url, close } = await serve(stage, { signals: false });
    expect((await fetch(url + CARD)).status).toBe(200);
    await close();
    await close(); // twice is fine
    await expect(fetch(url + CARD)).rejects.toThrow();
  });

  test('tells who runs it whether it lives and whether it is ready', async () => {
    await using open = await onStage();
    const ask = async (path: string) => {
      const response = await fetch(open.url + path);
      return [response.status, response.headers.get('content-type'), await response.json()];
    };
    expect(await ask('/healthz')).toEqual([200, 'application/json', { status: 'alive' }]);
    expect(await ask('/readyz')).toEqual([200, 'application/json', { status: 'ready' }]);
    open.stage.isReady = false; // no contact with its store
    expect(await ask('/healthz')).toEqual([200, 'application/json', { status: 'alive' }]);
    expect(await ask('/readyz')).toEqual([503, 'application/json', { status: 'not ready' }]);
    expect((await fetch(`${open.url}/healthz`, { method: 'HEAD' })).status).toBe(200);
  });

  test('serves below a prefix; probes stay at the root', async () => {
    await using open = await onStage({ operations, serve: { prefix: 'agents/one/' } });
    expect(new URL(open.url).pathname).toBe('/agents/one');
    expect((await cardAt(open.url)).supportedInterfaces.map(({ url }) => url)).toEqual([`${open.url}/`, `${open.url}/rest`]);
    for (const caller of callers) {
      expect((await caller.read(await caller.fetch(open.url, 'GetTask', { id: 't' }))).result).toEqual(aTask);
    }
    const { origin } = new URL(open.url);
    expect((await fetch(`${origin}/readyz`)).status).toBe(200);
    for (const path of [CARD, '/', '/agents', '/agents/one-more', '/agents/onerest/tasks']) {
      expect((await fetch(origin + path)).status, path).toBe(404);
    }
  });

  test('puts the public URL on the card and in its answer, whatever it listens on', async () => {
    await using open = await onStage({ serve: { publicUrl: 'https://agents.example/one/', port: 0 } });
    expect(open.url).toBe('https://agents.example/one');
  });

  test('says in one error that a port is taken, and lets the agent go again', async () => {
    await using open = await onStage();
    const stage = new Stage();
    await expect(serve(stage, { port: Number(new URL(open.url).port), signals: false })).rejects.toThrow('EADDRINUSE');
    expect([stage.starts, stage.closes]).toEqual([1, 1]);
  });

  test('an agent that cannot start is not served', async () => {
    const stage = new Stage();
    stage.start = async () => {
      throw new Error('no such table: task');
    };
    await expect(serve(stage, { signals: false })).rejects.toThrow('no such table');
  });

  test('a reply that breaks ends one connection, not the process (case 30)', async () => {
    await using open = await onStage({ operations });
    const { handle } = open.stage;
    const broken = new Stage();
    Object.defineProperty(broken, 'handle', {
      value: async (exchange: Parameters<typeof handle>[0]) =>
        exchange.path === '/rest/tasks/x' ? { status: 200, headers: { 'bad\nname': 'x' }, body: '' } : handle(exchange),
    });
    const served = await serve(broken, { signals: false });
    await expect(fetch(`${served.url}/rest/tasks/x`)).rejects.toThrow();
    expect((await fetch(served.url + CARD)).status).toBe(200);
    expect(broken.logged).toHaveLength(1);
    await served.close();
  });
});

describe('a server that is there already', () => {
  const hosting = async () => {
    const server = createServer((request, response) => {
      response.end(`host: ${request.method} ${request.url}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    return { server, origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() };
  };

  test.each(['', '/agents/one'])('gives the agent its paths below %j and keeps all others', async (prefix) => {
    await using host = await hosting();
    const stage = new Stage({ operations });
    const served = await serve(stage, { server: host.server, prefix });
    expect(served.url).toBe(host.origin + prefix);
    expect((await cardAt(served.url)).supportedInterfaces[1]?.url).toBe(`${host.origin}${prefix}/rest`);
    for (const caller of callers) {
      expect((await caller.read(await caller.fetch(served.url, 'GetTask', { id: 't' }))).result).toEqual(aTask);
    }
    expect(await (await fetch(`${host.origin}/about`)).text()).toBe('host: GET /about');
    expect(await (await fetch(`${host.origin}${prefix}/`)).text()).toBe(`host: GET ${prefix}/`);
    expect((await fetch(`${served.url}/readyz`)).status).toBe(200);

    await served.close();
    expect(stage.closes).toBe(1);
    expect(await (await fetch(served.url + CARD)).text()).toBe(`host: GET ${prefix}${CARD}`);
    expect(host.server.listening).toBe(true);
  });

  test('is opened and closed by serve if it does not listen yet and a port is named', async () => {
    const server = createServer();
    const served = await serve(new Stage({ operations }), { server, port: 0 });
    expect((await fetch(served.url + CARD)).status).toBe(200);
    expect((await fetch(`${served.url}/about`)).status).toBe(404); // nobody else is there
    await served.close();
    expect(server.listening).toBe(false);
  });

  test('of nobody else is told that the agent is closed, and is not left waiting', async () => {
    await using host = { server: createServer(), [Symbol.asyncDispose]: async () => void host.server.close() };
    await new Promise<void>((resolve) => host.server.listen(0, '127.0.0.1', resolve));
    const served = await serve(new Stage({ operations }), { server: host.server });
    await served.close();
    expect((await fetch(`${served.url}/readyz`)).status).toBe(503);
  });

  test('takes the agent as its listener', async () => {
    await using host = {
      server: createServer(nodeListener(new Stage({ operations }))),
      [Symbol.asyncDispose]: async () => void host.server.close(),
    };
    await new Promise<void>((resolve) => host.server.listen(0, '127.0.0.1', resolve));
    const { port } = host.server.address() as AddressInfo; // it listens on a port
    const origin = `http://127.0.0.1:${port}`;
    expect((await cardAt(origin)).supportedInterfaces[0]?.url).toBe(`${origin}/`);
    expect((await fetch(`${origin}/about`)).status).toBe(404);
  });
});

describe('Express', () => {
  const listening = async (app: express.Express) => {
    const server = app.listen(0, '127.0.0.1');
    await until(() => server.listening, 'Express listens');
    const { port } = server.address() as AddressInfo; // it listens on a port
    return { origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() };
  };

  test.each(['/', '/agents/one'])('carries the agent below %s beside its own routes', async (path) => {
    const app = express();
    app.use(path, nodeListener(new Stage({ operations })));
    app.use(express.json());
    app.all('/{*any}', (request, response) => void response.send(`express: ${request.method} ${request.originalUrl}`));
    await using host = await listening(app);
    const base = host.origin + (path === '/' ? '' : path);
    expect((await cardAt(base)).supportedInterfaces.map(({ url }) => url)).toEqual([`${base}/`, `${base}/rest`]);
    for (const caller of callers) {
      expect((await caller.read(await caller.fetch(base, 'SendMessage', { message: aMessage }))).result).toEqual({ task: aTask });
    }
    expect(await (await fetch(`${host.origin}/about`)).text()).toBe('express: GET /about');
    expect(await (await fetch(`${base}/`)).text()).toBe(`express: GET ${path === '/' ? '/' : `${path}/`}`);
  });

  test.each([
    ['express.json', express.json({ type: () => true })],
    ['express.raw', express.raw({ type: () => true })],
    ['express.text', express.text({ type: () => true })],
  ])('may have read the body before us with %s', async (_name, parser) => {
    const app = express()
      .use(parser)
      .use(nodeListener(new Stage({ operations })));
    await using host = await listening(app);
    for (const caller of callers) {
      expect((await caller.read(await caller.fetch(host.origin, 'SendMessage', { message: aMessage }))).result).toEqual({ task: aTask });
      expect((await caller.read(await caller.fetch(host.origin, 'SendMessage', {}))).error?.reason).toBe('INVALID_PARAMS');
    }
  });
});
