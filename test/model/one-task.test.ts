import { describe, test, vi } from 'vitest';
import { decideAccept } from '../../src/log/rules/accept.ts';
import { decideAppend } from '../../src/log/rules/append.ts';
import { decideCancel, decideRelease } from '../../src/log/rules/settle.ts';
import type { TaskRow } from '../../src/log/store.ts';
import { isTerminal } from '../../src/protocol/states.ts';
import { expectNeeded, exploreFull, exploreWithout, sizeNames } from './one-task-setups.ts';
import { expectHolds } from './proof.ts';
import {
  acceptAt,
  asIf,
  authCloses,
  closing,
  endedAndSubmitted,
  firstAnswerAgain,
  raisedAtClose,
  sameAttempt,
  unraisedClaim,
  unraisedHandOver,
  unraisedRelease,
  unraisedSweep,
} from './variants.ts';

// a few seconds of computing in all; the limit is for machines that have other work to do
vi.setConfig({ testTimeout: 600_000 });

describe('one task on two replicas, explored in every order', () => {
  test.each(sizeNames)('%s: with all rules every promise holds', (size) => {
    expectHolds(exploreFull(size));
  });

  test('what the model is about does happen in it: late calls, lost answers, repeats, takeovers, refusals, hand-overs', () => {
    expectHolds(exploreFull('twoTurns'), ['runs LATE', 'CUT the answer', 'never runs']);
    expectHolds(exploreFull('cancel'), ['= terminal', '= settled', '= canceled', 'looks, is no holder any more']);
    expectHolds(exploreFull('falseDeath'), [
      'FALSE end',
      'declares A1 dead',
      'its renewal is refused',
      'sweep: the turn of A1',
      'PAUSE',
      'GOES ON',
      'renews',
    ]);
    expectHolds(exploreFull('retry'), ['= fenced', 'no contact for a lease']);
    expectHolds(exploreFull('pipelined'), ['= gap']);
    expectHolds(exploreFull('restart'), ['CRASH', 'RESTART', 'sweep: the turn of A1']);
    expectHolds(exploreFull('drainWithRetry'), ['DRAIN', 'has drained and leaves', '= released', 'looks, is named as holder']);
    expectHolds(exploreFull('interrupt'), ['release for interrupt (fence 1) of A1 = released']);
    expectHolds(exploreFull('authLeft'), ['= resumed', '= notPaused', '= busy']);
  });
});

describe('accepting, with one rule taken away', () => {
  test('⚖ key-first: a refusal that is decided before the key is looked up refuses a message that is recorded', () => {
    const accept: typeof decideAccept = (row, known, ask, now) => {
      const { result } = decideAccept(row, undefined, ask, now);
      return result.kind === 'accepted' ? decideAccept(row, known, ask, now) : { result };
    };
    expectNeeded(
      'create',
      { decisions: { accept } },
      {
        property: 'P5: a message is refused (keyMismatch) that is in the log',
        steps: ['store: accept k1', 'CUT the answer to accept k1', 'client: send k1', '= keyMismatch'],
      },
    );
  });

  test('⚖ key-kept: a key that each try makes anew makes a task for each', () => {
    expectNeeded(
      'create',
      { habits: { keepsKey: false } },
      {
        property: 'P9: one message has made two tasks',
        steps: ['store: accept k1', 'CUT the answer to accept k1', 'client: send k1', 'accept k1 again'],
      },
    );
  });

  test('⚖ repeat-names-holder: the first answer once more would start a run whose turn is another’s by now', () => {
    expectNeeded(
      'queued',
      { decisions: { accept: firstAnswerAgain } },
      {
        property: 'P4: an answer names a holder of the past',
        steps: ['CUT the answer to accept k1', 'claim of', 'store: accept k1'],
      },
    );
  });

  test('⚖ locked-row: what was read before the lock may have changed while waiting for it', () => {
    expectNeeded(
      'cancelOfPaused',
      { habits: { decidesUnderLock: false } },
      {
        property: 'P1: the sequence has a hole or a double',
        steps: ['client: cancel', 'store:', 'store: cancel'],
      },
    );
  });
});

