/** A small random generator that a seed repeats (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number from 1 to `most`. */
export function upTo(random: () => number, most: number): number {
  return 1 + Math.floor(random() * most);
}

/** One of them; undefined if there is none. */
export function oneOf<Thing>(random: () => number, things: readonly Thing[]): Thing | undefined {
  return things[Math.floor(random() * things.length)];
}

/** The same in another order. */
export function shuffled<Thing>(random: () => number, things: readonly Thing[]): Thing[] {
  return things
    .map((thing) => ({ thing, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ thing }) => thing);
}
