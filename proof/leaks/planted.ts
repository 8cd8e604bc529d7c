import type { Held } from './measure.ts';
import { measure } from './measure.ts';
import type { StoreName } from './stand.ts';

/** What a cycle may forget in the end, one of them each time. */
const plants = {
  object: (): unknown => ({}),
  closure:
    (index: number): unknown =>
    () =>
      index,
  // text is no object: only its weight tells
  text: (index: number): unknown => `${index} ${'x'.repeat(500)}`.toUpperCase(),
};

/** Names of the leaks that can be planted, to see that the measure catches each. */
export const planted: readonly string[] = Object.keys(plants);

/** Cycles that each leave one thing behind. */
export const plant =
  (what: string) =>
  async (_store: StoreName, cycles: number): Promise<readonly Held[]> => {
    const kept = new Set<unknown>();
    const make = Object.entries(plants).find(([name]) => name === what)?.[1] ?? ((): unknown => undefined);
    const points: Held[] = [];
    for (let cycle = 1; cycle <= cycles; cycle++) {
      kept.add(make(cycle));
      if (cycle % (cycles / 4) === 0) points.push(await measure(cycle));
    }
    return kept.size > 0 ? points : [];
  };
