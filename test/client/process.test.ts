import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const door = new URL('../../src/client.ts', import.meta.url).href;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A port at which nobody answers. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a program that waits for an answer does not end between two tries, and ends by itself afterwards', async () => {
  const program = `
    import { connect } from '${door}';
    const retry = { tries: 2, firstMs: 50, mostMs: 50 };
    const error = await connect('http://127.0.0.1:${await deadPort()}', { retry }).catch((thrown) => thrown);
    console.log(error.code, error.message);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: root,
  });
  expect(stdout).toMatch(/^UNAVAILABLE No answer from http:\/\/127\.0\.0\.1:\d+: ECONNREFUSED\.\n$/);
});
