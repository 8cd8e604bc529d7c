import type { Writable } from 'node:stream';
import type { Clock } from '../../ground/clock.ts';

/** Colours where a terminal shows them, nothing elsewhere. */
type Ink = (text: string) => string;

/**
 * What a person reads: who did what on which replica, with the time since the start. Text that grows is written as it comes, so that one
 * sees where it stopped.
 */
export class Transcript {
  readonly bold: Ink;
  readonly dim: Ink;
  readonly red: Ink;
  readonly green: Ink;
  readonly #output: Writable;
  readonly #clock: Clock;
  readonly #start: number;
  #isInText = false;

  constructor(output: Writable & { readonly isTTY?: boolean }, clock: Clock) {
    this.#output = output;
    this.#clock = clock;
    this.#start = clock.monotonic();
    const ink = (code: number): Ink => (output.isTTY ? (text) => `\u001b[${code}m${text}\u001b[0m` : (text) => text);
    this.bold = ink(1);
    this.dim = ink(2);
    this.red = ink(31);
    this.green = ink(32);
  }

  /** A line of the teller. */
  say(text = ''): void {
    this.#endText();
    this.#output.write(`${text}\n`);
  }

  /** A chapter begins. */
  chapter(title: string): void {
    this.say();
    this.say(this.bold(title));
  }

  /** Somebody did something. */
  tell(who: string, what: string): void {
    const seconds = ((this.#clock.monotonic() - this.#start) / 1_000).toFixed(2).padStart(6);
    this.say(`  ${this.dim(`${seconds} s`)}  ${who.padEnd(9)} ${what}`);
  }

  /** Text that an agent writes, as it comes. */
  write(text: string): void {
    if (!this.#isInText) this.#output.write(MARGIN);
    this.#isInText = true;
    this.#output.write(text.replaceAll('\n', `\n${MARGIN}`));
  }

  #endText(): void {
    if (this.#isInText) this.#output.write('\n');
    this.#isInText = false;
  }
}

const MARGIN = `${' '.repeat(22)}│ `;
