import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Front, REPLICA_HEADER } from '../../src/testing/front.ts';
import type { FrontTarget } from '../../src/testing/front.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function replica(
  name: string,
  listener: RequestListener = (_request, reply) => reply.end(name),
): Promise<FrontTarget & { server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return { name, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }; // it listens on TCP
}

async function front(...targets: readonly FrontTarget[]): Promise<Front> {
  const made = new Front();
  await made.open();
  made.setTargets(targets);
  open.unshift(made); // closed before the replicas behind it
  return made;
}

const textOf = async (url: string, init?: RequestInit): Promise<string> => (await fetch(url, init)).text();

describe('the front', () => {
  test('passes requests on in turns and tells who answered', async () => {
    const { url } = await front(await replica('A'), await replica('B'), await replica('C'));
    const answers = [];
    for (let round = 0; round < 6; round++) answers.push(await textOf(url));
    expect(answers.join('')).toBe('ABCABC');
    expect((await fetch(url)).headers.get(REPLICA_HEADER)).toBe('A');
  });

  test('skips a replica that is dead, without losing the request or its body', async () => {
    const dead = await replica('A');
    dead.server.closeAllConnections();
    await new Promise((resolve) => dead.server.close(resolve));
    const echo: RequestListener = (request, reply) => void request.pipe(reply);
    const { url } = await front(dead, await replica('B', echo));
    for (const body of ['one', 'two']) expect(await textOf(url, { method: 'POST', body })).toBe(body);
  });

  test('keeps nothing of the dead replicas that it has tried', async () => {
    const dead = await replica('A');
    dead.server.closeAllConnections();
    await new Promise((resolve) => dead.server.close(resolve));
    const { url } = await front(...Array.from({ length: 12 }, () => dead), await replica('B'));
    const warnings: string[] = [];
    const listen = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', listen);
    try {
      expect(await textOf(url)).toBe('B');
      await new Promise((resolve) => setImmediate(resolve)); // warnings come a moment later
    } finally {
      process.off('warning', listen);
    }
    expect(warnings).toEqual([]);
  });

  test('answers 503 when nobody is left', async () => {
    const { url } = await front();
    expect((await fetch(url)).status).toBe(503);
  });

  test('sends to the replica that is pinned, or that the request names', async () => {
    const made = await front(await replica('A'), await replica('B'));
    made.pin('B');
    expect([await textOf(made.url), await textOf(made.url)]).toEqual(['B', 'B']);
    expect(await textOf(made.url, { headers: { [REPLICA_HEADER]: 'A' } })).toBe('A');
    made.pin();
    expect(new Set([await textOf(made.url), await textOf(made.url)])).toEqual(new Set(['A', 'B']));
  });

  test('passes a stream on piece by piece', async () => {
    let finish = (): void => {};
    const { url } = await front(
      await replica('A', (_request, reply) => {
        reply.write('first');
        finish = () => reply.end('last');
      }),
    );
    const reader = (await fetch(url)).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first'); // the reply has not ended yet
    finish();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('last');
    expect((await reader?.read())?.done).toBe(true);
  });

  test('cuts the caller off when a replica breaks off in mid-reply: never a clean end that nobody meant', async () => {
    const { url } = await front(
      await replica('A', (_request, reply) => {
        reply.write('half');
        setTimeout(() => reply.destroy(), 20);
      }),
    );
    await expect(textOf(url)).rejects.toThrow();
  });

  test('lets the replica know when the caller leaves', async () => {
    const left = new Promise<void>((resolve) => {
      void replica('A', (_request, reply) => {
        reply.write('half');
        reply.on('close', resolve);
      }).then(async (target) => {
        const { url } = await front(target);
        const cut = new AbortController();
        await fetch(url, { signal: cut.signal });
        cut.abort();
      });
    });
    await left;
  });
});
