import type { LabRun } from './options.ts';
import type { Played } from './play.ts';

/** What many seeds must have met: without it they have shown nothing about it. */
const MUST_REACH = [
  'takeover',
  'fencing',
  'repeatedKey',
  'lostAnswer',
  'lateCall',
  'gap',
  'cancelRace',
  'handover',
  'interrupt',
  'expiry',
  'drain',
  'reconnect',
  'retry',
  'resume',
  'crash',
  'pause',
  'unlink',
  'jump',
  'forge',
  'wakeLost',
  'wakeDoubled',
  'wakeLate',
  'cut',
  'stranger',
] as const;

/** Fewer seeds are a look at something, not a proof. */
const SEEDS_OF_A_PROOF = 200;
const TRACES_MAX = 1;
const BROKEN_SHOWN_MAX = 20;

/** Prints what was found; gives the exit status. */
export function report(played: readonly Played[], { seeds, isBailing }: LabRun): number {
  const broken = played.filter(({ violations }) => violations.length > 0).toSorted((a, b) => a.seed - b.seed);
  if (seeds === 1) for (const { trace } of played) print(trace);
  else for (const { trace } of broken.filter((one) => one.trace.length > 0).slice(0, TRACES_MAX)) print(trace);
  for (const one of broken.slice(0, BROKEN_SHOWN_MAX)) tell(one);
  if (broken.length > BROKEN_SHOWN_MAX) console.log(`and ${broken.length - BROKEN_SHOWN_MAX} more seeds with violations`);
  const sums = sumOf(played);
  const missing = seeds >= SEEDS_OF_A_PROOF && !(isBailing && broken.length > 0) ? MUST_REACH.filter((mark) => !sums[mark]) : [];
  console.log(
    `reached: ${Object.entries(sums)
      .map(([mark, count]) => `${mark} ${count}`)
      .join(', ')}`,
  );
  if (missing.length > 0) console.log(`never reached: ${missing.join(', ')}`);
  const count = broken.reduce((sum, { violations }) => sum + violations.length, 0);
  console.log(`${played.length} seeds, ${count} violations`);
  return count === 0 && missing.length === 0 && (isBailing || played.length === seeds) ? 0 : 1;
}

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(line);
}

function tell({ seed, store, violations }: Played): void {
  for (const { promise, says } of violations) console.log(`violation of ${promise}, seed ${seed} on ${store}: ${says}`);
  console.log(`  replay it: npm run lab -- --seed ${seed} --store ${store}`);
}

function sumOf(played: readonly Played[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { reached } of played) for (const [mark, count] of Object.entries(reached)) sums[mark] = (sums[mark] ?? 0) + count;
  return Object.fromEntries(Object.entries(sums).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
