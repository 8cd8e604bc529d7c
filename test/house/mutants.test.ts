import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countOf, guardedRules, plant, promiseIds } from '../../proof/mutants/mutation.ts';
import { mutations } from '../../proof/mutants/mutations.ts';
import { chapterIn, DOCUMENT, headingOf, rowsIn, withChapter } from '../../proof/mutants/report.ts';
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
    const told = [...rowsIn(chapterIn(textOf(DOCUMENT), headingOf(undefined)) ?? '').keys()];
    expect(told.toSorted()).toEqual(mutations.map(({ name }) => name).toSorted());
  });

  test('are refused when the source has moved away from them', () => {
    const [mutation] = mutations;
    if (mutation === undefined) return expect.unreachable('there are mutations');
    expect(plant(mutation, `a ${mutation.find} b`)).toBe(`a ${mutation.replace} b`);
    for (const text of ['', `${mutation.find}${mutation.find}`]) expect(() => plant(mutation, text)).toThrow(mutation.name);
  });

  test('are written over the chapter before, and nothing else is', () => {
    const [whole, below] = [headingOf(undefined), headingOf('chaos')];
    const first = withChapter('# Proof\n\n## Other\n\nkept\n', `${whole}\n\none\n`);
    expect(first).toBe(`# Proof\n\n## Other\n\nkept\n\n${whole}\n\none\n`);
    const second = withChapter(`${first}\n## Last\n\nkept\n`, `${below}\n\ntwo\n`);
    expect(second).toBe(`${first}\n${below}\n\ntwo\n\n## Last\n\nkept\n`);
    expect(withChapter(second, `${whole}\n\nthree\n`)).toBe(second.replace('one', 'three'));
    expect(withChapter(second, `${below}\n\nfour\n`)).toBe(second.replace('two', 'four'));
    expect(chapterIn(second, whole)).not.toContain('two');
  });
});
