import { unavailable } from '../protocol/errors.ts';

/** How many of one thing may be in use at once. */
export interface SlotLimits {
  readonly what: string;
  readonly most: number;
  /** Of one named caller. The anonymous caller is everybody, it has only the first limit. */
  readonly mostPerCaller: number;
}

/** Counts what is in use, so that neither one caller nor all together take more than this replica can carry. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #byCaller = new Map<string, number>();
  #inUse = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** Takes one; UNAVAILABLE if none is left (SEC-16). What comes back gives it back, once. */
  take(caller: string | undefined): () => void {
    const { what, most, mostPerCaller } = this.#limits;
    if (this.#inUse >= most) throw unavailable(`This replica has ${most} ${what} already; try again.`);
    const own = caller === undefined ? 0 : (this.#byCaller.get(caller) ?? 0);
    if (own >= mostPerCaller) throw unavailable(`You have ${mostPerCaller} ${what} already; end one and try again.`);
    this.#inUse += 1;
    if (caller !== undefined) this.#byCaller.set(caller, own + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#inUse -= 1;
      if (caller !== undefined) this.#giveBack(caller);
    };
  }

  #giveBack(caller: string): void {
    const left = (this.#byCaller.get(caller) ?? 1) - 1;
    if (left > 0) this.#byCaller.set(caller, left);
    else this.#byCaller.delete(caller); // or every caller ever seen would stay here
  }
}
