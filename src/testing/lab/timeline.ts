/** A stretch of the lab's time; without an end while it lasts. */
interface Stretch {
  readonly from: number;
  to?: number;
}

/**
 * When a replica was in order, and when it was not there at all. Promises with a time in them hold while somebody can keep them: a count of
 * silence starts anew when a look fails, so only the longest stretch without any trouble counts.
 */
export class Timeline {
  readonly #good: Stretch[] = [];
  readonly #down: (Stretch & { readonly how: string })[] = [];

  /** It is in order from now on, or not any more. */
  good(isGood: boolean, now: number): void {
    const last = this.#good.at(-1);
    const isOpen = last !== undefined && last.to === undefined;
    if (isGood === isOpen) return;
    if (isOpen) last.to = now;
    else this.#good.push({ from: now });
  }

  /** Something went wrong in a moment: what was counted before it does not count. */
  disturb(now: number): void {
    const last = this.#good.at(-1);
    if (last === undefined || last.to !== undefined) return;
    last.to = now;
    this.#good.push({ from: now });
  }

  /** It stops being there. */
  goDown(how: string, now: number): void {
    if (this.#down.at(-1)?.to !== undefined || this.#down.length === 0) this.#down.push({ from: now, how });
    this.good(false, now);
  }

  /** A sign of life of it came late: for the others it was there until now. */
  seem(now: number): void {
    const last = this.#down.at(-1);
    if (last === undefined || last.to !== undefined) return;
    last.to = now;
    this.#down.push({ from: now, how: last.how });
  }

  /** It is there again. */
  comeBack(now: number): void {
    const last = this.#down.at(-1);
    if (last !== undefined && last.to === undefined) last.to = now;
    this.good(true, now);
  }

  /** The longest time without trouble between two moments. */
  longestGood(from: number, to: number): number {
    return Math.max(0, ...this.#good.map((one) => Math.min(one.to ?? to, to) - Math.max(one.from, from)));
  }

  /** When it was not there, between two moments. */
  downBetween(from: number, to: number): readonly { readonly from: number; readonly to: number; readonly how: string }[] {
    return this.#down
      .map((one) => ({ from: Math.max(one.from, from), to: Math.min(one.to ?? to, to), how: one.how }))
      .filter((one) => one.to > one.from);
  }
}
