import { describe, expect, test } from 'vitest';
import type { Entry } from '../../src/log/entry.ts';
import type { TaskRow } from '../../src/log/store.ts';
import type { TaskState } from '../../src/protocol/types.ts';
import type { PromiseId } from '../../src/testing/checks/check.ts';
import { checkHistory } from '../../src/testing/checker.ts';
import type { Fact } from '../../src/testing/facts.ts';
import { canceled, chunk, completed, message, observed, status, stored, T0, TASK, taskAt, taken } from './made-history.ts';

interface Made {
  readonly entries?: readonly Entry[];
  readonly row?: Partial<TaskRow>;
  readonly facts?: readonly Fact[];
}

function check({ entries = completed, row = {}, facts = [] }: Made): readonly string[] {
  const evidence = { facts, stored: new Map([[TASK, stored(entries, row)]]) };
  return checkHistory(evidence, { leaseMs: 2_000 }).violations.map(({ promise, says }) => `${promise}: ${says}`);
}

const base = { at: T0, observer: 'caller', replica: 'B' } as const;
const good = stored(completed);
const finalRead = (task = taskAt(good, 5)): Fact => ({
  ...base,
  kind: 'read',
  taskId: TASK,
  outcome: { kind: 'task', task },
  isFinal: true,
});
const sent = (messageId = 'm1', seq = 2): Fact => ({
  ...base,
  kind: 'send',
  messageId,
  outcome: { kind: 'task', task: taskAt(good, seq) },
});
const cancelAnswer = (state: TaskState): Fact => {
  const task = taskAt(stored(canceled), 5);
  return { ...base, kind: 'cancel', taskId: TASK, outcome: { kind: 'task', task: { ...task, status: { ...task.status, state } } } };
};
const without = (facts: readonly Fact[], index: number): Fact[] => facts.filter((_, place) => place !== index);
const items = (facts: readonly Fact[]): number[] => facts.flatMap((fact, index) => (fact.kind === 'item' ? [index] : []));

