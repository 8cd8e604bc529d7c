import type { Bench, Bound, Effort, Figures, Mark } from './figures.ts';

/** Cells of a bar from nothing to the mark, and as many beyond it. */
const CELLS = 10;

const boundOf = ({ bound, quickBound }: Mark, effort: Effort): Bound => (effort === 'full' ? bound : (quickBound ?? bound));

const limitOf = (bound: Bound): number => ('atMost' in bound ? bound.atMost : bound.atLeast);

/** True when a figure keeps to its bound. */
export function isReached(value: number, bound: Bound): boolean {
  return 'atMost' in bound ? value <= bound.atMost : value >= bound.atLeast;
}

/** A bar whose line is the mark; ▶ when it leaves the picture. A mark of 0 has no length to compare with: its bar is empty or full. */
export function bar(value: number, bound: Bound): string {
  const limit = limitOf(bound);
  const share = limit === 0 ? (value > 0 ? Number.POSITIVE_INFINITY : 0) : value / limit;
  const cells = Math.min(2 * CELLS, Math.round(share * CELLS));
  const filled = Array.from({ length: 2 * CELLS }, (_, cell) => (cell < cells ? '█' : '·')).join('');
  const end = share > 2 ? '▶' : ' ';
  return `${filled.slice(0, CELLS)}│${filled.slice(CELLS)}${end}`.trimEnd();
}

const printed = (value: number): string => (Math.abs(value) >= 1_000 ? Math.round(value).toLocaleString('en-US') : String(value));

function markRow(name: string, mark: Mark, value: number, effort: Effort): string {
  const bound = boundOf(mark, effort);
  const wanted = `${'atMost' in bound ? '≤' : '≥'} ${printed(limitOf(bound))}`;
  const verdict = isReached(value, bound) ? 'reached' : '**missed**';
  return `| ${name} | ${mark.what} (\`${mark.name}\`) | ${printed(value)} | ${wanted} | \`${bar(value, bound)}\` | ${verdict} |`;
}

function rowsOf(name: string, bench: Bench, figures: Figures | undefined, effort: Effort): readonly string[] {
  if (figures === undefined) return [`| ${name} | ${bench.title} | | | | **failed** |`];
  return bench.marks.map((mark) => markRow(name, mark, Number(figures[mark.name] ?? Number.NaN), effort));
}

function sectionOf(name: string, bench: Bench, figures: Figures | undefined): string {
  const reported = Object.entries(bench.reported).map(([key, words]) => {
    const value = figures?.[key];
    return `| ${words} | ${typeof value === 'number' ? printed(value) : (value ?? '–')} |`;
  });
  const beside = figures?.peer === undefined ? '' : ` The peer: ${printed(figures.peer)} ${figures.unit}.`;
  const ours = figures === undefined ? '' : `Ours: ${printed(figures.chorus)} ${figures.unit}.${beside}`;
  return [
    `## ${name}: ${bench.title}`,
    ours,
    `**How.** ${bench.how}`,
    `**What limits it.** ${bench.limit}`,
    ...(reported.length > 0 ? [['| reported | |', '|---|---|', ...reported].join('\n')] : []),
  ]
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
}

/** What the page says beside the figures. */
export interface PageParts {
  readonly effort: Effort;
  readonly machine: string;
}

/** The page with the table of all marks, a bar for each, and how each was measured. */
export function printPage(
  benches: Readonly<Record<string, Bench>>,
  all: Readonly<Record<string, Figures | undefined>>,
  { effort, machine }: PageParts,
): string {
  const named = Object.entries(benches);
  const flag = effort === 'full' ? '' : ` -- --${effort}`;
  const command = `npm run bench${flag}`;
  return `${[
    '# Performance',
    `Written by \`${command}\`; \`npm run bench -- NAME [--quick] [--profile]\` measures one name again. Machine: ${machine}.`,
    'What counts are ratios: two things measured in the same run, in turns, after the same warm-up; each figure is the median of its rounds. ' +
      '“Peer” is the official `@a2a-js/sdk` 1.3.0 as its own samples set it up. Absolute numbers are of this machine and no other. ' +
      'A shared machine disturbs some figures more than others: run it on a quiet one.',
    'In a bar `│` is the mark: where it says ≤, the bar shall end at or before it; where it says ≥, it shall reach it. `▶` is beyond twice the mark.',
    [
      '| name | what | measured | mark | | |',
      '|---|---|---:|---:|---|---|',
      ...named.flatMap(([name, bench]) => rowsOf(name, bench, all[name], effort)),
    ].join('\n'),
    ...named.map(([name, bench]) => sectionOf(name, bench, all[name])),
  ].join('\n\n')}\n`;
}
