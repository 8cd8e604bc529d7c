import { describe, test } from 'vitest';
import { explore } from './explore.ts';
import type { LockRules } from './locks.ts';
import { lockRules, locksModel } from './locks.ts';
import type { Counterexample } from './proof.ts';
import { expectBreaks, expectHolds } from './proof.ts';

function expectNeeded(stops: number, without: Partial<LockRules>, counterexample: Counterexample): void {
  expectHolds(explore(locksModel(lockRules, stops)));
  expectBreaks(explore(locksModel({ ...lockRules, ...without }, stops)), counterexample);
}

const deadlock = 'P11: two groups wait for each other for ever';

describe('two groups that lock the same rows, explored in every order', () => {
  test('with all rules both commit, also when a client is stopped in the middle', () => {
    expectHolds(explore(locksModel(lockRules, 1)), ['A: skips task', 'B: skips task', 'STOP the client of A']);
  });

  test('⚖ rows-locked-in-order: groups that lock as their verbs came, and wait, wait for each other', () => {
    expectNeeded(0, { inOrder: false, skips: false }, { property: deadlock, steps: ['A: locks task 1', 'B: locks task 2'] });
  });

  test('order alone prevents the deadlock, and so does skipping: skipping also keeps a group from waiting for one task', () => {
    expectHolds(explore(locksModel({ ...lockRules, skips: false }, 0)));
    expectHolds(explore(locksModel({ ...lockRules, inOrder: false }, 0)));
  });

  test('⚖ rows-locked-first: whoever locks something else before the rows meets one who locks it after them', () => {
    expectNeeded(0, { rowsFirst: false }, { property: deadlock, steps: ['A: skips task', 'A: commits', 'A: locks the key'] });
  });

  test('⚖ no-lock-across-trips: a client that is stopped between two statements keeps its locks', () => {
    expectNeeded(
      1,
      { oneStatement: false },
      {
        property: 'P11: a client that is stopped keeps its tasks locked for everybody',
        steps: ['A: locks task 1', 'STOP the client of A'],
      },
    );
  });
});
