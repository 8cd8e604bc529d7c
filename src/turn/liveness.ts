import type { ReplicaBeat } from '../log/store.ts';

/** When a look at the beats was asked for and when its answer was here, in own monotonic milliseconds. */
export interface Look {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/**
 * Who lives, decided without clocks ⚖: a replica is suspect when its counter stood still for a lease of our own monotonic time, in looks at
 * most two ticks apart. Timestamps would declare the living dead after an outage of the database or a step of its clock; a gap in our own
 * looks says that it was we who were away.
 */
export class Liveness {
  readonly #leaseMs: number;
  readonly #gapMsMax: number;
  readonly #seen = new Map<string, { readonly beat: number; readonly since: number }>();
  #lastSentAt: number | undefined;

  constructor({ leaseMs, tickMs }: { readonly leaseMs: number; readonly tickMs: number }) {
    this.#leaseMs = leaseMs;
    this.#gapMsMax = 2 * tickMs;
  }

  /** Starts every count anew ⚖: an own renew failed, so perhaps nobody can renew, and a store that can only be read kills nobody. */
  reset(): void {
    this.#seen.clear();
  }

  /** For how long the longest count stands at `at`: what a gap before `at` makes void. */
  countedMs(at: number): number {
    return Math.max(0, ...[...this.#seen.values()].map(({ since }) => at - since));
  }

  /** Takes in what a look saw and gives the suspects, each with the beat that it must still have to be declared dead. */
  look(beats: readonly ReplicaBeat[], { sentAt, receivedAt }: Look): readonly ReplicaBeat[] {
    if (this.#lastSentAt !== undefined && sentAt - this.#lastSentAt > this.#gapMsMax) this.#seen.clear();
    this.#lastSentAt = sentAt;
    const suspects: ReplicaBeat[] = [];
    const living = new Set<string>();
    for (const { replica, beat } of beats) {
      living.add(replica);
      const known = this.#seen.get(replica);
      // the first sight counts from its answer, the present one from its question: the time between is certainly within the two reads
      if (known?.beat !== beat) this.#seen.set(replica, { beat, since: receivedAt });
      else if (sentAt - known.since >= this.#leaseMs) suspects.push({ replica, beat });
    }
    for (const replica of this.#seen.keys()) if (!living.has(replica)) this.#seen.delete(replica);
    return suspects;
  }
}
