import assert from 'node:assert/strict';
import type { TaskState } from '../../protocol/types.ts';
import { WAITING_MAX } from '../../log/store.ts';
import type { SuiteCase } from '../suite-runner.ts';
import type { StoreBench } from './bench.ts';
import { limits, scope, status } from './bench.ts';

const ended: readonly TaskState[] = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'];

/** What a store makes of users' messages. */
export const acceptCases: readonly SuiteCase<StoreBench>[] = [
  {
    name: 'a new task is one commit: the message, the status it causes and the turn (P5)',
    async run(bench) {
      const { row, seq, messageSeq, turn, isRepeat } = await bench.accept({ canStart: false });
      assert.deepEqual({ seq, messageSeq, turn, isRepeat }, { seq: 2, messageSeq: 1, turn: 1, isRepeat: false });
      assert.deepEqual(await bench.row(row.id), row);
      const { phase, state, fence, attempt, tries, answers, isResumed, holder } = row;
      assert.deepEqual(
        { phase, state, fence, attempt, tries, answers, isResumed, holder },
        { phase: 'queued', state: 'TASK_STATE_SUBMITTED', fence: 1, attempt: 1, tries: 0, answers: 1, isResumed: false, holder: undefined },
      );
      const [message, submitted] = await bench.log(row.id);
      assert.deepEqual([message?.kind, message?.turn, message?.ordinal], ['message', 1, undefined]);
      assert.deepEqual([submitted?.state, submitted?.turn, submitted?.answers], ['TASK_STATE_SUBMITTED', 1, 1]);
    },
  },
  {
    name: 'a replica with room holds the turn that it brings, and the task is WORKING from the same commit on',
    async run(bench) {
      const { row } = await bench.accept({ replica: 'A', canStart: true });
      assert.deepEqual([row.phase, row.holder, row.state, row.dueAt], ['open', 'A', 'TASK_STATE_WORKING', undefined]);
      assert.deepEqual(await bench.words(row.id), ['message', 'WORKING']);
    },
  },
  {
    name: 'a repeated key gives the first result and the present holder, from any replica, and writes nothing (P9)',
    async run(bench) {
      const ask = bench.ask();
      const first = await bench.a.accept(ask);
      assert.ok(first.kind === 'accepted');
      const row = await bench.append(first.row, [{ kind: 'artifact', body: '{}' }]);
      const again = await bench.b.accept({ ...ask, replica: 'B' });
      assert.deepEqual(again, { kind: 'accepted', isRepeat: true, seq: 2, messageSeq: 1, turn: 1, row });
      assert.equal(row.holder, 'A');
    },
  },
  {
    name: 'a recorded key comes before every refusal ⚖ (busy, terminal, another context, waiting)',
    async run(bench) {
      const ask = bench.ask();
      const { row } = await bench.accept(ask);
      assert.equal((await bench.b.accept({ ...ask, whileWorking: 'refuse' })).kind, 'accepted');
      const [messageSeq] = await bench.wait(row.id, 1, { key: 'waiting' });
      await bench.append(row, [status('TASK_STATE_FAILED')]);
      for (const key of [ask.key, 'waiting']) {
        const again = await bench.b.accept({ ...ask, key, isNew: false, contextId: 'another' });
        assert.ok(again.kind === 'accepted' && again.isRepeat);
        assert.equal(again.messageSeq, key === 'waiting' ? messageSeq : 1);
        assert.equal(again.turn, key === 'waiting' ? undefined : 1);
        assert.equal(again.row.state, 'TASK_STATE_FAILED');
      }
    },
  },
  {
    name: 'a key with other content is refused, and so is a new task on an id that another key made (IDEM-01)',
    async run(bench) {
      const ask = bench.ask();
      await bench.accept(ask);
      assert.deepEqual(await bench.b.accept({ ...ask, digest: 'other' }), { kind: 'keyMismatch' });
      assert.deepEqual(await bench.b.accept({ ...ask, key: 'other' }), { kind: 'keyMismatch' });
      assert.deepEqual(await bench.words(ask.taskId), ['message', 'WORKING']);
    },
  },
  {
    name: 'two replicas that accept one key at the same moment record one message (AMB-05)',
    async run(bench) {
      const ask = bench.ask();
      const results = await Promise.all([bench.a.accept(ask), bench.b.accept({ ...ask, replica: 'B' }), bench.a.accept(ask)]);
      const firsts = results.filter((result) => result.kind === 'accepted' && !result.isRepeat);
      assert.equal(firsts.length, 1);
      assert.ok(results.every((result) => result.kind === 'accepted' && result.seq === 2 && result.turn === 1));
      assert.deepEqual(await bench.words(ask.taskId), ['message', 'WORKING']);
    },
  },
  {
    name: 'keys are told apart byte by byte, and belong to one task',
    async run(bench) {
      const row = await bench.ended('TASK_STATE_INPUT_REQUIRED', { key: 'a' });
      const other = await bench.accept({ key: 'a' });
      assert.equal(other.isRepeat, false);
      for (const key of ['A', 'a ', ' a', 'ä', 'a\u0308', 'ａ', 'aa']) {
        const { isRepeat, row: next } = await bench.accept({ taskId: row.id, key });
        assert.equal(isRepeat, false, `the key ${JSON.stringify(key)} is a new one`);
        await bench.append(next, [status('TASK_STATE_INPUT_REQUIRED')]);
      }
    },
  },
  {
    name: 'unknown and foreign tasks look alike, also to a repeat of the right key (P10, case 10)',
    async run(bench) {
      const ask = bench.ask();
      await bench.accept(ask);
      assert.deepEqual(await bench.b.accept(bench.ask({ taskId: 'unknown' })), { kind: 'absent' });
      for (const foreign of [{ agent: 'other' }, { tenant: 'other' }, { owner: 'other' }, { owner: '' }]) {
        for (const isNew of [true, false]) {
          const result = await bench.b.accept({ ...ask, isNew, scope: { ...scope, ...foreign } });
          assert.deepEqual(result, { kind: 'absent' });
        }
      }
    },
  },
  {
    name: 'a context that is not the task’s is refused, none takes the task’s (TURN-17, TURN-18, case 66)',
    async run(bench) {
      const { id } = await bench.ended('TASK_STATE_INPUT_REQUIRED', { contextId: 'mine' });
      assert.deepEqual(await bench.a.accept(bench.ask({ taskId: id, contextId: 'yours' })), { kind: 'contextMismatch' });
      const { row } = await bench.accept({ taskId: id });
      assert.equal(row.contextId, 'mine');
      assert.equal((await bench.row(id)).turn, 2);
    },
  },
  {
    name: 'an ended task takes no message (STATE-03, case 52)',
    async run(bench) {
      for (const state of ended) {
        const { id, seq } = await bench.ended(state);
        const result = await bench.b.accept(bench.ask({ taskId: id, whileWorking: 'enqueue' }));
        assert.deepEqual(result, { kind: 'terminal', state });
        assert.equal((await bench.row(id)).seq, seq);
      }
    },
  },
  {
    name: 'while a turn is queued or open, a message is refused unless the agent says otherwise (AMB-07, case 94)',
    async run(bench) {
      for (const row of [await bench.queued(), await bench.working()]) {
        const result = await bench.b.accept(bench.ask({ taskId: row.id }));
        assert.deepEqual(result, { kind: 'busy', state: row.state });
        assert.deepEqual(await bench.row(row.id), row);
      }
    },
  },
  {
    name: 'an enqueued message waits without a status, and the seventeenth finds no room',
    async run(bench) {
      for (const { id, fence, state } of [await bench.queued(), await bench.working()]) {
        const seqs = await bench.wait(id, WAITING_MAX);
        const row = await bench.row(id);
        assert.deepEqual(row.waiting, seqs);
        assert.deepEqual([row.fence, row.state, row.turn, row.isInterrupted], [fence, state, 1, false]);
        assert.deepEqual(await bench.b.accept(bench.ask({ taskId: id, whileWorking: 'enqueue' })), { kind: 'full' });
        const waiting = (await bench.log(id)).slice(2);
        assert.ok(waiting.every(({ kind, turn }) => kind === 'message' && turn === 0));
      }
    },
  },
  {
    name: 'an interrupt marks an open turn, for a queued one it is an enqueued message',
    async run(bench) {
      const open = await bench.working();
      const result = await bench.accept({ taskId: open.id, whileWorking: 'interrupt' });
      assert.deepEqual([result.row.isInterrupted, result.row.fence, result.turn], [true, open.fence, undefined]);
      const queued = await bench.queued();
      const waiting = await bench.accept({ taskId: queued.id, whileWorking: 'interrupt' });
      assert.deepEqual([waiting.row.isInterrupted, waiting.row.waiting.length], [false, 1]);
    },
  },
  {
    name: 'a turn that holds on AUTH_REQUIRED takes a message whatever the option says, and is not interrupted ⚖ (ITA-07)',
    async run(bench) {
      for (const whileWorking of ['refuse', 'enqueue', 'interrupt'] as const) {
        const row = await bench.append(await bench.working(), [status('TASK_STATE_AUTH_REQUIRED')]);
        assert.equal(row.phase, 'open');
        const result = await bench.accept({ taskId: row.id, whileWorking });
        assert.deepEqual([result.row.waiting, result.row.isInterrupted], [[result.messageSeq], false]);
      }
    },
  },
  {
    name: 'an answer to INPUT_REQUIRED opens the next turn under a higher fence and the limits of now (case 40)',
    async run(bench) {
      const before = await bench.ended('TASK_STATE_INPUT_REQUIRED');
      const { row, turn, messageSeq } = await bench.accept(
        { taskId: before.id, limits: { ...limits, triesMax: 7 }, replica: 'B' },
        bench.b,
      );
      assert.equal(turn, 2);
      assert.ok(row.fence > before.fence);
      assert.deepEqual(
        [row.phase, row.holder, row.answers, row.attempt, row.tries, row.ordinal, row.limits.triesMax],
        ['open', 'B', messageSeq, 1, 0, 0, 7],
      );
      assert.deepEqual(await bench.words(row.id), ['message', 'WORKING', 'INPUT_REQUIRED', 'message', 'WORKING']);
    },
  },
  {
    name: 'of two answers at the same moment exactly one opens a turn (AMB-07)',
    async run(bench) {
      const { id } = await bench.ended('TASK_STATE_INPUT_REQUIRED');
      const results = await Promise.all([bench.a, bench.b].map((store) => store.accept(bench.ask({ taskId: id }))));
      assert.deepEqual(results.map(({ kind }) => kind).toSorted(), ['accepted', 'busy']);
      assert.equal((await bench.row(id)).turn, 2);
    },
  },
];
