import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Gives the path of a new file in a folder that goes when the tests of this file are over; `wish` is used if the machine has it. */
export function tempFiles(wish: string = tmpdir()): () => string {
  const folder = mkdtempSync(join(existsSync(wish) ? wish : tmpdir(), 'chorus-stores-'));
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return () => {
    count += 1;
    return join(folder, `tasks-${count}.db`);
  };
}
