import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { lastWords, oneStep, readTally, sum } from '../../scripts/tally.ts';
import { root } from './sources.ts';

const folder = join(root, '.cache', `tally-${process.pid}`);
const fixture = `
import { describe, expect, test } from 'vitest';
test('is right', () => expect(1).toBe(1));
test('is wrong', () => expect(1).toBe(2));
test.skip('is left out', () => {});
describe.skip('[needs some-db] rows', () => { test('are kept', () => {}); test('are sorted', () => {}); });
`;

describe('the sum at the end of a run', () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('counts passed, failed and skipped tests, names the missing service, and takes a broken file for a failure, each failure by its name', () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a.test.ts'), fixture);
    writeFileSync(join(folder, 'b.test.ts'), "throw new Error('broken before its first test');\n");
    writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {};\n');
    const file = join(folder, 'tally.json');
    const args = ['run', `--root=${folder}`, `--reporter=${join(root, 'scripts/tally-reporter.ts')}`];
    const env = { ...process.env, CHORUS_TALLY_FILE: file };
    const { status } = spawnSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], { cwd: folder, env });
    expect(status).toBe(1);
    expect(readTally(file)).toEqual({
      passed: 1,
      failed: 2,
      skipped: 3,
      missing: { 'some-db': 2 },
      failures: ['a.test.ts > is wrong: expected 1 to be 2 // Object.is equality', 'b.test.ts: broken before its first test'],
    });
  });

  test('takes a suite that left no tally, or an empty one, for a failure', () => {
    expect(readTally(join(folder, 'nowhere.json'))).toEqual(oneStep('nowhere.json: broke off before its end', false));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'empty.json'), '');
    expect(readTally(join(folder, 'empty.json'))).toEqual(oneStep('empty.json: broke off before its end', false));
  });

  test('adds up suites', () => {
    const total = sum([
      oneStep('format', true),
      { passed: 5, failed: 1, skipped: 2, missing: { db: 2 }, failures: ['a: b'] },
      { passed: 0, failed: 0, skipped: 1, missing: { db: 1 }, failures: [] },
    ]);
    expect(total).toEqual({ passed: 6, failed: 1, skipped: 3, missing: { db: 3 }, failures: ['a: b'] });
    expect(lastWords(total)).toBe('\nSKIPPED for lack of db: 3 tests\nFAILED: a: b\n6 passed, 1 failed, 3 skipped');
  });
});
