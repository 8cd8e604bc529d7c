import assert from 'node:assert/strict';
import type { OnLost, ReleaseAsk, TaskRow } from '../../log/store.ts';
import type { SuiteCase } from '../suite-runner.ts';
import type { StoreBench } from './bench.ts';
import { chunk, limits, scope, status } from './bench.ts';

const cancelAsk = (taskId: string): { taskId: string; scope: typeof scope; body: string } => ({
  taskId,
  scope,
  body: '{"metadata":{"by":"user"}}',
});

const claim = (bench: StoreBench, limit = 1, store = bench.a, replica = 'A'): Promise<readonly TaskRow[]> =>
  store.claim({ agent: scope.agent, replica, limit });

async function release(bench: StoreBench, row: TaskRow, why: ReleaseAsk['why']): Promise<TaskRow> {
  const result = await bench.a.release({ taskId: row.id, fence: row.fence, why });
  assert.ok(result.kind === 'released');
  return result.row;
}

/** The body of the last entry, read. */
async function lastBody(bench: StoreBench, taskId: string): Promise<unknown> {
  return JSON.parse((await bench.log(taskId)).at(-1)?.body ?? 'null');
}

const withPolicy = (onLost: OnLost) => ({ limits: { ...limits, onLost } });

/** How a store cancels, claims, releases and resumes. */
export const settleCases: readonly SuiteCase<StoreBench>[] = [
  {
    name: 'a cancel settles a task wherever it stands: one entry, the turn closed, the fence raised, nobody waiting (P8, case 15, 78)',
    async run(bench) {
      const working = await bench.working();
      await bench.wait(working.id, 2);
      for (const before of [await bench.queued(), await bench.ended('TASK_STATE_INPUT_REQUIRED'), working]) {
        const result = await bench.b.cancel(cancelAsk(before.id));
        assert.ok(result.kind === 'canceled' && !result.isRepeat);
        const { row } = result;
        assert.deepEqual([row.state, row.phase, row.holder, row.waiting], ['TASK_STATE_CANCELED', 'closed', undefined, []]);
        assert.ok(row.fence > before.fence);
        assert.deepEqual(await bench.row(row.id, bench.a), row);
        assert.deepEqual(await lastBody(bench, row.id), { metadata: { by: 'user' } });
      }
    },
  },
  {
    name: 'a second cancel is told of the first, of another end the caller learns its state (AMB-04, CANC-02, case 76)',
    async run(bench) {
      const { id } = await bench.working();
      await bench.a.cancel(cancelAsk(id));
      const row = await bench.row(id);
      assert.deepEqual(await bench.b.cancel(cancelAsk(id)), { kind: 'canceled', isRepeat: true, row });
      for (const state of ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED'] as const)
        assert.deepEqual(await bench.a.cancel(cancelAsk((await bench.ended(state)).id)), { kind: 'settled', state });
    },
  },
  {
    name: 'nobody cancels a task that is unknown or another’s (P10, CANC-03)',
    async run(bench) {
      const { id } = await bench.working();
      assert.deepEqual(await bench.a.cancel(cancelAsk('unknown')), { kind: 'absent' });
      for (const foreign of [{ agent: 'other' }, { tenant: 'other' }, { owner: 'other' }])
        assert.deepEqual(await bench.a.cancel({ ...cancelAsk(id), scope: { ...scope, ...foreign } }), { kind: 'absent' });
      assert.equal((await bench.row(id)).phase, 'open');
    },
  },
  {
    name: 'of a cancel and a last word at the same moment one wins, and everybody agrees which (case 1, 17, 93)',
    async run(bench) {
      for (let round = 0; round < 20; round += 1) {
        const row = await bench.working();
        const say = (): ReturnType<StoreBench['tryAppend']> => bench.tryAppend(row, [chunk('a'), status('TASK_STATE_COMPLETED')]);
        const [first, second] = round % 2 === 0 ? [say(), bench.b.cancel(cancelAsk(row.id))] : [bench.b.cancel(cancelAsk(row.id)), say()];
        const kinds = [(await first).kind, (await second).kind];
        const { state } = await bench.row(row.id);
        assert.equal(kinds.includes('canceled'), state === 'TASK_STATE_CANCELED');
        assert.equal(kinds.includes('applied'), state === 'TASK_STATE_COMPLETED');
      }
    },
  },
  {
    name: 'the oldest queued turn is claimed first, under a higher fence, and the task is WORKING from that commit on',
    async run(bench) {
      const rows: TaskRow[] = [];
      for (let count = 0; count < 3; count += 1) {
        rows.push(await bench.queued());
        bench.pass(1);
      }
      await bench.working();
      const claimed = [...(await claim(bench, 2, bench.b, 'B')), ...(await claim(bench, 2, bench.b, 'B'))];
      assert.deepEqual(
        claimed.map(({ id }) => id),
        rows.map(({ id }) => id),
      );
      for (const [index, row] of claimed.entries()) {
        assert.deepEqual([row.phase, row.holder, row.state, row.turn, row.attempt], ['open', 'B', 'TASK_STATE_WORKING', 1, 1]);
        assert.ok(row.fence > (rows[index]?.fence ?? row.fence));
        assert.deepEqual(await bench.words(row.id), ['message', 'SUBMITTED', 'WORKING']);
      }
      assert.deepEqual(await claim(bench), []);
    },
  },
  {
    name: 'a turn is claimed once, and only for its own agent (P4, case 6)',
    async run(bench) {
      const rows = await Promise.all(Array.from({ length: 10 }, () => bench.queued()));
      await bench.queued({ scope: { ...scope, agent: 'another' } });
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, index) => claim(bench, 3, index % 2 === 0 ? bench.a : bench.b, index % 2 === 0 ? 'A' : 'B')),
      );
      const ids = claims.flat().map(({ id }) => id);
      assert.deepEqual(ids.toSorted(), rows.map(({ id }) => id).toSorted());
    },
  },
  {
    name: 'a replica that leaves gives its turns back by their policy, and that is no loss (case 98)',
    async run(bench) {
      const failed = await release(bench, await bench.working(withPolicy('fail')), 'drain');
      assert.equal(failed.state, 'TASK_STATE_FAILED');
      const before = await bench.working(withPolicy('retry'));
      const queued = await release(bench, before, 'drain');
      assert.deepEqual(
        [queued.phase, queued.state, queued.turn, queued.attempt, queued.tries],
        ['queued', 'TASK_STATE_SUBMITTED', 1, 2, 0],
      );
      assert.ok(queued.fence > before.fence);
      const asked = await release(bench, await bench.working(withPolicy('ask')), 'drain');
      assert.deepEqual([asked.phase, asked.state], ['closed', 'TASK_STATE_INPUT_REQUIRED']);
    },
  },
  {
    name: 'a replica that had no contact gives its turns back as lost once more, up to the cap',
    async run(bench) {
      const before = await bench.working({ limits: { ...limits, onLost: 'retry', triesMax: 2 } });
      const queued = await release(bench, before, 'silence');
      assert.deepEqual([queued.phase, queued.attempt, queued.tries], ['queued', 2, 1]);
      const [again] = await claim(bench);
      assert.ok(again !== undefined);
      assert.equal((await release(bench, again, 'silence')).state, 'TASK_STATE_FAILED');
    },
  },
  {
    name: 'a turn that was told to stop and did not makes room for the message that waits',
    async run(bench) {
      const before = await bench.working();
      const [message] = await bench.wait(before.id, 1, { whileWorking: 'interrupt' });
      const row = await release(bench, before, 'interrupt');
      assert.deepEqual([row.phase, row.state, row.turn, row.answers], ['queued', 'TASK_STATE_SUBMITTED', 2, message]);
      assert.deepEqual([row.waiting, row.isInterrupted], [[], false]);
      assert.equal((await bench.tryAppend(before, [chunk('late')])).kind, 'fenced');
    },
  },
  {
    name: 'an interrupted turn whose message was taken, but that did not end, is settled by its policy',
    async run(bench) {
      const before = await bench.working(withPolicy('ask'));
      assert.equal((await release(bench, before, 'interrupt')).state, 'TASK_STATE_INPUT_REQUIRED');
    },
  },
  {
    name: 'only the present fence of an open turn can be released, and only once',
    async run(bench) {
      const row = await bench.working(withPolicy('retry'));
      const ask = { taskId: row.id, fence: row.fence, why: 'drain' } as const;
      for (const fence of [row.fence - 1, row.fence + 1]) assert.deepEqual(await bench.a.release({ ...ask, fence }), { kind: 'fenced' });
      assert.deepEqual(await bench.row(row.id), row);
      assert.equal((await bench.a.release(ask)).kind, 'released');
      assert.deepEqual(await bench.b.release(ask), { kind: 'fenced' });
      assert.deepEqual(await bench.b.release({ ...ask, fence: row.fence + 1 }), { kind: 'fenced' });
      assert.deepEqual(await bench.b.release({ ...ask, taskId: 'unknown' }), { kind: 'fenced' });
    },
  },
  {
    name: 'a closed AUTH_REQUIRED task is resumed once, for the message it answered last, by whichever replica is called first',
    async run(bench) {
      const before = await bench.append(await bench.working(), [status('TASK_STATE_AUTH_REQUIRED'), { kind: 'closed', body: '{}' }]);
      const ask = { agent: scope.agent, taskId: before.id, replica: 'A', canStart: true, limits: { ...limits, triesMax: 9 } };
      const results = await Promise.all([bench.a.resume(ask), bench.b.resume({ ...ask, replica: 'B' })]);
      assert.deepEqual(results.map(({ kind }) => kind).toSorted(), ['notPaused', 'resumed']);
      const row = await bench.row(before.id);
      assert.deepEqual([row.phase, row.state, row.turn, row.answers, row.isResumed], ['open', 'TASK_STATE_WORKING', 2, 1, true]);
      assert.deepEqual([row.attempt, row.limits.triesMax, row.ordinal], [1, 9, 0]);
      assert.ok(row.fence > before.fence);
      assert.equal((await bench.log(row.id)).at(-1)?.answers, 1);
    },
  },
  {
    name: 'a resume without room queues the turn, and nothing but a closed AUTH_REQUIRED task is resumed',
    async run(bench) {
      const ask = { agent: scope.agent, taskId: 'unknown', replica: 'A', canStart: false, limits };
      assert.deepEqual(await bench.a.resume(ask), { kind: 'absent' });
      const open = await bench.append(await bench.working(), [status('TASK_STATE_AUTH_REQUIRED')]);
      for (const row of [
        open,
        await bench.queued(),
        await bench.ended('TASK_STATE_INPUT_REQUIRED'),
        await bench.ended('TASK_STATE_COMPLETED'),
      ])
        assert.deepEqual(await bench.a.resume({ ...ask, taskId: row.id }), { kind: 'notPaused', state: row.state });
      const closed = await bench.append(open, [{ kind: 'closed', body: '{}' }]);
      assert.deepEqual(await bench.a.resume({ ...ask, agent: 'another', taskId: closed.id }), { kind: 'absent' });
      const result = await bench.a.resume({ ...ask, taskId: closed.id });
      assert.ok(result.kind === 'resumed');
      assert.deepEqual([result.row.phase, result.row.state], ['queued', 'TASK_STATE_SUBMITTED']);
    },
  },
];
