import { spawn } from 'node:child_process';

/** How a program ended. */
export interface Ended {
  /** Undefined when it was cut off, or ended by a signal. */
  readonly code: number | undefined;
  readonly isLate: boolean;
  /** The end of what it printed. */
  readonly output: string;
}

/** How much of a program's output is kept. */
const OUTPUT_LENGTH_MAX = 20_000;

const running = new Set<number>();

// children are groups of their own, so that a program's own children end with it; nobody else would end them when we are ended
process.on('exit', () => {
  for (const pid of running) killGroup(pid);
});

/** Runs a program of this Node and cuts it off, with all that it has started, when it takes longer than `msMax`. */
export function runNode(args: readonly string[], { cwd, msMax }: { readonly cwd: string; readonly msMax: number }): Promise<Ended> {
  return run(process.execPath, args, { cwd, msMax });
}

/** The same for any program. */
export function run(
  file: string,
  args: readonly string[],
  { cwd, msMax }: { readonly cwd: string; readonly msMax: number },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: environment() });
    const { pid } = child;
    if (pid !== undefined) running.add(pid);
    let output = '';
    let isLate = false;
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_LENGTH_MAX);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const timer = setTimeout(() => {
      isLate = true;
      if (pid !== undefined) killGroup(pid);
    }, msMax);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (pid !== undefined) {
        killGroup(pid); // what a broken program has left behind
        running.delete(pid);
      }
      resolve({ code: code ?? undefined, isLate, output });
    });
  });
}

/** Ours, without what a test runner around us has set for its own children. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VITEST|CHORUS_|NODE_OPTIONS|FORCE_COLOR)/.test(name)));
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended already, and so have its children
  }
}
