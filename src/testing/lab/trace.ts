import type { Clock } from '../../ground/clock.ts';

/** What happened, in order: the same seed gives the same lines. */
export class Trace {
  readonly #clock: Clock;
  readonly #lines: { readonly at: number; readonly who: string; readonly what: string }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(who: string, what: string): void {
    this.#lines.push({ at: this.#clock.monotonic(), who, what });
  }

  get length(): number {
    return this.#lines.length;
  }

  /** One line each: seconds since the lab was opened, who, what. */
  text(): readonly string[] {
    return this.#lines.map(({ at, who, what }) => `${(at / 1_000).toFixed(3).padStart(8)}  ${who.padEnd(8)} ${what}`);
  }
}

/** An id as a trace shows it. */
export function short(id: string): string {
  return id.slice(0, 8);
}
