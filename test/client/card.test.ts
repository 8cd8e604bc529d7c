import { describe, expect, test } from 'vitest';
import { connect } from '../../src/client.ts';
import { CARD_BYTES_MAX } from '../../src/client/card.ts';
import { REDIRECTS_MAX } from '../../src/client/http.ts';
import { FakeAgent, TASK_ID, bindings, cardAt, sendJson, sendResult, taskIn } from './fake-agent.ts';

const face = (url: string, protocolBinding: string, protocolVersion: string, tenant?: string): object => ({
  url,
  protocolBinding,
  protocolVersion,
  ...(tenant === undefined ? {} : { tenant }),
});
const echo = FakeAgent.open.bind(undefined, (asked, response) => sendResult(asked, response, taskIn('TASK_STATE_WORKING')));

describe('finding the interface of an agent', () => {
  test('takes the first interface of the card that it speaks, in the order of the card (CARD-11, CARD-12)', async () => {
    await using agent = await echo((origin) => ({
      ...cardAt(origin),
      supportedInterfaces: [
        face('127.0.0.1:1', 'GRPC', '1.0'),
        face(`${origin}/old`, 'JSONRPC', '0.3'),
        face(`${origin}/rest`, 'HTTP+JSON', '1.0'),
        face(`${origin}/rpc`, 'JSONRPC', '1.0'),
      ],
    }));
    const client = await connect(agent.url);
    expect(client.interface.url).toBe(`${agent.url}/rest`);
    await client.task(TASK_ID).get();
    expect(agent.asked[0]?.path).toBe(`/rest/tasks/${TASK_ID}`);
    expect((await connect(agent.url, { prefer: 'JSONRPC' })).interface.url).toBe(`${agent.url}/rpc`);
  });

  test.each(bindings)(
    'sends the version and the tenant of the interface with every request over %s (TEN-01, VER-04, case 91)',
    async (binding) => {
      await using agent = await echo((origin) => ({
        ...cardAt(origin),
        supportedInterfaces: [
          face(`${origin}/rpc`, 'JSONRPC', '1.0', 'acme & sons'),
          face(`${origin}/rest`, 'HTTP+JSON', '1.0.1', 'acme & sons'),
        ],
      }));
      const client = await connect(agent.url, { prefer: binding });
      await client.task(TASK_ID).get();
      await client.task(TASK_ID).cancel();
      await client.call('ListTasks', {});
      for (const asked of agent.asked) {
        expect(asked.headers['a2a-version']).toBe('1.0');
        if (binding === 'JSONRPC') expect(asked.params['tenant']).toBe('acme & sons');
        else expect(asked.path).toMatch(/^\/rest\/acme%20%26%20sons\/tasks/);
      }
      expect(agent.asked).toHaveLength(3);
    },
  );

  test.each(bindings)('sends no tenant over %s when the interface has none (TEN-02)', async (binding) => {
    await using agent = await echo();
    const client = await connect(agent.url, { prefer: binding });
    await client.task(TASK_ID).get();
    expect(agent.asked[0]?.params).not.toHaveProperty('tenant');
    if (binding === 'HTTP+JSON') expect(agent.asked[0]?.path).toBe(`/rest/tasks/${TASK_ID}`);
  });

  test('never falls back to another version quietly (VER-11, case 91)', async () => {
    await using agent = await echo((origin) => ({ ...cardAt(origin), supportedInterfaces: [face(`${origin}/rpc`, 'JSONRPC', '0.3')] }));
    await expect(connect(agent.url)).rejects.toMatchObject({
      code: 'VERSION_NOT_SUPPORTED',
      message: expect.stringContaining('JSONRPC 0.3'),
    });
  });

  test('says what is offered when it speaks none of it', async () => {
    await using agent = await echo((origin) => ({ ...cardAt(origin), supportedInterfaces: [face('127.0.0.1:1', 'GRPC', '1.0')] }));
    await expect(connect(agent.url)).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION', message: expect.stringContaining('GRPC 1.0') });
  });

  test('does not go from a card that came by https to an interface in clear text', async () => {
    const card = cardAt('http://agent.example');
    const fetch = (): Response => Response.json(card);
    await expect(connect('https://agent.example', { fetch })).rejects.toMatchObject({ message: expect.stringContaining('https alone') });
    await expect(connect('http://agent.example', { fetch })).resolves.toMatchObject({ interface: { url: 'http://agent.example/rpc' } });
  });

  test('finds the card below a base URL, at its own URL, or takes it as an object', async () => {
    const asked: string[] = [];
    const fetch = ({ url }: Request): Response => {
      asked.push(url);
      return Response.json(cardAt('http://agent.example'));
    };
    await connect('http://agent.example/', { fetch });
    await connect('http://agent.example/agents/a?x=1#y', { fetch });
    await connect(new URL('http://cards.example/all/agent-1.json?v=2'), { fetch });
    expect(asked).toEqual([
      'http://agent.example/.well-known/agent-card.json',
      'http://agent.example/agents/a/.well-known/agent-card.json',
      'http://cards.example/all/agent-1.json?v=2',
    ]);
    const client = await connect(cardAt('http://agent.example'), { fetch });
    expect(client.card.name).toBe('Fake');
    expect(asked).toHaveLength(3);
  });

  test('reads cards with null for empty lists and with unknown members (peers, CARD-21)', async () => {
    await using agent = await echo((origin) => ({
      ...cardAt(origin),
      skills: null,
      defaultInputModes: null,
      url: 'old',
      preferredTransport: 'JSONRPC',
    }));
    expect((await connect(agent.url)).card).toMatchObject({ skills: [], defaultInputModes: [] });
  });

  test('says where there is no card', async () => {
    const fetch = (): Response => new Response('<h1>Not here</h1>', { status: 404, headers: { 'content-type': 'text/html' } });
    await expect(connect('http://agent.example', { fetch })).rejects.toMatchObject({
      code: 'INVALID_AGENT_RESPONSE',
      message: 'There is no agent card at http://agent.example/.well-known/agent-card.json (HTTP status 404).',
    });
    await expect(connect('agent.example')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(connect('ftp://agent.example')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(connect('http://me:secret@agent.example')).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.not.stringContaining('secret'),
    });
  });

  test('keeps credentials from whoever holds the card: only the interface gets them', async () => {
    await using agent = await echo();
    const cards: Request[] = [];
    const fetch = (request: Request): Response | Promise<Response> => {
      if (request.url.endsWith('.json')) cards.push(request);
      return globalThis.fetch(request);
    };
    let token = 0;
    const client = await connect(agent.url, { fetch, headers: () => Promise.resolve({ Authorization: `Bearer ${(token += 1)}` }) });
    await client.task(TASK_ID).get();
    await client.task(TASK_ID).get();
    expect(cards.map(({ headers }) => headers.get('authorization'))).toEqual([null]);
    expect(agent.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });

  test('tries again while nothing answers, and then says so', async () => {
    let tries = 0;
    const fetch = (): Promise<Response> => {
      tries += 1;
      return tries < 3 ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve(Response.json(cardAt('http://agent.example')));
    };
    const retry = { tries: 2, firstMs: 1, mostMs: 1 };
    await expect(connect('http://agent.example', { fetch, retry })).resolves.toBeDefined();
    tries = -10;
    await expect(connect('http://agent.example', { fetch, retry })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(tries).toBe(-7);
  });

  test('reads no card that is larger than a card can be, and follows no redirect without end (case 84)', async () => {
    await using large = await FakeAgent.open((_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"name":"${'x'.repeat(CARD_BYTES_MAX)}"}`);
    });
    await expect(connect(`${large.url}/large.json`)).rejects.toMatchObject({
      code: 'INVALID_AGENT_RESPONSE',
      message: expect.stringContaining(`${CARD_BYTES_MAX} bytes`),
    });
    await using round = await FakeAgent.open((asked, response) => response.writeHead(307, { location: `${asked.path}x` }).end());
    const client = await connect(round.url, { prefer: 'HTTP+JSON' });
    await expect(client.task('x').get()).rejects.toMatchObject({
      code: 'INVALID_AGENT_RESPONSE',
      message: expect.stringContaining(`more than ${REDIRECTS_MAX} times`),
    });
    expect(round.asked.filter(({ path }) => path.startsWith('/rest/'))).toHaveLength(REDIRECTS_MAX + 1);
  });

  test('follows a redirect within the origin, and never one to another (case 91)', async () => {
    await using elsewhere = await echo();
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.path.startsWith('/rest/tasks/away')) response.writeHead(307, { location: `${elsewhere.url}/rest/tasks/away` }).end();
      else if (asked.path.startsWith('/rest/tasks/')) response.writeHead(308, { location: '/moved/tasks/x' }).end();
      else sendJson(response, taskIn('TASK_STATE_COMPLETED'));
    });
    const client = await connect(agent.url, { prefer: 'HTTP+JSON', headers: { authorization: 'Bearer secret' } });
    expect((await client.task(TASK_ID).get()).status.state).toBe('TASK_STATE_COMPLETED');
    await expect(client.task('away').get()).rejects.toMatchObject({
      code: 'INVALID_AGENT_RESPONSE',
      message: expect.stringContaining('another origin'),
    });
    expect(elsewhere.asked).toEqual([]);
  });
});
