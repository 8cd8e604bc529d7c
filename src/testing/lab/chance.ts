import type { Random } from '../../ground/random.ts';

/** Chance from a seed: the same seed gives the same numbers, on every machine. */
export class Chance implements Random {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = seed | 0;
    this.#state = this.#seed;
  }

  /** A number in [0, 1), by mulberry32. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** A whole number between the two, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True so often. */
  happens(probability: number): boolean {
    return probability > 0 && this.fraction() < probability;
  }

  /** One of them; undefined of none. */
  pick<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)];
  }

  /** One of the names, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const names = Object.keys(weights) as K[]; // a record made of literals: its own keys are its names
    const sum = names.reduce((total, name) => total + weights[name], 0);
    let left = this.fraction() * sum;
    const found = names.find((name) => (left -= weights[name]) < 0) ?? names.at(-1);
    if (found === undefined) throw new TypeError('There is nothing to choose from.');
    return found;
  }

  uuid(): string {
    const word = (): string =>
      Math.floor(this.fraction() * 4_294_967_296)
        .toString(16)
        .padStart(8, '0');
    const [a, b, c, d] = [word(), word(), word(), word()];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
  }

  /**
   * Chance of its own for a part of the lab. What one part draws then moves nothing in the others: a fault more or less leaves the load as
   * it was, and a trace can be compared with the one before.
   */
  fork(name: string): Chance {
    let mixed = this.#seed ^ 0x811c9dc5;
    for (let at = 0; at < name.length; at++) mixed = Math.imul(mixed ^ name.charCodeAt(at), 0x01000193);
    return new Chance(mixed ^ (mixed >>> 13));
  }
}
