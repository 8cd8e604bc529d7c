import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const door = new URL('../../src/client.ts', import.meta.url).href;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A port at which nobody answers, nor can anybody begin to: it is the other end of a connection that stays. */
async function deadPort(): Promise<{ readonly port: number } & Disposable> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const { localPort = 0 } = socket;
  return {
    port: localPort,
    [Symbol.dispose]() {
      socket.destroy();
      server.close();
    },
  };
}

test('a program that waits for an answer does not end between two tries, and ends by itself afterwards', async () => {
  using dead = await deadPort();
  const program = `
    import { connect } from '${door}';
    const retry = { tries: 2, firstMs: 50, mostMs: 50 };
    const error = await connect('http://127.0.0.1:${dead.port}', { retry }).catch((thrown) => thrown);
    console.log(error.code, error.message);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: root,
  });
  expect(stdout).toMatch(/^UNAVAILABLE No answer from http:\/\/127\.0\.0\.1:\d+: ECONNREFUSED\.\n$/);
});
