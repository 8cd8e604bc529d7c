import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countOf, guardedRules, promiseIds } from '../../proof/mutants/mutation.ts';
import { mutations } from '../../proof/mutants/mutations.ts';
import { DOCUMENT } from '../../proof/mutants/report.ts';
import { readSources, root } from './sources.ts';

// `npm run proof:mutants` plants them; here is only seen to it that it still can
describe('the planted faults', () => {
  const textOf = (file: string): string => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');

  test('each change a text that stands exactly once in its file', () => {
    const lost = mutations.flatMap(({ name, file, find, replace }) => {
      const count = countOf(textOf(file), find);
      return count === 1 && find !== replace ? [] : [`${name}: ${file}: its text stands there ${count} times`];
    });
    expect(lost).toEqual([]);
  });

  test('each have a name of their own and somebody who shall catch them', () => {
    expect(mutations.map(({ name }) => name).toSorted()).toEqual([...new Set(mutations.map(({ name }) => name))].toSorted());
    expect(mutations.filter(({ caughtBy, breaks }) => caughtBy.length === 0 || breaks.length === 0)).toEqual([]);
    const catchers = mutations.flatMap(({ caughtBy }) => caughtBy);
    expect(catchers.map(({ file }) => file).filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test('take every promise and every ⚖ rule away at least once', () => {
    const broken = new Set(mutations.flatMap(({ breaks }) => breaks));
    expect([...promiseIds, ...Object.keys(guardedRules)].filter((id) => !([...broken] as readonly string[]).includes(id))).toEqual([]);
  });

  test('are caught by tests that are there under that name', () => {
    const tests = readSources('test', 'src/testing')
      .map(({ text }) => text.replaceAll("\\'", "'"))
      .join('\n');
    const names = mutations.flatMap(({ caughtBy }) => caughtBy.flatMap(({ name }) => name ?? []));
    expect(names.filter((name) => !tests.includes(name))).toEqual([]);
  });

  test(`are all told in ${DOCUMENT}, and no others`, () => {
    const told = [...textOf(DOCUMENT).matchAll(/^\| `([a-z0-9-]+)` +\|/gm)].map((match) => match[1] ?? '');
    expect(told.toSorted()).toEqual(mutations.map(({ name }) => name).toSorted());
  });
});
