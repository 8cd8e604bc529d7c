import type { EntryRow } from '../log/entry.ts';

/** How much one read may carry. The first row always fits, however large: a reader behind it could never go on. */
export class Budget {
  #entries: number;
  #bytes: number;
  #isTouched = false;

  constructor(limits: { readonly entriesMax: number; readonly bytesMax: number }) {
    this.#entries = limits.entriesMax;
    this.#bytes = limits.bytesMax;
  }

  /** True when there is no use in looking for more. */
  get isSpent(): boolean {
    return this.#isTouched && (this.#entries <= 0 || this.#bytes <= 0);
  }

  /** How many rows may come at most. */
  get entriesLeft(): number {
    return this.#isTouched ? this.#entries : Math.max(1, this.#entries);
  }

  /** How many rows of this size would fit. */
  guess(bytesEach: number): number {
    return Math.ceil(this.#bytes / Math.max(1, bytesEach));
  }

  /** Takes rows in order until one does not fit. Undefined if not even the first fits: that is not the same as "there is none". */
  take(rows: Iterable<EntryRow>): readonly EntryRow[] | undefined {
    const taken: EntryRow[] = [];
    for (const row of rows) {
      if (!this.#fits(row)) return taken.length === 0 ? undefined : taken;
      taken.push(row);
    }
    return taken;
  }

  #fits({ body }: EntryRow): boolean {
    if (this.#isTouched && (this.#entries < 1 || this.#bytes < body.length)) return false;
    this.#isTouched = true;
    this.#entries -= 1;
    this.#bytes -= body.length;
    return true;
  }
}
