import type { Random } from './random.ts';

/** How long to wait before another try. */
export interface Backoff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Exponential delay of try number `attempt` (from 0), half of it chance, so that many waiters do not return together. */
export function backoffMs({ firstMs, mostMs }: Backoff, attempt: number, random: Random): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(attempt, 30));
  return full / 2 + (full / 2) * random.fraction();
}
