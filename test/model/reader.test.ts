import { describe, test, vi } from 'vitest';
import type { Verdict } from './explore.ts';
import type { Counterexample } from './proof.ts';
import { expectBreaks, expectHolds } from './proof.ts';
import type { ReaderRules, ReaderTroubles } from './reader.ts';
import { ReaderStage, readerRules } from './reader.ts';
import { exploreRuns } from './runs.ts';

vi.setConfig({ testTimeout: 600_000 });

const full = new Map<string, Promise<Verdict>>();

/** With all rules, once for each kind of trouble. */
function exploreFull(troubles: ReaderTroubles): Promise<Verdict> {
  const name = JSON.stringify(troubles);
  const verdict = full.get(name) ?? exploreRuns(() => new ReaderStage(readerRules, troubles));
  full.set(name, verdict);
  return verdict;
}

async function expectNeeded(troubles: ReaderTroubles, without: Partial<ReaderRules>, counterexample: Counterexample): Promise<void> {
  expectHolds(await exploreFull(troubles));
  expectBreaks(await exploreRuns(() => new ReaderStage({ ...readerRules, ...without }, troubles)), counterexample);
}

const asleep = 'P1: a follower sleeps although its log has grown';

describe('a reader of a log, explored in every order', () => {
  test('with all rules it sees every entry once and in order, with no wake lost it needs no poll, and no wake is believed', async () => {
    expectHolds(await exploreFull({}));
    expectHolds(await exploreFull({ forgedWakes: 1 }), ['FORGED']);
    expectHolds(await exploreFull({ doubledWakes: 1 }), ['DOUBLED']);
    expectHolds(await exploreFull({ lostWakes: 1 }), ['LOST', 'tick:']);
    expectHolds(await exploreFull({ rollbacks: 1 }), ['ROLLBACK']);
    expectHolds(await exploreFull({ cuts: 1 }), ['CUT', 'with cursor 2']);
  });

  test('⚖ wake-after-commit: a wake that comes before its commit wakes a reader for nothing, and nobody else does', async () => {
    await expectNeeded({}, { wakes: 'whenSent' }, { property: asleep, steps: ['wake', 'store: commits'] });
  });

  test('⚖ wake-carries-nothing: an entry of unknown outcome is shown that the log never holds', async () => {
    await expectNeeded(
      { rollbacks: 1 },
      { wakesCarry: true },
      {
        property: 'P2: an entry is shown that is not committed',
        steps: ['ROLLBACK of', 'W: goes on with other words', 'arrives'],
      },
    );
  });

  test('⚖ latch-registered-first: a wake between the first read and the registering wakes nobody', async () => {
    await expectNeeded(
      {},
      { hint: 'registeredAfterRead' },
      { property: asleep, steps: ['store: reads entries above 2', 'store: commits 3', 'wake 3', 'reader: gets entries above 2'] },
    );
  });

  test('⚖ latch-cleared-before-read: a wake during the read is forgotten when it is done', async () => {
    await expectNeeded(
      {},
      { hint: 'clearedAfterRead' },
      { property: asleep, steps: ['store: reads entries above 2', 'store: commits 3', 'wake 3', 'reader: gets entries above 2'] },
    );
  });

  test('⚖ latch-keeps: a wake that comes while nobody waits is dropped', async () => {
    await expectNeeded(
      {},
      { hint: 'droppedUnlessAwaited' },
      { property: asleep, steps: ['store: reads entries above 2', 'store: commits 3', 'wake 3', 'reader: gets entries above 2'] },
    );
  });

  test('⚖ snapshot-one-read: an entry between the two reads of a snapshot is in it, and comes again', async () => {
    await expectNeeded(
      {},
      { snapshot: 'twoReads' },
      {
        property: 'P1: the client’s fold has a part twice',
        steps: ['store: reads row and entries', 'store: commits', 'store: reads row and entries', 'store: reads entries above'],
      },
    );
  });

  test('⚖ cursor-continues: a snapshot in the place of a continuation leaves out what came between', async () => {
    await expectNeeded(
      { cuts: 1 },
      { resumes: 'bySnapshot' },
      {
        property: 'P1: entries are missing between two that were shown',
        steps: ['CUT of the client', 'client: subscribes with cursor', 'store: reads row and entries'],
      },
    );
  });

  test('⚖ tail-of-ended: a client that was cut before the end never sees it', async () => {
    await expectNeeded(
      { cuts: 1 },
      { endedResume: 'refused' },
      {
        property: 'P1: the last entries are never seen',
        steps: ['store: commits 3', 'CUT of the client', 'client: subscribes with cursor 2'],
      },
    );
  });

  test('⚖ cursor-within-log: a client with a cursor of another log waits for entries that never come', async () => {
    await expectNeeded(
      { foreignCursor: 1 },
      { foreignCursor: 'believed' },
      { property: asleep, steps: ['client: subscribes with cursor 9'] },
    );
  });
});
