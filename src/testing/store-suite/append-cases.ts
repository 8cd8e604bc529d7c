import assert from 'node:assert/strict';
import type { NewEntry } from '../../log/entry.ts';
import type { Store, TaskRow } from '../../log/store.ts';
import { StoreError } from '../../log/store.ts';
import type { SuiteCase } from '../suite-runner.ts';
import type { StoreBench } from './bench.ts';
import { chunk, limits, scope, status } from './bench.ts';

const chunks = (from: number, to: number): readonly NewEntry[] =>
  Array.from({ length: to - from + 1 }, (_, index) => chunk(`${from + index} `));

const taken = (...seqs: readonly number[]): NewEntry => ({ kind: 'taken', taken: seqs, body: JSON.stringify({ messages: seqs }) });

/** What a store makes of the words of a running turn. */
export const appendCases: readonly SuiteCase<StoreBench>[] = [
  {
    name: 'entries stand in the order they were said, numbered within their run, and the body is what was written (case 74)',
    async run(bench) {
      const row = await bench.working();
      const bodies = ['{"text":"ß 漢 🜚 \\u0000 \\ud800 \u2028"}', `{"text":"${'x'.repeat(1_200_000)}"}`, '{}'];
      const after = await bench.append(
        row,
        bodies.map((body) => ({ kind: 'artifact', body })),
      );
      const said = (await bench.log(row.id)).slice(2);
      assert.deepEqual(
        said.map(({ seq, kind, turn, fence, ordinal }) => ({ seq, kind, turn, fence, ordinal })),
        [1, 2, 3].map((ordinal) => ({ seq: ordinal + 2, kind: 'artifact', turn: 1, fence: row.fence, ordinal })),
      );
      assert.ok(said.every(({ body }, index) => body === bodies[index]));
      assert.deepEqual([after.seq, after.ordinal], [5, 3]);
    },
  },
  {
    name: 'a repeated append is applied once, also when it is cut at other places than before ⚖ (P9, case 5)',
    async run(bench) {
      const { id: taskId, fence } = await bench.working();
      const say = (from: number, to: number, store = bench.a) => store.append({ taskId, fence, from, entries: chunks(from, to) });
      await say(1, 3);
      await say(1, 3, bench.b);
      await say(2, 5, bench.b);
      await say(1, 2);
      const last = await say(5, 6);
      assert.ok(last.kind === 'applied');
      assert.equal(last.row.ordinal, 6);
      assert.deepEqual(
        (await bench.log(taskId)).slice(2).map(({ body }) => body),
        chunks(1, 6).map(({ body }) => body),
      );
    },
  },
  {
    name: 'the repeat of the append that ended the task is told that it stands ⚖',
    async run(bench) {
      const row = await bench.working();
      const ask = { taskId: row.id, fence: row.fence, from: 1, entries: [chunk('a'), status('TASK_STATE_COMPLETED')] };
      const first = await bench.a.append(ask);
      assert.ok(first.kind === 'applied');
      const again = { kind: 'applied', row: first.row }; // a repeat writes nothing, so it tells of nothing written
      assert.deepEqual(await bench.b.append(ask), again);
      assert.deepEqual(await bench.b.append({ ...ask, from: 2, entries: [status('TASK_STATE_COMPLETED')] }), again);
      assert.deepEqual(await bench.words(row.id), ['message', 'WORKING', 'artifact', 'COMPLETED']);
    },
  },
  {
    name: 'what a write says it has written stands in the log, word for word, and nothing else of it is new (P2)',
    async run(bench) {
      const accepted = await bench.accept();
      const { id: taskId, fence } = accepted.row;
      const written = [...(accepted.written ?? (await bench.log(taskId)))];
      for (const [from, to] of [
        [1, 2],
        [2, 4],
      ] as const) {
        const before = (await bench.row(taskId)).seq;
        const applied = await bench.b.append({ taskId, fence, from, entries: chunks(from, to) });
        assert.ok(applied.kind === 'applied');
        written.push(...(applied.written ?? (await bench.log(taskId)).slice(before)));
      }
      assert.deepEqual(written, await bench.log(taskId));
    },
  },
  {
    name: 'a batch that overtook an earlier one is refused as a gap and nothing of it is written ⚖',
    async run(bench) {
      const { id: taskId, fence } = await bench.working();
      const late = { taskId, fence, from: 3, entries: chunks(3, 4) };
      assert.deepEqual(await bench.a.append(late), { kind: 'gap', ordinal: 0 });
      await bench.a.append({ taskId, fence, from: 1, entries: chunks(1, 1) });
      assert.deepEqual(await bench.a.append(late), { kind: 'gap', ordinal: 1 });
      await bench.a.append({ taskId, fence, from: 2, entries: chunks(2, 2) });
      assert.equal((await bench.a.append(late)).kind, 'applied');
    },
  },
  {
    name: 'only the holder of the present fence writes, however long the other one was paused (P4, case 6)',
    async run(bench) {
      const queued = await bench.queued();
      assert.equal((await bench.tryAppend(queued, [chunk('a')])).kind, 'fenced', 'a queued turn has no holder');
      const [open] = await bench.a.claim({ agent: scope.agent, replica: 'A', limit: 1 });
      assert.ok(open !== undefined);
      for (const fence of [open.fence - 1, open.fence + 1]) {
        const result = await bench.tryAppend({ ...open, fence }, [chunk('a')]);
        assert.deepEqual(result, { kind: 'fenced', row: open });
      }
      assert.deepEqual(await bench.a.append({ taskId: 'unknown', fence: 1, from: 1, entries: [chunk('a')] }), { kind: 'fenced' });
      const said = await bench.append(open, chunks(1, 3));
      const old = await bench.a.append({ taskId: open.id, fence: open.fence - 1, from: 1, entries: chunks(1, 2) });
      assert.deepEqual(old, { kind: 'fenced', row: said }, 'ordinals of another run say nothing of this one');
      const closed = await bench.append(said, [status('TASK_STATE_INPUT_REQUIRED')]);
      assert.equal((await bench.tryAppend(closed, [chunk('b')])).kind, 'fenced', 'a closed turn takes no more words');
    },
  },
  {
    name: 'nothing is written after the end, whoever asks (P3, case 18)',
    async run(bench) {
      for (const state of ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED', 'TASK_STATE_CANCELED'] as const) {
        const row = await bench.ended(state);
        for (const fence of [row.fence, row.fence + 1]) {
          const result = await bench.tryAppend({ ...row, fence }, [status('TASK_STATE_WORKING')], bench.b);
          assert.deepEqual(result, { kind: 'terminal', row });
        }
      }
    },
  },
  {
    name: 'INPUT_REQUIRED and terminal states close the turn in their commit and leave the fence, AUTH_REQUIRED keeps it open (case 49, 50)',
    async run(bench) {
      const before = await bench.working();
      const auth = await bench.append(before, [status('TASK_STATE_AUTH_REQUIRED')]);
      assert.deepEqual([auth.phase, auth.holder, auth.state], ['open', 'A', 'TASK_STATE_AUTH_REQUIRED']);
      const row = await bench.append(auth, [status('TASK_STATE_WORKING'), status('TASK_STATE_INPUT_REQUIRED')]);
      assert.deepEqual([row.phase, row.holder, row.fence, row.ordinal], ['closed', undefined, before.fence, 3]);
    },
  },
  {
    name: 'a turn that leaves the task on AUTH_REQUIRED closes without another status',
    async run(bench) {
      const row = await bench.append(await bench.working(), [status('TASK_STATE_AUTH_REQUIRED'), { kind: 'closed', body: '{}' }]);
      assert.deepEqual([row.phase, row.state, row.statusSeq, row.seq], ['closed', 'TASK_STATE_AUTH_REQUIRED', 3, 4]);
      assert.equal((await bench.accept({ taskId: row.id })).turn, 2);
    },
  },
  {
    name: 'messages that a turn took no longer wait, others do, and an interrupt whose message was taken is over',
    async run(bench) {
      const row = await bench.working();
      const [first = 0, second = 0] = await bench.wait(row.id, 2, { whileWorking: 'interrupt' });
      const one = await bench.append(row, [taken(first, 4711)]);
      assert.deepEqual([one.waiting, one.isInterrupted], [[second], true]);
      const none = await bench.append(one, [taken(second)]);
      assert.deepEqual([none.waiting, none.isInterrupted], [[], false]);
      assert.equal((await bench.append(none, [status('TASK_STATE_COMPLETED')])).state, 'TASK_STATE_COMPLETED');
    },
  },
  {
    name: 'a turn that closes while messages wait hands over: SUBMITTED in its place, one turn for each, oldest first ⚖',
    async run(bench) {
      const endings: readonly (readonly NewEntry[])[] = [
        [chunk('a'), status('TASK_STATE_COMPLETED', '{"metadata":{"k":1}}')],
        [chunk('a'), status('TASK_STATE_INPUT_REQUIRED', '{"metadata":{"k":1}}')],
      ];
      for (const entries of endings) {
        const before = await bench.working();
        const [first, second] = await bench.wait(before.id, 2);
        const row = await bench.append(before, entries);
        assert.deepEqual([row.phase, row.state, row.turn, row.answers], ['queued', 'TASK_STATE_SUBMITTED', 2, first]);
        assert.deepEqual([row.waiting, row.attempt, row.tries, row.ordinal, row.holder], [[second], 1, 0, 0, undefined]);
        assert.ok(row.fence > before.fence);
        const last = (await bench.log(row.id)).at(-1);
        assert.deepEqual([last?.turn, last?.answers, last?.body, last?.ordinal], [2, first, '{"metadata":{"k":1}}', 2]);
        assert.deepEqual((await bench.words(row.id)).slice(-2), ['artifact', 'SUBMITTED'], 'nobody saw the other state');
      }
    },
  },
  {
    name: 'a turn that leaves AUTH_REQUIRED while a message waits hands over as well ⚖',
    async run(bench) {
      const before = await bench.append(await bench.working(), [status('TASK_STATE_AUTH_REQUIRED')]);
      const [message] = await bench.wait(before.id, 1);
      const row = await bench.append(before, [{ kind: 'closed', body: '{}' }]);
      assert.deepEqual([row.phase, row.state, row.turn, row.answers], ['queued', 'TASK_STATE_SUBMITTED', 2, message]);
    },
  },
  {
    name: 'FAILED and REJECTED end the task for the waiting messages too',
    async run(bench) {
      for (const state of ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED'] as const) {
        const before = await bench.working();
        await bench.wait(before.id, 2, { whileWorking: 'interrupt' });
        const row = await bench.append(before, [status(state)]);
        assert.deepEqual([row.phase, row.state, row.waiting, row.isInterrupted], ['closed', state, [], false]);
      }
    },
  },
  {
    name: 'the repeat of an append that handed over is fenced, and finds its words in the log by fence and ordinal',
    async run(bench) {
      const before = await bench.working();
      await bench.wait(before.id, 1);
      const ask = { taskId: before.id, fence: before.fence, from: 1, entries: [chunk('a'), status('TASK_STATE_COMPLETED')] };
      await bench.a.append(ask);
      assert.equal((await bench.b.append(ask)).kind, 'fenced');
      const mine = (await bench.log(before.id)).filter(({ fence, ordinal }) => fence === before.fence && ordinal !== undefined);
      assert.deepEqual(
        mine.map(({ ordinal, state }) => [ordinal, state]),
        [
          [1, undefined],
          [2, 'TASK_STATE_SUBMITTED'],
        ],
      );
    },
  },
  {
    name: 'a task at its limit of entries or bytes takes only what closes the turn',
    async run(bench) {
      for (const small of [{ entriesMax: 4 }, { bytesMax: 300 }]) {
        const before = await bench.working({ body: '{}', limits: { ...limits, ...small } });
        const row = await bench.append(before, [chunk('a'), chunk('b')]);
        const over = [chunk('c'.repeat(300)), status('TASK_STATE_COMPLETED')];
        assert.deepEqual(await bench.tryAppend(row, over), { kind: 'limit' });
        assert.deepEqual(await bench.row(row.id), row, 'nothing of it was written');
        const end = await bench.append(row, [status('TASK_STATE_FAILED', `{"metadata":{"why":"${'x'.repeat(300)}"}}`)]);
        assert.equal(end.state, 'TASK_STATE_FAILED');
      }
    },
  },
  {
    name: 'one bad member fails alone: its neighbours in the group are written (case 95)',
    async run(bench) {
      const rows = await Promise.all(Array.from({ length: 6 }, () => bench.working()));
      const bad: readonly (readonly NewEntry[])[] = [
        [{ kind: 'closed', body: '{}' }],
        [status('TASK_STATE_COMPLETED'), chunk('after the end')],
        [{ kind: 'artifact', state: 'TASK_STATE_WORKING', body: '{}' }],
      ];
      const results = await Promise.allSettled(rows.map((row, index) => bench.tryAppend(row, bad[index] ?? [chunk('good')])));
      results.forEach((result, index) => {
        if (index >= bad.length) assert.equal(result.status, 'fulfilled');
        else {
          assert.ok(result.status === 'rejected');
          assert.ok(result.reason instanceof StoreError && result.reason.kind === 'unstorable', String(result.reason));
        }
      });
      for (const [index, row] of rows.entries()) {
        assert.deepEqual(await bench.words(row.id), ['message', 'WORKING', ...(index < bad.length ? [] : ['artifact'])]);
        assert.equal(
          (await bench.append(row.ordinal === 0 && index < bad.length ? row : await bench.row(row.id), [status('TASK_STATE_FAILED')]))
            .phase,
          'closed',
        );
      }
    },
  },
  {
    name: 'many batches of many turns, in flight at once on both replicas, each come out whole and in order (P1)',
    async run(bench) {
      const rows = await Promise.all(Array.from({ length: 8 }, () => bench.working()));
      const batches = Array.from({ length: 20 }, (_, index) => 1 + index * 5);
      const send = async (row: TaskRow, from: number, store: Store): Promise<void> => {
        // a store may let batches overtake each other; then it says gap, and the writer sends again
        await bench.until('the batches before', async () => {
          const result = await store.append({ taskId: row.id, fence: row.fence, from, entries: chunks(from, from + 4) });
          assert.ok(result.kind === 'applied' || result.kind === 'gap', result.kind);
          return result.kind === 'applied' ? true : undefined;
        });
      };
      await Promise.all(rows.flatMap((row, index) => batches.map((from) => send(row, from, index % 2 === 0 ? bench.a : bench.b))));
      const said = chunks(1, 100).map(({ body }) => body);
      for (const { id } of rows) assert.deepEqual(await bodiesOf(bench, id), said);
    },
  },
];

/** What the agent said, as the log has it. */
async function bodiesOf(bench: StoreBench, taskId: string): Promise<readonly string[]> {
  return (await bench.log(taskId)).slice(2).map(({ body }) => body);
}
