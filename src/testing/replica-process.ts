import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../ground/clock.ts';

/** What a replica says once it is ready. */
export interface ReadyLine {
  readonly ready: true;
  readonly url: string;
  readonly pid: number;
  readonly replica: string;
}

/** How a replica's process ended: with a code or by a signal. */
export interface ProcessEnd {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** A line of a replica's log, read as JSON where it is JSON. */
export type LogLine = Readonly<Record<string, unknown>>;

// beside this file in the sources and in the build alike
const isSource = import.meta.url.endsWith('.ts');
const program = fileURLToPath(new URL(isSource ? '../cli/start.ts' : '../cli/start.js', import.meta.url));

const READY_MS_MAX = 60_000;
const LINES_MAX = 2_000;

/** One replica as an operating-system process of its own. */
export class ReplicaProcess {
  readonly name: string;
  readonly ready: ReadyLine;
  readonly #child: Child;
  readonly #ended: Promise<ProcessEnd>;
  readonly #errors: string[];
  #isStopped = false;

  private constructor(name: string, ready: ReadyLine, started: Started) {
    this.name = name;
    this.ready = ready;
    this.#child = started.child;
    this.#ended = started.ended;
    this.#errors = started.errors;
  }

  /** Starts a replica with these arguments of `npm start` and waits until it is ready; its log lines go to `onLine`. */
  static async start(name: string, args: readonly string[], onLine: (line: LogLine) => void = () => {}): Promise<ReplicaProcess> {
    const started = launch(args, onLine);
    const ready = await readyLine(started);
    return new ReplicaProcess(name, ready, started);
  }

  get url(): string {
    return this.ready.url;
  }

  get pid(): number {
    return this.ready.pid;
  }

  /** True until the process has ended; a stopped one still is. */
  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** What it wrote to standard error, the last lines of it. */
  get errors(): readonly string[] {
    return this.#errors;
  }

  /** Sends a signal. SIGSTOP and SIGCONT are remembered. */
  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT' | 'SIGSTOP' | 'SIGCONT'): void {
    if (signal === 'SIGSTOP') this.#isStopped = true;
    if (signal === 'SIGCONT') this.#isStopped = false;
    this.#child.kill(signal);
  }

  /** Resolves when the process has ended. */
  ended(): Promise<ProcessEnd> {
    return this.#ended;
  }

  /** Ends it whatever it does. */
  async destroy(): Promise<void> {
    this.signal('SIGKILL'); // also of a stopped process
    await this.#ended;
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

interface Started {
  readonly child: Child;
  readonly ended: Promise<ProcessEnd>;
  readonly errors: string[];
}

function launch(args: readonly string[], onLine: (line: LogLine) => void): Started {
  const loader = isSource ? ['--import', 'tsx'] : [];
  // its standard input stays open as long as this process lives: a replica never outlives the rig that started it
  const child = spawn(process.execPath, [...loader, program, ...args, '--end-with-input'], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined); // a killed replica's pipe; its end is told by `exit`
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (text) => {
    errors.push(text);
    if (errors.length > LINES_MAX) errors.shift();
    const line = parseLine(text);
    if (line) onLine(line);
  });
  const ended = new Promise<ProcessEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
  });
  return { child, ended, errors };
}

function parseLine(text: string): LogLine | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as LogLine; // it starts with a brace, so it is an object
  } catch {
    return undefined; // a line of the agent's own, not of the logger
  }
}

async function readyLine({ child, ended, errors }: Started): Promise<ReadyLine> {
  const lines = createInterface({ input: child.stdout });
  const first = new Promise<string>((resolve) => lines.once('line', resolve));
  let timer = { cancel(): void {} };
  const late = new Promise<'late'>((resolve) => {
    timer = systemClock.after(READY_MS_MAX, () => resolve('late'));
  });
  const outcome = await Promise.race([first, ended, late]);
  timer.cancel();
  if (typeof outcome === 'string' && outcome !== 'late') return JSON.parse(outcome) as ReadyLine; // the contract of `npm start`
  child.kill('SIGKILL');
  throw new Error(`A replica did not get ready (${JSON.stringify(outcome)}):\n${errors.join('\n')}`);
}
