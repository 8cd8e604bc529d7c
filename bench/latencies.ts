import { quantile, rounded } from './figures.ts';
import type { Effort, Figures } from './figures.ts';

/** How often a way from one replica to another is gone. */
export const wayPlans: Readonly<Record<Effort, { readonly rounds: number; readonly samples: number }>> = {
  full: { rounds: 25, samples: 200 },
  quick: { rounds: 8, samples: 150 },
  smoke: { rounds: 1, samples: 20 },
};

/** What a way from one replica to another took, beside the floor of the same run. */
export function overFloor(oursMs: readonly number[], floorMs: readonly number[]): Figures {
  const [p50, p99] = [quantile(oursMs, 0.5), quantile(oursMs, 0.99)];
  const [floorP50, floorP99] = [quantile(floorMs, 0.5), quantile(floorMs, 0.99)];
  return {
    chorus: rounded(p50),
    unit: 'ms',
    p50OverFloor: rounded(p50 / floorP50),
    p99OverFloor: rounded(p99 / floorP99),
    p50Ms: rounded(p50),
    p99Ms: rounded(p99),
    floorP50Ms: rounded(floorP50),
    floorP99Ms: rounded(floorP99),
    samples: oursMs.length,
  };
}

/** One round, for people who watch. */
export function printRound(name: string, oursMs: readonly number[], floorMs: readonly number[]): void {
  const told = (values: readonly number[]): string => `p50 ${rounded(quantile(values, 0.5))} ms, p99 ${rounded(quantile(values, 0.99))} ms`;
  console.log(`${name}: ${told(oursMs)}; floor: ${told(floorMs)}`);
}
