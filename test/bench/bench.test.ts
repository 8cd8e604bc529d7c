import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { median } from '../../bench/figures.ts';
import { root } from '../house/sources.ts';

const marks = {
  chunks: ['chorus', 'peer', 'ratio', 'overRaw', 'totalS', 'lastOverSecond'],
  send: ['chorus', 'peer', 'ratio', 'ratioSqlite', 'ratioMemory'],
};

describe('npm run bench', () => {
  test.each(['chunks', 'send'] as const)('%s ends with one line of JSON that has a figure for each mark', (name) => {
    const { stdout, status } = spawnSync('npm', ['run', '--silent', 'bench', '--', name, '--smoke'], { cwd: root, encoding: 'utf8' });
    expect(status).toBe(0);
    const figures: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(figures).toMatchObject({ name, unit: expect.stringMatching(/^(?:chunks|answers)\/s$/) });
    for (const mark of marks[name]) expect(figures, mark).toHaveProperty(mark, expect.any(Number));
  });

  test('says which names there are', () => {
    const { stderr, status } = spawnSync('npm', ['run', '--silent', 'bench', '--', 'speed'], { cwd: root, encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toContain('one of chunks, send was expected, "speed" came');
  });

  test('takes the middle one of several measurements', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([1, 2, 3, 10])).toBe(2.5);
  });
});
