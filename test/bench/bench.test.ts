import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { benches } from '../../bench/benches.ts';
import { median } from '../../bench/figures.ts';
import type { Bench, Figures } from '../../bench/figures.ts';
import { bar, isReached, printPage } from '../../bench/page.ts';
import { root } from '../house/sources.ts';

describe('npm run bench', () => {
  test.each(Object.keys(benches))('%s ends with one line of JSON that has a figure for each mark', (name) => {
    const { stdout, status } = spawnSync('npm', ['run', '--silent', 'bench', '--', name, '--smoke'], { cwd: root, encoding: 'utf8' });
    expect(status).toBe(0);
    const figures: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(figures).toMatchObject({ name, unit: expect.any(String), chorus: expect.any(Number) });
    const { marks = [], reported = {} } = benches[name] ?? {};
    for (const mark of marks) expect(figures, mark.name).toHaveProperty(mark.name, expect.any(Number));
    for (const key of Object.keys(reported)) expect(figures, key).toHaveProperty(key);
  });

  test('says which names there are', () => {
    const { stderr, status } = spawnSync('npm', ['run', '--silent', 'bench', '--', 'speed'], { cwd: root, encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toContain(`one of ${Object.keys(benches).join(', ')} was expected, "speed" came`);
  });

  test('takes the middle one of several measurements', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([1, 2, 3, 10])).toBe(2.5);
  });
});

describe('the page of all benches', () => {
  const bench: Bench = {
    title: 'something',
    marks: [
      { name: 'cost', what: 'its cost', bound: { atMost: 2 } },
      { name: 'rate', what: 'its rate', bound: { atLeast: 100 }, quickBound: { atLeast: 50 } },
    ],
    reported: { perSecond: 'a second' },
    how: 'with care.',
    limit: 'the disk.',
    measure: () => Promise.reject(new Error('not measured here')),
  };
  const figures: Figures = { chorus: 12_345, unit: 'pieces/s', cost: 1, rate: 60, perSecond: 7 };

  test('has a row with a bar for each mark, and says which are missed', () => {
    const page = printPage({ one: bench }, { one: figures }, { effort: 'full', machine: 'a machine' });
    expect(page).toContain('| one | its cost (`cost`) | 1 | ≤ 2 | `█████·····│··········` | reached |');
    expect(page).toContain('| one | its rate (`rate`) | 60 | ≥ 100 | `██████····│··········` | **missed** |');
    expect(page).toContain('Ours: 12,345 pieces/s.');
    expect(page).toContain('| a second | 7 |');
  });

  test('holds a quick run to what a quick run measures', () => {
    const page = printPage({ one: bench }, { one: figures }, { effort: 'quick', machine: 'a machine' });
    expect(page).toContain('| 60 | ≥ 50 |');
    expect(page).toContain('npm run bench -- --quick');
  });

  test('says that a bench failed, and still tells of the others', () => {
    const page = printPage({ one: bench, other: bench }, { one: undefined, other: figures }, { effort: 'full', machine: 'a machine' });
    expect(page).toContain('| one | something | | | | **failed** |');
    expect(page).toContain('| other | its cost (`cost`) | 1 |');
  });

  test('draws a bar around its mark, and shows what leaves the picture', () => {
    expect(bar(3, { atMost: 2 })).toBe('██████████│█████·····');
    expect(bar(500, { atLeast: 100 })).toBe('██████████│██████████▶');
    expect(bar(0, { atMost: 0 })).toBe('··········│··········');
    expect(bar(1, { atMost: 0 })).toBe('██████████│██████████▶');
    expect(isReached(2, { atMost: 2 })).toBe(true);
    expect(isReached(Number.NaN, { atMost: 2 })).toBe(false);
  });
});
