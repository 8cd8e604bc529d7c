import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { serve } from '../../src/mounts/node.ts';
import { aMessage, aTask, chunk, Feed, ManualClock, onStage, Stage, until } from '../bindings/stage.ts';
import { RawSocket, requestText } from './raw.ts';

/** A promise and what settles it. */
const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
};

describe('close', () => {
  test('is not ready at once, listens no more, lets what is under way end, then closes', async () => {
    const [drained, answered] = [gate(), gate()];
    const feed = new Feed().push(chunk(1));
    await using open = await onStage({
      operations: {
        subscribeToTask: async () => feed,
        async sendMessage() {
          await answered.opened;
          return { task: aTask };
        },
      },
    });
    Object.assign(open.stage, { drained: drained.opened, drainMs: 60_000 }); // nothing is cut because the machine is slow
    await using streaming = new RawSocket(open.url);
    streaming.send(requestText('GET /rest/tasks/t:subscribe'));
    await streaming.until('id: 1\n');
    await using blocked = new RawSocket(open.url);
    const body = JSON.stringify({ message: aMessage });
    blocked.send(requestText('POST /rest/message:send', { 'content-type': 'application/json', 'content-length': body.length }, body));
    await using idle = new RawSocket(open.url);
    idle.send(requestText('GET /rest/nothing'));
    await idle.until('}');
    await until(() => open.stage.seen.length === 2, 'both are under way');

    const closing = open.served.close();
    expect(open.stage.isReady).toBe(false);
    await idle.untilClosed(); // kept alive, but nothing under way
    await expect(fetch(`${open.url}/healthz`)).rejects.toThrow('fetch failed'); // nobody listens
    expect([streaming.isClosed, blocked.isClosed]).toEqual([false, false]);

    answered.open();
    await blocked.untilClosed();
    expect(blocked.received).toContain('task-1');
    expect(blocked.received.toLowerCase()).toContain('connection: close');
    feed.push(chunk(2)).end();
    await streaming.until('id: 2\n');
    drained.open();
    await closing;
    await streaming.untilClosed();
    expect(streaming.received.endsWith('0\r\n\r\n')).toBe(true); // ended, not cut
    await open.served.closed;
  });

  test('answers a probe that was under way, and keeps no connection for the next one: nobody goes on asking who has closed', async () => {
    const drained = gate();
    await using open = await onStage();
    open.stage.drained = drained.opened;
    await using asking = new RawSocket(open.url);
    await new Promise<void>((resolve) => asking.socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n', () => resolve()));
    // it has arrived: twice around the loop that both ends share
    for (let round = 0; round < 2; round += 1) await new Promise((resolve) => setImmediate(resolve));
    const closing = open.served.close();
    asking.send('\r\n');
    await asking.untilClosed();
    expect(asking.status).toBe(200);
    expect(asking.received.toLowerCase()).toContain('connection: close');
    drained.open();
    await closing;
  });

  test('cuts what is still open when the agent has drained', async () => {
    await using open = await onStage({ operations: { subscribeToTask: async () => new Feed().push(chunk(1)) } });
    await using streaming = new RawSocket(open.url);
    streaming.send(requestText('GET /rest/tasks/t:subscribe'));
    await streaming.until('id: 1\n');
    await open.served.close();
    await streaming.untilClosed();
    await until(() => open.stage.seen[0]?.call.signal.aborted === true, 'the call knows');
  });

  test('does not wait for an agent for ever: drainMs and a second', async () => {
    const clock = new ManualClock();
    const stage = new Stage({ clock });
    stage.drained = new Promise(() => {});
    const served = await serve(stage, { signals: false });
    const closing = served.close();
    let isClosed = false;
    void closing.then(() => (isClosed = true));
    clock.advance(stage.drainMs + 999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    clock.advance(1);
    await closing;
  });

  test('twice is once, also at the same time', async () => {
    const stage = new Stage();
    const served = await serve(stage, { signals: false });
    await Promise.all([served.close(), served.close()]);
    await served.close();
    expect(stage.closes).toBe(1);
  });

  test('a drain that fails is told, and the listener is gone all the same', async () => {
    const stage = new Stage();
    stage.drained = Promise.reject(new Error('the store is away'));
    stage.drained.catch(() => {}); // close hands it on
    const served = await serve(stage, { signals: false });
    await expect(served.close()).rejects.toThrow('the store is away');
    await expect(fetch(`${served.url}/healthz`)).rejects.toThrow('fetch failed');
    await served.closed;
  });
});

describe('signals', () => {
  /** A process that serves a stage; its agent needs `drain` ms to drain, and is given twice that. */
  const start = async (options: string, drain = 50) => {
    const program = `
      import { createServer } from 'node:http';
      import { Stage } from './test/bindings/stage.ts';
      import { sleep, systemClock } from './src/ground/clock.ts';
      import { serve } from './src/mounts/node.ts';
      const stage = Object.assign(new Stage(), { drainMs: ${2 * drain} });
      const close = stage.close.bind(stage);
      stage.close = async () => { await close(); await sleep(systemClock, ${drain}); console.log('drained'); };
      const served = await serve(stage, ${options});
      console.log(served.url);
    `;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.on('data', (bytes: Buffer) => (printed += bytes.toString()));
    await until(() => printed.includes('http'), 'it is served', 15_000);
    return { child, url: printed.trim(), printed: () => printed, [Symbol.asyncDispose]: async () => void child.kill('SIGKILL') };
  };
  const ended = async (child: ChildProcess): Promise<readonly unknown[]> =>
    child.exitCode !== null || child.signalCode !== null ? [child.exitCode, child.signalCode] : once(child, 'exit');

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s drains, and the process ends by itself with 0 although a stream is open',
    async (signal) => {
      await using one = await start('{}');
      await using streaming = new RawSocket(one.url);
      streaming.send(requestText('GET /readyz'));
      await streaming.until('ready');
      one.child.kill(signal);
      expect(await ended(one.child)).toEqual([0, null]);
      expect(one.printed()).toContain('drained');
    },
  );

  test('a second signal ends the process at once', async () => {
    await using one = await start('{}', 30_000);
    one.child.kill('SIGTERM');
    await expect
      .poll(
        () =>
          fetch(`${one.url}/healthz`).then(
            () => 'listens',
            () => 'drains',
          ),
        { timeout: 15_000, interval: 20 },
      )
      .toBe('drains');
    one.child.kill('SIGTERM');
    expect(await ended(one.child)).toEqual([null, 'SIGTERM']);
    expect(one.printed()).not.toContain('drained');
  });

  test.each(['{ signals: false }', '{ server: createServer(), port: 0 }'])('with %s they are not ours', async (options) => {
    await using one = await start(options);
    one.child.kill('SIGTERM');
    expect(await ended(one.child)).toEqual([null, 'SIGTERM']);
  });
});