describe('appending, with one rule taken away', () => {
  test('⚖ applied-first: a repeat is told that the task has ended by the very words it repeats', () => {
    const append: typeof decideAppend = (row, ask, now) =>
      row !== undefined && isTerminal(row.state) ? { result: { kind: 'terminal', row } } : decideAppend(row, ask, now);
    expectNeeded(
      'create',
      { decisions: { append } },
      {
        property: 'P9: the repeat of what stands last in the log is refused (terminal)',
        steps: ['COMPLETED (fence 1) of A1 = applied', 'CUT the answer to append', 'COMPLETED (fence 1) of A1 = terminal'],
      },
    );
  });

  test('⚖ entries-numbered: a repeat that is cut at another place than the first try loses what was added', () => {
    const append: typeof decideAppend = (row, ask, now) =>
      row !== undefined && row.fence === ask.fence && ask.from <= row.ordinal
        ? { result: { kind: 'applied', row } }
        : decideAppend(row, ask, now);
    expectNeeded(
      'create',
      { decisions: { append } },
      {
        property: 'P9: an append was acknowledged that does not stand in the log',
        steps: ['append #1 a (fence 1) of A1 = applied', 'CUT the answer to append #1 a', 'append #1 a+COMPLETED'],
      },
    );
  });

  test('⚖ gap-refused: a batch that overtakes its elder leaves a hole', () => {
    const append: typeof decideAppend = (row, ask, now) =>
      decideAppend(row?.fence === ask.fence && ask.from > row.ordinal + 1 ? asIf(row, { ordinal: ask.from - 1 }) : row, ask, now);
    expectNeeded(
      'pipelined',
      { decisions: { append } },
      {
        property: 'P7: a word is missing',
        steps: ['sends #1 a', 'sends #2 b', 'append #2 b (fence 1) of A1 = applied'],
      },
    );
  });

  test('⚖ fence-compared: a holder that was taken for dead writes on', () => {
    const append: typeof decideAppend = (row, ask, now) => decideAppend(row, row === undefined ? ask : { ...ask, fence: row.fence }, now);
    expectNeeded(
      'retry',
      { decisions: { append } },
      {
        property: 'P4: a run wrote under the fence of another',
        steps: ['FALSE end', 'declares A1 dead', 'sweep: the turn of A1', 'claim of', 'append #1 COMPLETED (fence 1) of A1 = applied'],
      },
    );
  });

  test('⚖ doubt-looked-up: a run believes a refusal of words that its lost call had written', () => {
    expectNeeded(
      'cancel',
      { habits: { looksIntoLog: false } },
      {
        property: 'P9: a run believes that words were refused which stand in the log',
        steps: ['= applied', 'CUT the answer to append', '= canceled'],
      },
    );
  });

  test('⚖ outcome-known: a run that ends with its link leaves its turn to be failed', () => {
    expectNeeded(
      'create',
      { habits: { waitsForOutcome: false } },
      {
        property: 'P6: a turn was failed although nothing befell its holder',
        steps: ['CUT before append', 'gives the turn away', '= released'],
      },
    );
  });

  test('⚖ terminal-final: whoever may write after the end does: an answer, a cancel, a run that talks on', () => {
    const ended = (row: TaskRow | undefined, seen: Partial<TaskRow>): TaskRow | undefined =>
      row && isTerminal(row.state) ? asIf(row, seen) : row;
    const accept: typeof decideAccept = (row, known, ask, now) =>
      decideAccept(ended(row, { state: 'TASK_STATE_INPUT_REQUIRED' }), known, ask, now);
    const cancel: typeof decideCancel = (row, ask, now) =>
      decideCancel(row?.state === 'TASK_STATE_CANCELED' ? row : ended(row, { state: 'TASK_STATE_WORKING' }), ask, now);
    const append: typeof decideAppend = (row, ask, now) =>
      decideAppend(ended(row, { state: 'TASK_STATE_WORKING', phase: 'open' }), ask, now);
    const property = 'P3: an entry stands behind a terminal one';
    expectNeeded('late', { decisions: { accept } }, { property, steps: ['COMPLETED (fence 1) of A1 = applied', 'store: accept k2'] });
    expectNeeded('cancelOfPaused', { decisions: { cancel } }, { property, steps: ['COMPLETED (fence 2) of B1 = applied', '= canceled'] });
    expectNeeded(
      'talksOn',
      { decisions: { append } },
      { property, steps: ['COMPLETED (fence 1) of A1 = applied', 'append #2 a (fence 1) of A1 = applied'] },
    );
  });
});

