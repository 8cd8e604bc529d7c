import type { ChildProcessWithoutNullStreams, SpawnOptionsWithoutStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A child of a test, with the lines it has said so far. */
export interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly lines: unknown[];
  /** Resolves with the first line that fulfils the condition, said already or to come. */
  readonly line: <T>(isIt: (line: T) => boolean) => Promise<T>;
  /** Resolves with the exit code when it has ended and all it said is here. */
  readonly ended: Promise<number | null>;
}

const children = new Set<ChildProcessWithoutNullStreams>();
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));

/** Starts a script of this folder's neighbours as a process of its own. */
export function spawnScript(script: URL, args: readonly string[], options: SpawnOptionsWithoutStdio = {}): Child {
  const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(script), ...args], { ...options, stdio: 'pipe' });
  children.add(child);
  const lines: unknown[] = [];
  const waiting = new Set<(line?: unknown) => void>();
  let errors = '';
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line: unknown = JSON.parse(text);
    lines.push(line);
    for (const look of waiting) look(line);
  });
  const ended = once(child, 'close').then(([code]) => {
    children.delete(child);
    for (const look of waiting) look();
    return code as number | null; // the first argument of the event
  });
  return {
    process: child,
    lines,
    ended,
    line: <T>(isIt: (line: T) => boolean) =>
      new Promise<T>((resolve, reject) => {
        const look = (line?: unknown): void => {
          const found = (line === undefined ? lines : [line]).find((one) => isIt(one as T)); // the caller knows what its script says
          if (found === undefined && child.exitCode === null && child.signalCode === null) return;
          waiting.delete(look);
          if (found === undefined) reject(new Error(`the process ended first (${child.exitCode ?? child.signalCode}): ${errors}`));
          else resolve(found as T);
        };
        waiting.add(look);
        look();
      }),
  };
}
