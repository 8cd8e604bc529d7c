import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { parseChaosOptions } from '../../proof/chaos/options.ts';
import { FAULTS, RULES } from '../../proof/chaos/reached.ts';
import { chaosStores } from '../../proof/chaos/store.ts';

const cycles = Number(process.env['CHORUS_KILLS'] ?? 3);
const seed = Number(process.env['CHORUS_SEED'] ?? Date.now() % 1_000_000);

/** From so many kills on two replicas at once may be down. */
const CYCLES_FOR_TWO_HANDS = 20;

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** `npm run chaos`, to its end. */
function chaos(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'proof/chaos.ts', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (piece) => (output += String(piece)));
  child.stderr.on('data', (piece) => {
    errors += String(piece);
    if (process.env['CHORUS_VERBOSE']) process.stderr.write(String(piece));
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output, errors })));
}

describe.each(chaosStores)(`$name: ${cycles} kills of random replicas under load, seed ${seed}`, ({ name }) => {
  test(
    'break no promise, and every turn is settled within lease + 1.5 s (P1 to P9)',
    async () => {
      const replicas = cycles < CYCLES_FOR_TWO_HANDS ? 3 : 4;
      const flags = { store: name, cycles, replicas, seed };
      const { code, output, errors } = await chaos(...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]));
      const line = output.trimEnd().split('\n').at(-1) ?? '';
      console.log(line);
      expect(code, `${errors}\n${output}`).toBe(0);
      // what the exit status says, the summary says too: everything was done and met, and nothing was broken
      const { violations, failures, kills, faults, rules } = JSON.parse(line) as Record<string, unknown>; // looked at below
      expect({ violations, failures }).toEqual({ violations: 0, failures: [] });
      expect((kills as { killed: number }).killed).toBeGreaterThanOrEqual(cycles);
      const reached = { ...(faults as object), ...(rules as object) };
      expect(Object.keys(reached)).toEqual([...FAULTS, ...RULES]);
      for (const [what, count] of Object.entries(reached)) expect(count, what).toBeGreaterThan(0);
    },
    600_000 + cycles * 25_000,
  );
});

describe('the command line of a run', () => {
  test.each([
    [['--store', 'paper'], /--store: sqlite was expected, paper came/],
    [['--minutes', 'soon'], /--minutes: a number was expected, soon came/],
    [['--replicas', '1'], /--replicas: 3 or more were expected, 1 came/],
    [['--disk', 'floppy'], /--disk: tmpfs or limit was expected, floppy came/],
    [['--colour', 'red'], /--colour/],
  ])('says in a line what is wrong with %j', (args, says) => {
    expect(() => parseChaosOptions(args, 1)).toThrow(says);
  });

  test('gives a minute, three replicas and the seed of the moment to who says nothing; kills have no time', () => {
    expect(parseChaosOptions([], 7)).toMatchObject({ minutes: 1, cycles: undefined, replicas: 3, seed: 7 });
    expect(parseChaosOptions(['--cycles', '9', '--seed', '8'], 7)).toMatchObject({ minutes: undefined, cycles: 9, seed: 8 });
    expect(parseChaosOptions(['--help'], 7)).toBeUndefined();
  });
});
