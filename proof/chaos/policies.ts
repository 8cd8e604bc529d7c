import type { OnLost, WhileWorking } from '../../src/log/store.ts';

/** Under which rules a replica accepts turns and messages. */
export interface Policy {
  readonly onLost: OnLost;
  readonly whileWorking: WhileWorking;
}

// the first three cover every rule; each start of a replica takes the next pair, so that all nine come up
const PAIRS: readonly Policy[] = (
  [
    ['fail', 'enqueue'],
    ['retry', 'interrupt'],
    ['ask', 'refuse'],
    ['retry', 'enqueue'],
    ['ask', 'interrupt'],
    ['fail', 'refuse'],
    ['ask', 'enqueue'],
    ['fail', 'interrupt'],
    ['retry', 'refuse'],
  ] as const
).map(([onLost, whileWorking]) => ({ onLost, whileWorking }));

/** Gives each replica that starts a policy, and knows whose is which. */
export class Policies {
  readonly #ofReplica = new Map<number, Policy>();
  readonly #extra = new Map<number, readonly string[]>();
  #starts = 0;

  /** Flags for a replica that starts now. */
  flags(index: number): readonly string[] {
    const policy = PAIRS[this.#starts++ % PAIRS.length] ?? { onLost: 'fail', whileWorking: 'refuse' };
    this.#ofReplica.set(index, policy);
    const extra = this.#extra.get(index) ?? [];
    this.#extra.delete(index);
    return ['--on-lost', policy.onLost, '--while-working', policy.whileWorking, ...extra];
  }

  /** More flags for the next start of that replica, and for no other. */
  once(index: number, flags: readonly string[]): void {
    this.#extra.set(index, flags);
  }

  of(index: number): Policy | undefined {
    return this.#ofReplica.get(index);
  }
}
