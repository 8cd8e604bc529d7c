import { describe, test, vi } from 'vitest';
import { declareDead } from '../../src/log/rules/living.ts';
import { explore } from './explore.ts';
import type { LivingRules, Trouble } from './lives.ts';
import { gaplessJudge, livesModel, livingRules } from './lives.ts';
import type { Counterexample } from './proof.ts';
import { expectBreaks, expectHolds } from './proof.ts';

vi.setConfig({ testTimeout: 600_000 });

function expectNeeded(troubles: readonly Trouble[], without: Partial<LivingRules>, counterexample: Counterexample): void {
  expectHolds(explore(livesModel(livingRules, troubles)));
  expectBreaks(explore(livesModel({ ...livingRules, ...without }, troubles)), counterexample);
}

describe('who lives, explored in every order', () => {
  test('with all rules no trouble of the store, of its clock or of the observer kills a living replica, and a crash is found in time', () => {
    expectHolds(explore(livesModel(livingRules, ['outage', 'crash'])), ['A: declares B dead', 'A: its tick fails', 'B: cannot renew']);
    expectHolds(explore(livesModel(livingRules, ['readOnly', 'crash'])), ['A: declares B dead', ', cannot renew']);
    expectHolds(explore(livesModel(livingRules, ['suspend', 'clock', 'crash'])), ['A: declares B dead', 'SUSPENDED', 'CLOCK']);
    expectHolds(explore(livesModel(livingRules, ['outage', 'suspend'])), ['STORE is away', 'SUSPENDED']);
  });

  test('with all rules a replica that was stopped may be taken for dead, but never after it has renewed', () => {
    expectHolds(explore(livesModel(livingRules, ['stop', 'outage'])), ['A: declares B dead', 'which stood still for a lease', 'GOES ON B']);
  });

  test('⚖ beats-counted: timestamps declare the living dead after an outage, and after a step of the database’s clock', () => {
    const property = 'P6: a living replica is declared dead';
    expectNeeded(
      ['outage'],
      { goesByTimestamp: true },
      { property, steps: ['STORE is away', 'B: cannot renew', 'STORE is well again', 'A: declares B dead'] },
    );
    expectNeeded(['clock'], { goesByTimestamp: true }, { property, steps: ['CLOCK', 'A: declares B dead'] });
  });

  test('⚖ gap-restarts-count: an observer that was away takes its own absence for another’s', () => {
    expectNeeded(
      ['suspend'],
      { judge: gaplessJudge },
      {
        property: 'P6: a living replica is declared dead',
        steps: ['A: sees the beat', 'SUSPENDED', 'A: sees the beat', 'A: declares B dead'],
      },
    );
  });

  test('⚖ failed-renew-restarts-count: a store that can be read but not written kills whoever renews last when it is well again', () => {
    const judge = (): ReturnType<LivingRules['judge']> => {
      const real = livingRules.judge();
      return { look: (beats, at) => real.look(beats, at), reset: () => {} };
    };
    expectNeeded(
      ['readOnly'],
      { judge },
      {
        property: 'P6: a living replica is declared dead',
        steps: ['STORE can only be read', 'cannot renew', 'which stood still for a lease', 'STORE is well again', 'A: declares B dead'],
      },
    );
  });

  test('⚖ beat-as-seen: a replica that has just renewed is killed for what was seen before', () => {
    const blind: typeof declareDead = (row, seen, now) => declareDead(row, row === undefined ? seen : { ...seen, beat: row.beat }, now);
    expectNeeded(
      ['stop'],
      { declareDead: blind },
      {
        property: 'P6: a replica is declared dead that has renewed since it was seen silent',
        steps: ['STOP B', 'which stood still for a lease', 'GOES ON B', 'B: renews', 'A: declares B dead'],
      },
    );
  });
});