describe('fences and grants, with one rule taken away', () => {
  test('⚖ fence-rises: at an accept, or a late word of one turn stands in the next', () => {
    expectNeeded(
      'twoTurns',
      { decisions: { accept: acceptAt(({ fence }) => fence) } },
      {
        property: 'P4: two runs have one fence',
        steps: ['INPUT (fence 1) of A1 = applied', 'client: answer k2', 'store: accept k2'],
      },
    );
  });

  test('⚖ fence-rises: between two runs of a turn, at the loss or at the claim, and between two turns likewise', () => {
    const property = 'P4: two runs have one fence';
    expectNeeded(
      'retry',
      { decisions: { sweep: unraisedSweep, claim: unraisedClaim } },
      { property, steps: ['sweep: the turn of A1', 'claim of'] },
    );
    expectNeeded(
      'drainWithRetry',
      { decisions: { release: unraisedRelease, claim: unraisedClaim } },
      { property, steps: ['release for drain (fence 1) of A1 = released', 'claim of'] },
    );
    expectNeeded(
      'enqueue',
      { decisions: { append: unraisedHandOver, claim: unraisedClaim } },
      { property, steps: ['COMPLETED (fence 1) of A1 = applied', 'claim of'] },
    );
  });

  test('one rise between two runs is enough: the others are belt and braces', () => {
    expectHolds(exploreWithout('drainWithRetry', { decisions: { release: unraisedRelease } }));
    expectHolds(exploreWithout('drainWithRetry', { decisions: { claim: unraisedClaim } }));
  });

  test('⚖ fence-never-resets: a run of an earlier turn holds the right number again', () => {
    expectNeeded(
      'twoTurns',
      { decisions: { accept: acceptAt(() => 1) } },
      {
        property: 'P4: two runs have one fence',
        steps: ['INPUT (fence 1) of A1 = applied', 'client: answer k2', 'store: accept k2'],
      },
    );
  });

  test('⚖ fence-stays-at-close: the repeat of the last word meets another fence', () => {
    expectNeeded(
      'create',
      { decisions: { append: raisedAtClose } },
      {
        property: 'P9: the repeat of what stands last in the log is refused (terminal)',
        steps: ['COMPLETED (fence 1) of A1 = applied', 'CUT the answer to append', '= terminal'],
      },
    );
  });

  test('⚖ grant-once: a grant that is told twice is two runs', () => {
    expectNeeded(
      'create',
      { habits: { startsOnce: false } },
      {
        property: 'P4: two runs have one fence',
        steps: ['store: accept k1', 'hears "accepted" to accept k1'],
      },
    );
  });

  test('⚖ held-started: a turn whose grant was lost on the way is held by somebody who does not know it', () => {
    expectNeeded(
      'create',
      { habits: { looksForHeld: false } },
      {
        property: 'P6: the task is TASK_STATE_WORKING for ever, its turn open',
        steps: ['store: accept k1 of A1', 'CUT the answer to accept k1'],
      },
    );
  });

  test('⚖ attempt-per-run: two runs have one name', () => {
    expectNeeded(
      'drainWithRetry',
      { decisions: { release: sameAttempt } },
      {
        property: 'P4: two runs have one name',
        steps: ['DRAIN', '= released', 'claim of'],
      },
    );
  });

  test('⚖ tries-count-losses: a rolling restart uses up the tries', () => {
    const release: typeof decideRelease = (row, ask, now) => decideRelease(row, { ...ask, why: 'silence' }, now);
    expectNeeded(
      'drainWithRetry',
      { decisions: { release } },
      {
        property: 'P6: a turn was failed before its tries were used up',
        steps: ['DRAIN', 'release for drain (fence 1) of A1 = released'],
      },
    );
  });

  test('⚖ id-drawn: a process that comes back under its id runs what it ran before', () => {
    expectNeeded(
      'restart',
      { habits: { drawsId: false } },
      {
        property: 'P4: two runs have one fence',
        steps: ['CRASH A', 'RESTART A', 'looks, is named as holder (fence 1)'],
      },
    );
  });

  test('⚖ death-ends-incarnation: a replica that goes on after its death was declared takes turns that are swept', () => {
    expectNeeded(
      'calm',
      { habits: { endsWithRefusal: false } },
      {
        property: 'P6: a turn that was begun when all was well again was failed',
        steps: [
          'FALSE end of the lease of A1',
          'declares A1 dead',
          'its renewal is refused',
          'client: send k1 -> A',
          'sweep: the turn of A1',
        ],
      },
    );
  });
});

