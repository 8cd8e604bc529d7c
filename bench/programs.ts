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
  readonly #waiting: ((line: Line) => void)[] = [];
  readonly #lines: Line[] = [];
  #failure: Error | undefined;
  readonly #rejects: ((error: Error) => void)[] = [];

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

  /** The next line it prints, in order. */
  next(): Promise<Line> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      this.#rejects.push(reject);
    });
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
    this.#rejects.shift();
    const waiting = this.#waiting.shift();
    if (waiting) waiting(line);
    else this.#lines.push(line);
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#waiting.splice(0);
    for (const reject of this.#rejects.splice(0)) reject(error);
  }
}
