import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';

function demo(...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/demo.ts', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (piece) => (output += String(piece)));
  child.stderr.on('data', (piece) => (output += String(piece)));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

describe('npm run demo', () => {
  test('tells the whole story and ends with 0 because every promise was kept', async () => {
    const { code, output } = await demo();
    for (const part of [/canceled on C/, /answers CANCELED/, /resumed on C/, /kill -9 \d+/, /has taken over/, /Every promise was kept/])
      expect(output).toMatch(part);
    expect(output.match(/and every ear hears every line/g)).toHaveLength(1);
    expect(code).toBe(0);
  });

  test('takes any agent file and text, also one that is done before anything can happen to it', async () => {
    const { code, output } = await demo('--agent', 'examples/first.ts', '--text', 'Ada');
    expect(output).toMatch(/Hello, Ada!/);
    expect(output).toMatch(/Every promise was kept/);
    expect(code).toBe(0);
  });

  test('says what is wrong with its flags and ends with 2', async () => {
    const { code, output } = await demo('--speed', 'fast');
    expect(output).toMatch(/--speed/);
    expect(code).toBe(2);
  });
});