describe('a second message, with one rule taken away', () => {
  test('⚖ close-hands-over: a message that waits for a turn is forgotten when the turn ends', () => {
    const append: typeof decideAppend = (row, ask, now) => decideAppend(closing(row), ask, now);
    expectNeeded(
      'enqueue',
      { decisions: { append } },
      {
        property: 'P5: an accepted message is never answered',
        steps: ['store: accept k2', 'COMPLETED (fence 1) of A1 = applied'],
      },
    );
  });

  test('⚖ submitted-in-place: a task that goes on after COMPLETED was seen', () => {
    expectNeeded(
      'enqueue',
      { decisions: { append: endedAndSubmitted } },
      {
        property: 'P3: an entry stands behind a terminal one',
        steps: ['store: accept k2', 'COMPLETED (fence 1) of A1 = applied'],
      },
    );
  });

  test('⚖ messages-wait: a message that takes the turn at once takes it from a run that is well', () => {
    const accept: typeof decideAccept = (row, known, ask, now) =>
      decideAccept(
        row !== undefined && !isTerminal(row.state) && ask.whileWorking === 'enqueue' ? asIf(row, { phase: 'closed' }) : row,
        known,
        ask,
        now,
      );
    expectNeeded(
      'enqueue',
      { decisions: { accept } },
      {
        property: 'P7: a message took the turn from a run that was well',
        steps: ['store: accept k1', 'store: accept k2'],
      },
    );
  });

  test('⚖ auth-keeps-turn: an agent that goes on after AUTH_REQUIRED finds its turn closed', () => {
    expectNeeded(
      'auth',
      { decisions: { append: authCloses } },
      {
        property: 'P7: words of the present fence are refused',
        steps: ['AUTH (fence 1) of A1 = applied', '(fence 1) of A1 = fenced'],
      },
    );
  });

  test('⚖ auth-takes-messages: the message that the turn waits for is refused because the turn is open', () => {
    const accept: typeof decideAccept = (row, known, ask, now) =>
      decideAccept(row?.phase === 'open' ? asIf(row, { state: 'TASK_STATE_WORKING' }) : row, known, ask, now);
    expectNeeded(
      'auth',
      { decisions: { accept } },
      {
        property: 'ITA-07: a message to AUTH_REQUIRED is refused',
        steps: ['AUTH (fence 1) of A1 = applied', 'accept k2'],
      },
    );
  });
});
