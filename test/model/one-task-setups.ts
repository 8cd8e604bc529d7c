import type { Verdict } from './explore.ts';
import { explore } from './explore.ts';
import { broken, unfinished } from './one-task-promises.ts';
import { stepsOf } from './one-task-steps.ts';
import type { Habits, Script, Setup } from './one-task.ts';
import { firstWorld, habits, idOf } from './one-task.ts';
import type { Counterexample } from './proof.ts';
import { expectBreaks, expectHolds } from './proof.ts';
import type { Decisions } from './shelf.ts';
import { decisions, shelfOf } from './shelf.ts';

const first: Script = { does: 'send', key: 'k1' };
const firstViaA: Script = { ...first, via: 0 };
const answer: Script = { does: 'answer', key: 'k2' };
const addition: Script = { does: 'add', key: 'k2', whileWorking: 'enqueue' };
const canceler: Script = { does: 'cancel', key: 'cancel' };

/** The sizes by name. */
export type SizeName =
  | 'create'
  | 'createWithCrash'
  | 'queued'
  | 'stream'
  | 'pipelined'
  | 'twoTurns'
  | 'cancel'
  | 'cancelOfPaused'
  | 'late'
  | 'talksOn'
  | 'falseDeath'
  | 'restart'
  | 'calm'
  | 'retry'
  | 'ask'
  | 'drain'
  | 'drainWithRetry'
  | 'enqueue'
  | 'enqueueAndCancel'
  | 'interrupt'
  | 'inbox'
  | 'auth'
  | 'authLeft';

/** What is explored: as small as it can be and still show what its name says. Two replicas each. */
const sizes: Readonly<Record<SizeName, Omit<Setup, 'name' | 'decisions' | 'habits'>>> = {
  create: { programs: [['a', 'COMPLETED']], clients: [first], faults: { cut: 1 } },
  createWithCrash: { programs: [['a', 'COMPLETED']], clients: [firstViaA], faults: { cut: 1, crash: 1, restart: 1 } },
  queued: { programs: [['a', 'COMPLETED']], clients: [{ ...first, hasRoom: false }], faults: { cut: 1 } },
  stream: { programs: [['a', 'b', 'COMPLETED']], clients: [first], faults: { cut: 2 } },
  pipelined: { programs: [['a', 'b', 'COMPLETED']], clients: [first], faults: { cut: 1 }, flights: 2 },
  twoTurns: { programs: [['INPUT'], ['COMPLETED']], clients: [first, answer], faults: { cut: 1 } },
  cancel: { programs: [['a', 'COMPLETED']], clients: [first, canceler], faults: { cut: 1 } },
  cancelOfPaused: { programs: [['INPUT'], ['COMPLETED']], clients: [first, answer, canceler] },
  late: { programs: [['COMPLETED'], ['COMPLETED']], clients: [first, { does: 'add', key: 'k2' }] },
  talksOn: { programs: [['COMPLETED', 'a']], clients: [first], talksOn: true },
  falseDeath: { programs: [['COMPLETED']], clients: [firstViaA], faults: { pause: 1, falseEnd: 1 } },
  restart: { programs: [['a', 'COMPLETED']], clients: [first], faults: { crash: 1, restart: 1 } },
  calm: { programs: [['COMPLETED']], clients: [{ ...first, whenCalm: true }], faults: { falseEnd: 1 } },
  retry: { programs: [['COMPLETED']], clients: [firstViaA], faults: { falseEnd: 1 }, onLost: 'retry', isNarrow: true },
  ask: {
    programs: [['a', 'COMPLETED'], ['COMPLETED']],
    clients: [firstViaA, answer],
    faults: { falseEnd: 1 },
    onLost: 'ask',
    isNarrow: true,
  },
  drain: { programs: [['a', 'COMPLETED']], clients: [firstViaA], faults: { drain: 1, cut: 1 } },
  drainWithRetry: { programs: [['COMPLETED']], clients: [first], isNarrow: true, faults: { drain: 1 }, onLost: 'retry', triesMax: 1 },
  enqueue: { programs: [['COMPLETED'], ['COMPLETED']], clients: [firstViaA, addition], faults: { cut: 1 } },
  enqueueAndCancel: { programs: [['INPUT'], ['COMPLETED']], clients: [firstViaA, addition, canceler] },
  interrupt: {
    isNarrow: true,
    programs: [['a', 'COMPLETED'], ['COMPLETED']],
    clients: [firstViaA, { ...addition, whileWorking: 'interrupt' }],
  },
  inbox: {
    isNarrow: true,
    programs: [['TAKE', 'COMPLETED'], ['COMPLETED']],
    clients: [firstViaA, { ...addition, whileWorking: 'interrupt' }],
  },
  auth: { programs: [['AUTH', 'TAKE', 'COMPLETED'], ['COMPLETED']], clients: [firstViaA, { does: 'add', key: 'k2' }] },
  authLeft: {
    programs: [['AUTH', 'LEAVE'], ['COMPLETED'], ['COMPLETED']],
    clients: [firstViaA, { does: 'resume', key: 'resume' }, { does: 'add', key: 'k2' }],
  },
};

/** All of them. */
export const sizeNames: readonly SizeName[] = Object.keys(sizes) as SizeName[]; // the keys of a full record

/** What is taken away: other decisions, or a habit left off. */
export interface Without {
  readonly decisions?: Partial<Decisions>;
  readonly habits?: Partial<Habits>;
}

/** Explores a size without a rule. */
export function exploreWithout(name: SizeName, without: Without): Verdict {
  const setup: Setup = {
    name,
    ...sizes[name],
    decisions: { ...decisions, ...without.decisions },
    habits: { ...habits, ...without.habits },
  };
  return explore({
    first: firstWorld(setup, shelfOf([idOf(0, 1), idOf(1, 1)])),
    steps: (world) => stepsOf(setup, world),
    broken: (world) => broken(setup, world),
    unfinished,
  });
}

const full = new Map<SizeName, Verdict>();

/** Explores a size with all rules, once. */
export function exploreFull(name: SizeName): Verdict {
  const verdict = full.get(name) ?? exploreWithout(name, {});
  full.set(name, verdict);
  return verdict;
}

/** With all rules the size holds; without this one it breaks so. */
export function expectNeeded(size: SizeName, without: Without, counterexample: Counterexample): void {
  expectHolds(exploreFull(size));
  expectBreaks(exploreWithout(size, without), counterexample);
}
