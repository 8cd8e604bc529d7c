// Writes the chapter "Real processes" of docs/proof.md from what runs have printed: node --import tsx proof/chaos/chapter.ts OUTPUT…
import { readFileSync, writeFileSync } from 'node:fs';
import { FAULTS, RULES, sentenceOf } from './reached.ts';
import type { Summary } from './report.ts';

const DOCUMENT = 'docs/proof.md';
const HEADING = '## Real processes';

const INTRODUCTION = `\`npm run chaos -- --minutes M\` (or \`--cycles K\`: so many kills) starts replicas as processes of the operating system on one SQLite file, with a
round-robin front before them, and users who send, stream, leave, come back with their cursor, answer, race each other, cancel, enqueue,
interrupt and repeat under their keys. Meanwhile replicas are killed, stopped, drained, stopped inside a commit, made to die between a commit
and its answer, and given a full disk. Each minute everything comes to rest, and all that anybody saw is held against the logs, by a checker
that knows nothing of how replicas work (\`src/testing/checker.ts\`). The command ends with 0 only if no promise was broken, every fault and every
rule below was reached, and nine of ten kills could be judged: one whose turns were settled late by the clock on the wall, and in time without
the moments in which the machine itself stood still, counts neither way. \`--seed S\` repeats what is done, though not the moments. A short run is
part of the tests: \`test/replicas/kill-cycles.test.ts\` — "break no promise, and every turn is settled within lease + 1.5 s (P1 to P9)". This
chapter is written by \`proof/chaos/chapter.ts\`, from what the runs printed.`;

function summaryIn(file: string): Summary {
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .findLast((one) => one.startsWith('{"'));
  if (line === undefined) throw new Error(`${file}: no run has come to its end here`);
  return JSON.parse(line) as Summary; // as the report prints it
}

function row(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}

function chapterOf(runs: readonly Summary[]): string {
  const line = (what: string, tell: (run: Summary) => string | number): string => row([what, ...runs.map(tell)]);
  const rule = `|${' --- |'.repeat(runs.length + 1)}`;
  const sums = [
    line('asked for', ({ asked }) => asked),
    rule,
    line('seed, replicas, Node', ({ seed, replicas, node }) => `${seed}, ${replicas}, ${node}`),
    line('violations', ({ violations }) => violations),
    line('minutes', ({ seconds }) => Math.round(seconds / 60)),
    line('kills, of them judged', ({ kills }) => `${kills.killed}, ${kills.judged}`),
    line('kill to settled, ms: p50, p99, most (limit 3,500)', ({ settledMs: { p50, p99, max } }) => `${p50}, ${p99}, ${max}`),
    line('tasks, entries', ({ judged }) => `${judged.tasks}, ${judged.entries}`),
    line('sends, cancels, stream items seen', ({ judged }) => `${judged.sends}, ${judged.cancels}, ${judged.items}`),
    line('heap of the judge, MB: first stretch, most, last', ({ heapMb }) => `${heapMb.first}, ${heapMb.most}, ${heapMb.last}`),
  ];
  const counts = [...FAULTS, ...RULES].map((name) =>
    row([`\`${name}\``, sentenceOf(name), ...runs.map((run) => run.faults[name] ?? run.rules[name] ?? 0)]),
  );
  const head = [row(['reached', 'what it stands for', ...runs.map(({ asked }) => asked)]), `| --- ${rule}`];
  return [HEADING, INTRODUCTION, sums.join('\n'), [...head, ...counts].join('\n')].join('\n\n');
}

/** The document with this chapter in the place of the one before it, or at its end. */
function withChapter(document: string, chapter: string): string {
  const parts = document.split(/^(?=## )/m);
  const at = parts.findIndex((part) => part.startsWith(`${HEADING}\n`));
  const text = `${chapter}\n\n`;
  const placed = at < 0 ? [...parts.map((part) => `${part.trimEnd()}\n\n`), text] : parts.with(at, text);
  return `${placed.join('').trimEnd()}\n`;
}

const files = process.argv.slice(2);
if (files.length === 0) throw new Error('name the files that hold what runs printed');
writeFileSync(DOCUMENT, withChapter(readFileSync(DOCUMENT, 'utf8'), chapterOf(files.map(summaryIn))));
