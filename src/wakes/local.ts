import { settled } from '../ground/settled.ts';
import type { Hint, Wake } from '../log/wake.ts';

/** Carries hints between the replicas of one process. */
export interface LocalHub {
  /** A wake for one more replica on this hub. */
  open(): Wake;
}

/** Hints that may wait for one delivery; beyond that it is simpler to say that anything may have happened. */
export const HINTS_MAX = 2_000;

/** A new hub, on which nobody listens yet. */
export function localHub(): LocalHub {
  const members = new Set<LocalWake>();
  return { open: () => new LocalWake(members) };
}

/**
 * Hands hints to the other replicas of the process. They arrive a microtask later, never inside `notify`: whoever writes is not held up
 * by what the listeners do, and a lab sees them as it sees any other wake.
 */
class LocalWake implements Wake {
  readonly reach = 'process';
  readonly #members: Set<LocalWake>;
  #listener: ((hints: readonly Hint[]) => void) | undefined;
  #waiting: Hint[] = [];

  constructor(members: Set<LocalWake>) {
    this.#members = members;
  }

  /** Nothing lies between the replicas of one process: what is sent arrives, while the wake runs. */
  get isProven(): boolean {
    return this.#members.has(this);
  }

  async start(): Promise<void> {
    this.#members.add(this);
  }

  async stop(): Promise<void> {
    this.#members.delete(this);
    this.#waiting = [];
  }

  listen(listener: (hints: readonly Hint[]) => void): void {
    this.#listener = listener;
  }

  notify(hints: readonly Hint[]): void {
    for (const member of this.#members) if (member !== this) member.#receive(hints);
  }

  #receive(hints: readonly Hint[]): void {
    const isFirst = this.#waiting.length === 0;
    if (this.#waiting.length + hints.length > HINTS_MAX) this.#waiting = [{ kind: 'any' }];
    else this.#waiting.push(...hints);
    if (isFirst && hints.length > 0) void settled.then(() => this.#deliver());
  }

  #deliver(): void {
    const hints = this.#waiting;
    this.#waiting = [];
    if (hints.length > 0) this.#listener?.(hints);
  }
}
