// Plays the seeds that it is told, one after another.
import type { LabStore } from './options.ts';
import { play, storeOf } from './play.ts';

/** What a worker is told: the seeds to play. */
export interface Errand {
  readonly seeds: readonly number[];
  readonly store: LabStore | undefined;
}

Error.stackTraceLimit = 0; // thousands of errors are thrown on purpose, and a replay of one seed shows where

process.on('message', (errand: Errand) => {
  void (async () => {
    for (const seed of errand.seeds) {
      process.send?.({ kind: 'begins', seed });
      const played = await play(seed, storeOf(seed, errand.store));
      const isBroken = played.violations.length > 0;
      process.send?.({ kind: 'played', played: isBroken ? played : { ...played, trace: [] } });
    }
    process.send?.({ kind: 'idle' });
  })();
});
process.on('disconnect', () => process.exit());
process.send?.({ kind: 'idle' });
