import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { printHottest } from './profile.ts';

/** Whose server runs: ours or the peer's. */
export type Side = 'chorus' | 'peer';

/** A server in a process of its own, with its own empty store. */
export interface RunningServer {
  /** Where its JSON-RPC is. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly side: Side;
  readonly store: 'memory' | 'sqlite';
  readonly isProfiled?: boolean;
}

const compiled = (name: string): string => fileURLToPath(new URL(`./${name}.js`, import.meta.url));

function readyUrl(child: ChildProcess, side: Side): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`bench: the ${side} server ended with ${code} before it was ready`)));
    if (child.stdout) createInterface({ input: child.stdout }).once('line', (line) => resolve((JSON.parse(line) as { url: string }).url)); // its ready line
  });
}

/** Starts a server and resolves when it says that it is ready. */
export async function startServer({ side, store, isProfiled = false }: ServerOptions): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), `chorus-bench-${side}-`));
  const profile = isProfiled ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
  const child = spawn(
    process.execPath,
    [...profile, compiled(`${side}-server`), store === 'memory' ? 'memory' : join(folder, 'tasks.db')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_ENV: 'production' },
    },
  );
  const url = await readyUrl(child, side);
  return {
    url,
    async stop() {
      const isOver = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await isOver;
      clearTimeout(killer);
      if (isProfiled) printHottest(folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
