import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../../proof/leaks/measure.ts';
import { planted } from '../../../proof/leaks/planted.ts';
import { root } from '../../house/sources.ts';

interface Ended {
  readonly code: number | null;
  readonly verdicts: readonly Verdict[];
  readonly errors: string;
}

/** Runs `npm run leaks` in its short form: a process of its own, whose garbage can be collected and whose objects can be counted. */
function leaks(signal: AbortSignal, ...args: readonly string[]): Promise<Ended> {
  const node = ['--expose-gc', '--disable-warning=ExperimentalWarning', '--import', 'tsx', 'proof/leaks.ts'];
  const child = spawn(process.execPath, [...node, '--quick', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], signal });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      const lines = out.split('\n').filter((line) => line !== '');
      const verdicts = lines.map((line) => JSON.parse(line) as Verdict); // the program writes one a line
      resolve({ code, verdicts, errors });
    });
  });
}

const minutes = 60_000;

describe('a replica that lives on', () => {
  test(
    'keeps nothing of subscriptions that were cut, of short tasks, of readers that never read, and of a day, in memory (P11, case 79, case 100)',
    { timeout: 10 * minutes },
    async ({ signal }) => {
      const { code, verdicts, errors } = await leaks(signal, '--store', 'memory');
      expect(verdicts.flatMap(({ scenario, faults }) => faults.map((fault) => `${scenario}: ${fault}`))).toEqual([]);
      expect([code, errors]).toEqual([0, '']); // an unhandled rejection, or a warning of too many listeners, would be here
      expect(verdicts.map(({ scenario, cycles }) => [scenario, cycles])).toEqual([
        ['subscriptions', 10_000],
        ['tasks', 20_000],
        ['readers', 2],
        ['day', 240],
      ]);
    },
  );

  test('nor on a file (P11, case 79, case 100)', { timeout: 10 * minutes }, async ({ signal }) => {
    const { code, verdicts, errors } = await leaks(signal, '--store', 'sqlite');
    expect(verdicts.flatMap(({ scenario, faults }) => faults.map((fault) => `${scenario}: ${fault}`))).toEqual([]);
    expect([code, errors]).toEqual([0, '']);
    expect(verdicts.map(({ scenario }) => scenario)).toEqual(['subscriptions', 'tasks', 'readers', 'day']);
  });

  test('would be seen to keep one object, one closure or one text of each cycle', async ({ signal }) => {
    const { code, verdicts } = await leaks(signal, '--store', 'memory', '--only', planted.map((what) => `planted-${what}`).join(','));
    expect(code).toBe(1);
    expect(verdicts.map(({ scenario, faults }) => [scenario, faults.length > 0])).toEqual(planted.map((what) => [`planted-${what}`, true]));
  });
});
