import type { OnLost, WhileWorking } from '../../src/log/store.ts';

/** Under which rules a replica accepts turns and messages. */
export interface Policy {
  readonly onLost: OnLost;
  readonly whileWorking: WhileWorking;
}

const ON_LOST: readonly OnLost[] = ['fail', 'retry', 'ask'];
const WHILE_WORKING: readonly WhileWorking[] = ['enqueue', 'interrupt', 'refuse'];

/**
 * Gives each replica that starts a policy, and knows whose is which. Of three neighbours each has its own `onLost`, for good: whatever is
 * killed meanwhile, each kind of take-over can be had. What messages do to a working task changes with every start, so that all pairs come up.
 */
export class Policies {
  readonly #ofReplica = new Map<number, Policy>();
  readonly #starts = new Map<number, number>();
  readonly #extra = new Map<number, readonly string[]>();

  /** Flags for a replica that starts now. */
  flags(index: number): readonly string[] {
    const starts = this.#starts.get(index) ?? 0;
    this.#starts.set(index, starts + 1);
    const policy: Policy = { onLost: pick(ON_LOST, index, 'fail'), whileWorking: pick(WHILE_WORKING, index + starts, 'refuse') };
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

function pick<Thing>(things: readonly Thing[], number: number, otherwise: Thing): Thing {
  return things[number % things.length] ?? otherwise;
}
