import { Chance } from '../src/testing/lab/chance.ts';

/** Chance from a seed, as a bare function. */
export function seeded(seed: number): () => number {
  const chance = new Chance(seed);
  return () => chance.fraction();
}

/** A whole number from 1 to `most`. */
export function upTo(random: () => number, most: number): number {
  return 1 + Math.floor(random() * most);
}

/** One of them; undefined if there is none. */
export function oneOf<Thing>(random: () => number, things: readonly Thing[]): Thing | undefined {
  return things[Math.floor(random() * things.length)];
}

/** The same in another order, and for the same seed in the same one on every machine. */
export function shuffled<Thing>(random: () => number, things: readonly Thing[]): Thing[] {
  return things
    .map((thing) => ({ thing, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ thing }) => thing);
}