describe('the checker', () => {
  test('finds nothing in a history in which every promise held', () => {
    const facts = [sent(), ...observed(good, 2, 'o1'), ...observed(good, 4, 'o2'), finalRead()];
    expect(check({ facts })).toEqual([]);
    expect(check({ entries: canceled, facts: [...observed(stored(canceled), 2), cancelAnswer('TASK_STATE_CANCELED')] })).toEqual([]);
  });

  test('finds nothing in messages that waited: one was taken, one got its turn, one was cleared by the end', () => {
    const waited = [...completed.slice(0, 2), message(3, 'm2', { turn: 0 }), message(4, 'm3', { turn: 0 }), taken(5, 1, [3])];
    const handed = [...waited, status(6, 'TASK_STATE_SUBMITTED', { ordinal: 2, turn: 2, answers: 4 })];
    expect(check({ entries: [...handed, status(7, 'TASK_STATE_COMPLETED', { fence: 2, turn: 2, ordinal: 1 })] })).toEqual([]);
    expect(check({ entries: [...waited, status(6, 'TASK_STATE_REJECTED', { ordinal: 2 })] })).toEqual([]);
  });

  test('finds nothing in a reader that was cut and went on behind its cursor', () => {
    const whole = observed(good, 2);
    const cut: Fact = { ...base, observer: 'o1', kind: 'close', taskId: TASK, how: 'cut' };
    const again: Fact = { ...base, observer: 'o1', kind: 'open', how: 'subscribe', taskId: TASK, after: 3 };
    expect(check({ facts: [...whole.slice(0, 3), cut, again, ...whole.slice(3)] })).toEqual([]);
    // the cursor repeats what was seen
    expect(check({ facts: [...whole.slice(0, 3), cut, again, ...whole.slice(2)] })).toContainEqual(
      expect.stringMatching(/^P1: o1 saw 3 after 3/),
    );
  });

  test('pardons a replica that leaves for streams it ends early, and not the one that takes its name', () => {
    const early = observed(good, 2).toSpliced(3, 2); // cut off at 3, at T0
    const leave = (until?: number): Fact => ({ ...base, replica: 'A', kind: 'leave', at: T0, ...(until === undefined ? {} : { until }) });
    expect(check({ facts: [leave(), ...early] })).toEqual([]);
    expect(check({ facts: [leave(T0 + 1), ...early] })).toEqual([]);
    expect(check({ facts: [leave(T0), ...early] })).toEqual([expect.stringMatching(/^P1: o1 was told the end at 3/)]);
    expect(check({ facts: [leave(T0), leave(T0 + 1), ...early] })).toEqual([]); // it left twice, as one and as the other
  });

  // one broken history per line: what is broken, what must be found
  const broken: readonly (readonly [what: string, promise: PromiseId, says: RegExp, made: Made])[] = [
    ['a log with a hole', 'P1', /has seq 4/, { entries: without2(completed, 2) }],
    ['a row that is ahead of its log', 'P1', /knows 6 entries/, { row: { seq: 6 } }],
    ['time that runs backwards', 'P1', /backwards/, { entries: completed.with(3, chunk(4, 2, '2 ', { at: T0 })) }],
    [
      'an item that was skipped',
      'P1',
      /saw 4 after 2, where 3 was due/,
      { facts: without(observed(good, 2), items(observed(good, 2))[1] ?? -1) },
    ],
    ['an item that came twice', 'P1', /saw 3 after 3/, { facts: observed(good, 2).toSpliced(3, 0, observed(good, 2)[2] as Fact) }],
    [
      'a snapshot older than what was seen',
      'P1',
      /snapshot as of 2 after 3/,
      { facts: observed(good, 2).toSpliced(3, 0, observed(good, 2)[1] as Fact) },
    ],
    ['a stream that ends before the task does', 'P1', /told the end at 3/, { facts: observed(good, 2).toSpliced(3, 2) }],
    ['a fold that is not the task', 'P1', /does not fold/, { facts: observed(stored(completed.with(2, chunk(3, 1, 'x '))), 2) }],
    ['an item that is not in the log', 'P2', /not in the log/, { facts: observed(stored(completed.with(2, chunk(3, 1, 'x '))), 2) }],
    [
      'an item above the end of the log',
      'P2',
      /saw 5, which is not in the log/,
      { entries: completed.slice(0, 4), row: { phase: 'closed', state: 'TASK_STATE_INPUT_REQUIRED' }, facts: observed(good, 2) },
    ],
    [
      'an answer that never stood in the log',
      'P2',
      /never stood/,
      {
        facts: [
          { ...base, kind: 'read', taskId: TASK, isFinal: false, outcome: { kind: 'task', task: { ...taskAt(good, 3), artifacts: [] } } },
        ],
      },
    ],
    [
      'an answer about a task that is not stored',
      'P2',
      /not in the store/,
      {
        facts: [
          { ...base, kind: 'read', taskId: 'other', isFinal: false, outcome: { kind: 'task', task: { ...taskAt(good, 3), id: 'other' } } },
        ],
      },
    ],
    ['a second end', 'P3', /ends 2 times/, { entries: [...completed, status(6, 'TASK_STATE_CANCELED', { fence: 2 })] }],
    ['an entry behind the end', 'P3', /after TASK_STATE_COMPLETED/, { entries: [...completed, chunk(6, 4, '3 ')] }],
    ['a row that says another end', 'P3', /the row says TASK_STATE_FAILED/, { row: { state: 'TASK_STATE_FAILED' } }],
    ['an item seen behind the end', 'P3', /saw an item behind/, { facts: observed(good, 2).toSpliced(6, 0, observed(good, 2)[2] as Fact) }],
    ['two ends seen', 'P3', /different ends/, { facts: [...observed(good, 2), ...observed(stored(canceled), 2, 'o2')] }],
    ['replicas that read different tasks', 'P3', /reads at the end/, { facts: [finalRead(taskAt(good, 4))] }],
    [
      'a word of a superseded holder',
      'P4',
      /stands behind fence 2/,
      { entries: [...completed.slice(0, 3), status(4, 'TASK_STATE_SUBMITTED', { fence: 2 }), chunk(5, 2, '2 ')] },
    ],
    ['an accepted message that is nowhere', 'P5', /is in no log/, { facts: [sent('m2')] }],
    [
      'a message without the change it causes',
      'P5',
      /opens a turn, and artifact/,
      { entries: [message(1, 'm1'), chunk(2, 1, '1 '), status(3, 'TASK_STATE_COMPLETED', { ordinal: 2 })] },
    ],
    [
      'an old state that was republished',
      'P5',
      /republished TASK_STATE_INPUT_REQUIRED/,
      { entries: [message(1, 'm1'), status(2, 'TASK_STATE_INPUT_REQUIRED', { answers: 1 })] },
    ],
    [
      'a message that waits for ever',
      'P5',
      /never comes/,
      { entries: [...completed.slice(0, 2), message(3, 'm2', { turn: 0 }), status(4, 'TASK_STATE_INPUT_REQUIRED', { ordinal: 1 })] },
    ],
    [
      'a message that was dropped when the task completed',
      'P5',
      /never comes/,
      { entries: [...completed.slice(0, 2), message(3, 'm2', { turn: 0 }), status(4, 'TASK_STATE_COMPLETED', { ordinal: 1 })] },
    ],
    [
      'a message that was taken and has a turn of its own as well',
      'P9',
      /taken or answered 2 times/,
      {
        entries: [
          ...completed.slice(0, 2),
          message(3, 'm2', { turn: 0 }),
          taken(4, 1, [3]),
          status(5, 'TASK_STATE_SUBMITTED', { ordinal: 2, turn: 2, answers: 3 }),
          status(6, 'TASK_STATE_COMPLETED', { fence: 2, turn: 2, ordinal: 1 }),
        ],
      },
    ],
    [
      'a message that was taken twice',
      'P9',
      /taken or answered 2 times/,
      {
        entries: [
          ...completed.slice(0, 2),
          message(3, 'm2', { turn: 0 }),
          taken(4, 1, [3]),
          taken(5, 2, [3]),
          status(6, 'TASK_STATE_COMPLETED', { ordinal: 3 }),
        ],
      },
    ],
    ['a task that works for ever', 'P6', /still open/, { entries: completed.slice(0, 4) }],
    [
      'a failure without a reason',
      'P7',
      /no chorus\/error/,
      { entries: [...completed.slice(0, 4), status(5, 'TASK_STATE_FAILED', { ordinal: 3 })] },
    ],
    [
      'a word that was lost',
      'P7',
      /ordinals 2\.\.2/,
      { entries: [...completed.slice(0, 3), status(4, 'TASK_STATE_COMPLETED', { ordinal: 3 })] },
    ],
    [
      'a cancel that was answered and not stored',
      'P8',
      /the store has TASK_STATE_COMPLETED/,
      { facts: [cancelAnswer('TASK_STATE_CANCELED')] },
    ],
    [
      'a cancel that was answered with another state',
      'P8',
      /answered TASK_STATE_WORKING/,
      { entries: canceled, facts: [cancelAnswer('TASK_STATE_WORKING')] },
    ],
    [
      'a cancel that was refused although it could be done',
      'P8',
      /was refused/,
      {
        entries: canceled,
        facts: [{ ...base, kind: 'cancel', taskId: TASK, outcome: { kind: 'error', code: 'TASK_NOT_CANCELABLE', metadata: {} } }],
      },
    ],
    [
      'a message that is recorded twice',
      'P9',
      /stands 2 times/,
      {
        entries: [
          ...completed.slice(0, 2),
          message(3, 'm1'),
          status(4, 'TASK_STATE_WORKING', { answers: 3 }),
          status(5, 'TASK_STATE_COMPLETED', { ordinal: 1 }),
        ],
      },
    ],
    [
      'a write that was applied twice',
      'P9',
      /repeats ordinal 1/,
      { entries: [...completed.slice(0, 3), chunk(4, 1, '1 '), status(5, 'TASK_STATE_COMPLETED', { ordinal: 2 })] },
    ],
  ];
  test.each(broken)('finds %s (%s)', (_what, promise, says, made) => {
    const found = check(made).filter((violation) => violation.startsWith(promise));
    expect(found).toContainEqual(expect.stringMatching(says));
  });
});

