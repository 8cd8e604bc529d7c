/** How much time a bench may take: `quick` stays under 50 s, `smoke` only shows that it runs. */
export type Effort = 'full' | 'quick' | 'smoke';

export interface BenchOptions {
  readonly effort: Effort;
  /** Prints the hottest functions of our server. */
  readonly isProfiled: boolean;
}

/** What the last line of a bench says: our figure, the peer's, their ratio, and one number for each mark. */
export interface Figures {
  readonly chorus: number;
  readonly peer?: number;
  readonly ratio?: number;
  readonly unit: string;
  readonly [mark: string]: number | string | undefined;
}

/** Three significant digits: more would be noise. */
export const rounded = (value: number): number => Number(value.toPrecision(3));

/** The middle one of several measurements: one disturbed window does not count. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}
