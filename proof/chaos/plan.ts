import { oneOf, shuffled } from '../chance.ts';
import type { Hand } from './hand.ts';
import type { Policy } from './policies.ts';
import type { FaultName, Reached, RuleName } from './reached.ts';
import { pause } from './waits.ts';

/** Something to do to replicas, and beside whom: others, nobody, or on replicas of its own, so that nobody has to wait for it. */
export interface Deed {
  readonly fault: FaultName;
  readonly beside: 'others' | 'nobody' | 'all';
  run(hand: Hand): Promise<void>;
}

const kill = (onLost?: Policy['onLost']): Deed => ({ fault: 'kill', beside: 'others', run: (hand) => hand.kill(onLost) });
const stop: Deed = { fault: 'stop', beside: 'others', run: (hand) => hand.stop() };
const drain: Deed = { fault: 'drain', beside: 'others', run: (hand) => hand.drain() };
const deadAck: Deed = { fault: 'deadAck', beside: 'others', run: (hand) => hand.deadAck() };
const stoppedCommit: Deed = { fault: 'stoppedCommit', beside: 'nobody', run: (hand) => hand.stoppedCommit() };
const full: Deed = { fault: 'full', beside: 'all', run: (hand) => hand.full() };

/** Any replica, and nothing else. */
export const anyKill: Deed = kill();

/** What a rule that a run still lacks needs; the others come from users alone. */
const neededFor: Readonly<Partial<Record<FaultName | RuleName, Deed>>> = {
  kill: anyKill,
  stop,
  drain,
  deadAck,
  stoppedCommit,
  full,
  takeoverFail: kill('fail'),
  takeoverRetry: kill('retry'),
  takeoverAsk: kill('ask'),
  claimedFromQueue: kill('retry'),
  repeatAfterLoss: deadAck,
  fencedVerb: stop,
  drainSettled: drain,
  readWhileStopped: stoppedCommit,
  unavailable: stoppedCommit,
  readWhileFull: full,
  wholeAfterFull: full,
};

const DECKS_PER_FULL = 3;

/** What is done, in which order: first everything once, then kills above all, and at the end what is still missing. */
export class Plan {
  readonly #random: () => number;
  readonly #reached: Reached;
  #deck: Deed[];
  #decks = 0;

  constructor(random: () => number, reached: Reached) {
    this.#random = random;
    this.#reached = reached;
    this.#deck = shuffled(random, [kill('fail'), kill('retry'), kill('ask'), stop, drain, deadAck, stoppedCommit, full]);
  }

  /** The first round, in which everything comes once, is not over yet. */
  get isCovering(): boolean {
    return this.#decks === 0 && this.#deck.length > 0;
  }

  next(): Deed {
    if (this.#deck.length === 0) this.#shuffle();
    return this.#deck.pop() ?? anyKill;
  }

  /** Something that leads to a rule nobody has reached yet; time, if only users can reach it. */
  async nextMissing(): Promise<Deed | undefined> {
    const deeds = this.#reached.missing.flatMap((name) => neededFor[name] ?? []);
    const deed = oneOf(this.#random, deeds);
    if (!deed) await pause(1_000);
    return deed;
  }

  #shuffle(): void {
    this.#decks += 1;
    const kills = Array.from({ length: 8 }, () => anyKill);
    const rare = this.#decks % DECKS_PER_FULL === 0 ? [full] : [];
    this.#deck = shuffled(this.#random, [...kills, stop, drain, deadAck, stoppedCommit, ...rare]);
  }
}