function without2(entries: readonly Entry[], index: number): Entry[] {
  return entries.filter((_, place) => place !== index);
}

describe('the judgement of kills', () => {
  const lost = { metadata: { 'chorus/error': { code: 'LOST' } } };
  const kill: Fact = { at: T0 + 100, observer: 'rig', replica: 'A', kind: 'kill', signal: 'SIGKILL', holding: [TASK] };
  const killed = (settledAfterMs: number): readonly Entry[] => [
    ...completed.slice(0, 4),
    status(5, 'TASK_STATE_FAILED', { fence: 2, at: T0 + 100 + settledAfterMs, ...lost }),
  ];
  const judge = (entries: readonly Entry[], lostMs = 0) =>
    checkHistory(
      { facts: [kill], stored: new Map([[TASK, stored(entries)]]) },
      { leaseMs: 2_000, fairMs: (from, to) => to - from - lostMs },
    );

  test('a turn that is settled within lease + 1.5 s is in time (P6)', () => {
    const verdict = judge(killed(3_400));
    expect(verdict.violations).toEqual([]);
    expect(verdict.counted.judgedKills).toBe(1);
  });

  test('one that is settled later breaks P6', () => {
    expect(judge(killed(3_600)).violations).toMatchObject([{ promise: 'P6', taskId: TASK }]);
  });

  test('one that is never settled breaks P6', () => {
    const verdict = judge(completed.slice(0, 4));
    expect(verdict.violations.filter(({ says }) => says.includes('killed'))).toMatchObject([{ promise: 'P6' }]);
  });

  test('one that is late only by time that does not count is not judged: neither a pass nor a failure', () => {
    const verdict = judge(killed(3_600), 500);
    expect(verdict.violations).toEqual([]);
    expect(verdict.counted.judgedKills).toBe(0);
  });

  test('lost time does not help a turn that is late even without it', () => {
    expect(judge(killed(5_000), 500).violations).toMatchObject([{ promise: 'P6' }]);
  });

  test('a task that had ended before the kill says nothing of it', () => {
    expect(judge(completed).counted.judgedKills).toBe(0);
  });

  test('what the dead holder still got committed does not settle its turn', () => {
    const entries = [
      ...completed.slice(0, 3),
      chunk(4, 2, '2 ', { at: T0 + 101 }),
      status(5, 'TASK_STATE_FAILED', { fence: 2, at: T0 + 9_000, ...lost }),
    ];
    expect(judge(entries).violations).toMatchObject([{ promise: 'P6' }]);
  });
});
