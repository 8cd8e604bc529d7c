/** An ordered set that gives its least member: adding, removing and the least one cost O(log n). Equal members are told apart by identity. */
export class Heap<T extends object> {
  readonly #isBefore: (one: T, other: T) => boolean;
  readonly #items: T[] = [];
  readonly #places = new Map<T, number>();

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    this.#places.set(item, this.#items.length);
    this.#items.push(item);
    this.#rise(this.#items.length - 1);
  }

  remove(item: T): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#set(place, last);
    this.#rise(place);
    this.#sink(this.#places.get(last) ?? place);
  }

  /** Looks at the members in order and gives those to `take`, at most `limit`; looking ends at the first that says `stop`. */
  select(limit: number, choose: (item: T) => 'take' | 'skip' | 'stop'): readonly T[] {
    const seen: T[] = [];
    const taken: T[] = [];
    for (let item = this.first; item !== undefined && taken.length < limit; item = this.first) {
      const choice = choose(item);
      if (choice === 'stop') break;
      this.remove(item);
      seen.push(item);
      if (choice === 'take') taken.push(item);
    }
    for (const item of seen) this.add(item);
    return taken;
  }

  #rise(from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#swapIfBefore(place, parent)) return;
      place = parent;
    }
  }

  #sink(from: number): void {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      const right = left + 1;
      const least = right < this.#items.length && this.#isLess(right, left) ? right : left;
      if (least >= this.#items.length || !this.#swapIfBefore(least, place)) return;
      place = least;
    }
  }

  #isLess(one: number, other: number): boolean {
    const [a, b] = [this.#items[one], this.#items[other]];
    return a !== undefined && b !== undefined && this.#isBefore(a, b);
  }

  #swapIfBefore(one: number, other: number): boolean {
    const [a, b] = [this.#items[one], this.#items[other]];
    if (a === undefined || b === undefined || !this.#isBefore(a, b)) return false;
    this.#set(other, a);
    this.#set(one, b);
    return true;
  }

  #set(place: number, item: T): void {
    this.#items[place] = item;
    this.#places.set(item, place);
  }
}
