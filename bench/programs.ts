import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A line of JSON that a program prints. */
export type Line = Readonly<Record<string, unknown>>;

/** A program of this folder in a process of its own, talking in lines of JSON. */
export class Program {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #lines: Line[] = [];
  #failure: Error | undefined;
  /** There is a line more, or will be none. */
  #onNews: (() => void) | undefined;

  constructor(name: string, args: readonly string[], nodeArgs: readonly string[] = []) {
    const path = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
    this.#child = spawn(process.execPath, [...nodeArgs, path, ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    this.#child.stdin?.on('error', () => undefined); // the pipe of a killed program; its end is told by `exit`
    if (this.#child.stdout) createInterface({ input: this.#child.stdout }).on('line', (text) => this.#take(JSON.parse(text) as Line)); // its contract
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#fail(new Error(`bench: ${name} ended with ${code ?? signal}`));
        resolve();
      });
    });
  }

  /** The next line that has this field; what comes before it is not asked for any more. */
  async next(field: string): Promise<Line> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined && field in line) return line;
      if (line !== undefined) continue;
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => (this.#onNews = resolve));
    }
  }

  /** Writes a line to its input. */
  tell(text: string): void {
    this.#child.stdin?.write(`${text}\n`);
  }

  /** Ends it in the middle of whatever it does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Asks it to end, and ends it if it does not. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const killer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await this.#ended;
    clearTimeout(killer);
  }

  #take(line: Line): void {
    this.#lines.push(line);
    this.#onNews?.();
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#onNews?.();
  }
}
