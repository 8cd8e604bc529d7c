import { execFile, execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A place for a database that can be filled up and cleared again, while processes use it. */
export interface SmallDisk extends AsyncDisposable {
  readonly kind: 'tmpfs' | 'limit';
  readonly folder: string;
  /** From now on what these processes write does not fit. */
  fill(pids: readonly number[]): Promise<void>;
  /** There is room again. */
  clear(pids: readonly number[]): Promise<void>;
}

/** Large enough for the minute in which it is used, small enough to be filled at once. */
const BYTES = 32 * 1_048_576;

/**
 * A file system in memory, of a few megabytes: full is full there (ENOSPC), for everybody. Where this process may not mount one, the limit
 * of a process on the size of its files (EFBIG), set from outside on those that run.
 */
export async function openSmallDisk(kind?: SmallDisk['kind']): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'chorus-disk-'));
  if (kind !== 'limit') {
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${BYTES}`, 'chorus', folder]);
      return tmpfs(folder);
    } catch (error) {
      if (kind === 'tmpfs') throw error;
    }
  }
  await run('prlimit', ['--version']); // says what is missing, before anything is started on it
  return limited(folder);
}

function tmpfs(folder: string): SmallDisk {
  const ballast = join(folder, 'ballast');
  const release = (): void => {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', release); // of a run that is broken off
  return {
    kind: 'tmpfs',
    folder,
    async fill() {
      const file = openSync(ballast, 'a');
      try {
        for (const size of [65_536, 4_096]) writeUntilFull(file, Buffer.alloc(size));
      } finally {
        closeSync(file);
      }
    },
    clear: () => rm(ballast, { force: true }),
    async [Symbol.asyncDispose]() {
      process.off('exit', release);
      release();
    },
  };
}

function writeUntilFull(file: number, piece: Uint8Array): void {
  for (let isFull = false; !isFull;) {
    try {
      isFull = writeSync(file, piece) < piece.length;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      isFull = true;
    }
  }
}

function limited(folder: string): SmallDisk {
  const setAll = async (pids: readonly number[], limit: string): Promise<void> => {
    for (const pid of pids) await run('prlimit', ['--pid', String(pid), `--fsize=${limit}`]);
  };
  return {
    kind: 'limit',
    folder,
    // the log of writes may not grow beyond what it is: other files, which are smaller, are not touched by it
    fill: (pids) => setAll(pids, `${statSync(join(folder, 'tasks.db-wal')).size}:unlimited`),
    clear: (pids) => setAll(pids, 'unlimited:unlimited'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
