import type { Catch } from './hunt.ts';
import type { Mutation } from './mutation.ts';
import { commandOf } from './verdict.ts';

/** The document and the chapter of it that this proof writes. */
export const DOCUMENT = 'docs/proof.md';
export const HEADING = '## Planted faults';

/** How a fault is told, with what noticed it and how long that took. */
export function lineOf({ mutation, caught, notes }: Catch): string {
  if (caught === undefined) return [`SURVIVED  ${mutation.name}: ${mutation.does}`, ...notes.map((note) => `          ${note}`)].join('\n');
  return `caught    ${mutation.name}  ${seconds(caught.ms)}  ${commandOf(caught.by)}`;
}

/** The chapter: every fault, what it takes away, and what caught it. */
export function chapterOf(catches: readonly Catch[]): string {
  const slowest = Math.max(...catches.map(({ caught }) => caught?.ms ?? 0));
  const byProgram = catches.filter(({ mutation }) => mutation.caughtBy.some(({ kind }) => kind === 'chaos')).length;
  return `${HEADING}

Machinery that finds nothing may be blind. So ${catches.length} faults are planted, one at a time, in a copy of the sources; each takes one rule
of the core away, and each has to be noticed by a test that passes without it. \`npm run proof:mutants\` does it anew and ends with 0 only
if all were caught, each by one command in less than a minute (the slowest here took ${seconds(slowest)}); \`-- --sample K\` plants K of them at random,
\`-- --only NAME\` one, and \`-- --by chaos\` asks the processes under faults alone about the ${byProgram} that they have to find by themselves (\`--by lab\` and
\`--by model\` likewise). What does not compile is no fault, and a test that does not run catches nothing. This chapter is written by \`-- --write\`.

| fault | what it does | breaks | caught by |
| --- | --- | --- | --- |
${catches.map(rowOf).join('\n')}
`;
}

/** The document with this chapter in the place of the one before it, or at its end. */
export function withChapter(document: string, chapter: string): string {
  const from = document.indexOf(`${HEADING}\n`);
  if (from < 0) return `${document.trimEnd()}\n\n${chapter}`;
  const next = document.indexOf('\n## ', from);
  return `${document.slice(0, from)}${chapter}${next < 0 ? '' : document.slice(next)}`;
}

function rowOf({ mutation, caught }: Catch): string {
  return `| ${[`\`${mutation.name}\``, mutation.does, breaksOf(mutation), caught === undefined ? 'nothing' : commandCell(caught)].join(' | ')} |`;
}

/** Promises by their number, ⚖ rules by their name. */
const breaksOf = ({ breaks }: Mutation): string => breaks.map((id) => (/^P\d+$/.test(id) ? id : `⚖ ${id}`)).join(', ');

function commandCell({ by, test }: NonNullable<Catch['caught']>): string {
  const also = by.kind === 'suite' || by.kind === 'model' ? `: ${test}` : '';
  return `\`${by.kind === 'suite' || by.kind === 'model' ? by.file : commandOf(by)}\`${also}`.replaceAll('|', '\\|');
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
