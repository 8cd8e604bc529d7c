import { describe, expect, test } from 'vitest';
import { runChaos } from '../../proof/chaos/run.ts';
import { chaosStores } from '../../proof/chaos/store.ts';

const cycles = Number(process.env['CHORUS_KILLS'] ?? 3);
const seed = Number(process.env['CHORUS_SEED'] ?? Date.now() % 1_000_000);

/** From so many kills on two replicas at once may be down. */
const CYCLES_FOR_TWO_HANDS = 20;

describe.each(chaosStores)(`$name: ${cycles} kills of random replicas under load, seed ${seed}`, (store) => {
  test(
    'break no promise, and every turn is settled within lease + 1.5 s (P1 to P9)',
    async () => {
      const replicas = cycles < CYCLES_FOR_TWO_HANDS ? 3 : 4;
      const tell = (line: string): void => void (process.env['CHORUS_VERBOSE'] && console.log(line));
      const report = await runChaos({ store, cycles, minutes: undefined, replicas, seed, disk: undefined }, tell);
      console.log(JSON.stringify(report.json));
      expect(report.violations).toEqual([]);
      // a verdict over nothing is worth nothing: every fault and every rule was reached, and the kills could be judged
      expect(report.failures).toEqual([]);
    },
    600_000 + cycles * 25_000,
  );
});
