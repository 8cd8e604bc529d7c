import type { Catch } from './hunt.ts';
import type { CatcherKind, Mutation } from './mutation.ts';
import { commandOf } from './verdict.ts';

/** The document that this proof writes its chapters into. */
export const DOCUMENT = 'docs/proof.md';

/** The chapter of a whole run, or of one that asked catchers of one kind alone. */
export function headingOf(by: CatcherKind | undefined): string {
  return by === undefined ? '## Planted faults' : `### Found by ${names[by]} alone`;
}

const names: Readonly<Record<CatcherKind, string>> = {
  suite: 'the suites',
  model: 'the model',
  lab: 'the lab',
  chaos: 'real processes',
};

/** How a fault is told, with what noticed it and how long that took. */
export function lineOf({ mutation, caught, notes }: Catch): string {
  if (caught === undefined) return [`SURVIVED  ${mutation.name}: ${mutation.does}`, ...notes.map((note) => `          ${note}`)].join('\n');
  return `caught    ${mutation.name}  ${seconds(caught.ms)}  ${commandOf(caught.by)}`;
}

/** The chapter: every fault, what it takes away, and what caught it. Rows of `before` stay where nothing new is known. */
export function chapterOf(order: readonly string[], { catches, by, before }: ChapterParts): string {
  const rows = new Map([...rowsIn(before ?? ''), ...catches.map((one) => [one.mutation.name, rowOf(one)] as const)]);
  const told = order.flatMap((name) => rows.get(name) ?? []);
  const introduction =
    by === undefined ? introductionTo(told.length) : `\`npm run proof:mutants -- --by ${by}\`: with no other test in between.`;
  return `${headingOf(by)}\n\n${introduction}\n\n| fault | what it does | breaks | caught by |\n| --- | --- | --- | --- |\n${told.join('\n')}\n`;
}

/** What a chapter is made of. */
export interface ChapterParts {
  readonly catches: readonly Catch[];
  readonly by: CatcherKind | undefined;
  /** The chapter as it stands. */
  readonly before: string | undefined;
}

function introductionTo(count: number): string {
  return `Machinery that finds nothing may be blind. So ${count} faults are planted, one at a time, in a copy of the sources; each takes one rule
of the core away, and each has to be noticed by a test that passes without it. \`npm run proof:mutants\` does it anew and ends with 0 only
if all were caught, each by one command in less than a minute; \`-- --sample K\` plants K of them at random, \`-- --only NAME\` one, and
\`-- --by lab\` (\`model\`, \`chaos\`) asks only that machinery about those that it has to find by itself. What does not compile is no fault,
and a test that does not run catches nothing. \`-- --write\` writes these chapters, with \`--only\` one row of them.`;
}

/** The rows of a chapter by the names of their faults. */
export function rowsIn(chapter: string): ReadonlyMap<string, string> {
  return new Map([...chapter.matchAll(/^\| `([a-z0-9-]+)` \|.*$/gm)].map((match) => [match[1] ?? '', match[0]]));
}

function rowOf({ mutation, caught }: Catch): string {
  const cells = [`\`${mutation.name}\``, mutation.does, breaksOf(mutation), caught === undefined ? 'nothing' : commandCell(caught)];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The document with this chapter in the place of the one before it; a new one stands at the end of the planted faults. */
export function withChapter(document: string, chapter: string): string {
  const heading = chapter.slice(0, chapter.indexOf('\n'));
  const [from, to] = placeOf(document, heading) ?? placeOf(document, headingOf(undefined), '\n## ') ?? [document.length, document.length];
  const isNew = !document.startsWith(`${heading}\n`, from);
  const before = document.slice(0, isNew ? to : from).trimEnd();
  const after = document.slice(to).trimStart();
  return `${before}\n\n${chapter}${after === '' ? '' : `\n${after}`}`;
}

/** The text of a chapter, without those below it; undefined if there is none. */
export function chapterIn(document: string, heading: string): string | undefined {
  const place = placeOf(document, heading);
  return place && document.slice(...place);
}

function placeOf(document: string, heading: string, end = '\n##'): readonly [from: number, to: number] | undefined {
  const from = `\n${document}`.indexOf(`\n${heading}\n`);
  if (from < 0) return undefined;
  const to = document.indexOf(end, from + heading.length);
  return [from, to < 0 ? document.length : to];
}

/** Promises by their number, ⚖ rules by their name. */
const breaksOf = ({ breaks }: Mutation): string => breaks.map((id) => (/^P\d+$/.test(id) ? id : `⚖ ${id}`)).join(', ');

function commandCell({ by, test }: NonNullable<Catch['caught']>): string {
  const isSuite = by.kind === 'suite' || by.kind === 'model';
  // ids are drawn anew in each run
  return `\`${isSuite ? by.file : commandOf(by)}\`: ${isSuite ? test : test.replaceAll(/([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '$1')}`;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
