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

/** A figure that is held against a bound. */
export interface Mark {
  /** Its name among the figures. */
  readonly name: string;
  /** What it says, in words. */
  readonly what: string;
  readonly bound: Bound;
  /** Where a quick run measures something smaller. */
  readonly quickBound?: Bound;
}

export type Bound = { readonly atMost: number } | { readonly atLeast: number };

/** What `npm run bench -- NAME` measures, and what `docs/performance.md` says of it. */
export interface Bench {
  /** What is measured, in one line. */
  readonly title: string;
  readonly marks: readonly Mark[];
  /** Figures that are reported without a bound, with their words. */
  readonly reported: Readonly<Record<string, string>>;
  /** How it was measured. */
  readonly how: string;
  /** What limits it. */
  readonly limit: string;
  measure(options: BenchOptions): Promise<Figures>;
}

/** Three significant digits: more would be noise. */
export const rounded = (value: number): number => Number(value.toPrecision(3));

/** The middle one of several measurements: one disturbed window does not count. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** The value below which this share of the measurements lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
