import { unavailable } from '../protocol/errors.ts';

/**
 * What is smaller is passed over: there are no more of those than connections, and counting each would cost every call. So long may a piece
 * of an answer be, too, before a mount cuts it.
 */
export const SMALL_BYTES = 65_536;

/** How much of one thing may be held at once. */
export interface ByteLimits {
  readonly what: string;
  readonly most: number;
  /** Of one named caller. The anonymous caller is everybody, it has only the first limit. */
  readonly mostPerCaller: number;
}

/**
 * Counts the bytes that large bodies and answers hold while somebody sends or takes them: a caller that is slow at it, or stops, costs what
 * is its share and no more, however many connections it has (P11).
 */
export class Bytes {
  readonly #limits: ByteLimits;
  readonly #byCaller = new Map<string, number>();
  #inUse = 0;

  constructor(limits: ByteLimits) {
    this.#limits = limits;
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** Begins to count for one body or answer; nothing is held yet. */
  hold(caller: string | undefined): Hold {
    return new Hold(this, caller);
  }

  /** Takes or gives back; UNAVAILABLE beyond a limit (SEC-16). Whoever holds nothing but this may hold more: a large task can still be read. */
  move(caller: string | undefined, { from, to }: Step): void {
    const { what, most, mostPerCaller } = this.#limits;
    const others = this.#inUse - from;
    const ofCaller = caller === undefined ? 0 : (this.#byCaller.get(caller) ?? 0) - from;
    if (to > from && others > 0 && others + to > most)
      throw unavailable(`This replica holds ${most} bytes of ${what} already; try again.`, RETRY_MS);
    if (to > from && ofCaller > 0 && ofCaller + to > mostPerCaller)
      throw unavailable(`You have ${mostPerCaller} bytes of ${what} already; let one end and try again.`, RETRY_MS);
    this.#inUse = others + to;
    if (caller === undefined) return;
    if (ofCaller + to > 0) this.#byCaller.set(caller, ofCaller + to);
    else this.#byCaller.delete(caller); // or every caller ever seen would stay here
  }
}

/** When a caller may come back: a stalled one is cut within a minute, most are done much sooner. */
const RETRY_MS = 2_000;

interface Step {
  readonly from: number;
  readonly to: number;
}

/** The bytes of one body or answer. */
export class Hold {
  readonly #owner: Bytes;
  readonly #caller: string | undefined;
  #held = 0;

  constructor(owner: Bytes, caller: string | undefined) {
    this.#owner = owner;
    this.#caller = caller;
  }

  /** There are so many now. Throws UNAVAILABLE when that is too much; what was held before is held still. */
  set(bytes: number): void {
    const to = bytes > SMALL_BYTES ? bytes : 0;
    if (to === this.#held) return;
    this.#owner.move(this.#caller, { from: this.#held, to });
    this.#held = to;
  }

  /** Gives all back; twice is fine. */
  release(): void {
    this.set(0);
  }
}
