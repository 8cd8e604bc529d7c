import assert from 'node:assert/strict';
import type { TaskRow, TurnLimits } from '../../log/store.ts';
import type { SuiteCase } from '../suite-runner.ts';
import type { StoreBench } from './bench.ts';
import { chunk, limits, scope, status } from './bench.ts';

/** The error that a rule writes into a status. */
async function failureOf(bench: StoreBench, taskId: string): Promise<unknown> {
  const body: unknown = JSON.parse((await bench.log(taskId)).at(-1)?.body ?? 'null');
  const { message, metadata } = body as {
    message: { role: string; taskId: string; parts: { text: string }[] };
    metadata: Record<string, { code: string; message: string }>;
  }; // written by the rules
  assert.deepEqual([message.role, message.taskId, message.parts[0]?.text], ['ROLE_AGENT', taskId, metadata['chorus/error']?.message]);
  return metadata['chorus/error']?.code;
}

async function sweep(bench: StoreBench): Promise<readonly TaskRow[]> {
  const [one, two] = await Promise.all([bench.a.sweep({ limit: 100 }), bench.b.sweep({ limit: 100 })]);
  return [...one, ...two];
}

const lost = (over: Partial<TurnLimits>) => ({ replica: 'B', limits: { ...limits, ...over } });

/** Who lives, and what becomes of the turns of those who do not. */
export const livingCases: readonly SuiteCase<StoreBench>[] = [
  {
    name: 'a tick renews the own beat and shows those of the others, a look raises nothing',
    async run(bench) {
      const beatOfA = async (): Promise<unknown> => (await bench.b.tick(bench.tickAsk({ replica: 'B' }))).beats;
      assert.deepEqual(await beatOfA(), [{ replica: 'A', beat: 0 }]);
      const { isAlive, beats } = await bench.a.tick(bench.tickAsk({ own: 'renew' }));
      assert.deepEqual([isAlive, beats], [true, [{ replica: 'B', beat: 0 }]]);
      assert.equal((await bench.a.tick(bench.tickAsk())).isAlive, true);
      assert.deepEqual(await beatOfA(), [{ replica: 'A', beat: 1 }]);
    },
  },
  {
    name: 'a suspect is declared dead only if its counter is still the one seen ⚖, and a dead replica never lives again',
    async run(bench) {
      const suspect = (beat: number) =>
        bench.a.tick(
          bench.tickAsk({
            own: 'renew',
            suspects: [
              { replica: 'B', beat },
              { replica: 'unknown', beat: 0 },
            ],
          }),
        );
      await bench.b.tick(bench.tickAsk({ replica: 'B', own: 'renew' }));
      assert.deepEqual((await suspect(0)).beats, [{ replica: 'B', beat: 1 }]);
      assert.deepEqual((await suspect(1)).beats, []);
      assert.equal((await bench.b.tick(bench.tickAsk({ replica: 'B', own: 'renew' }))).isAlive, false);
      await bench.b.join({ replica: 'B' });
      assert.equal((await bench.b.tick(bench.tickAsk({ replica: 'B', own: 'renew' }))).isAlive, false, 'the same id is no new life');
      await bench.b.join({ replica: 'B2' });
      assert.equal((await bench.b.tick(bench.tickAsk({ replica: 'B2' }))).isAlive, true);
    },
  },
  {
    name: 'a replica that is dead, or never joined, has no say about others',
    async run(bench) {
      const suspects = [{ replica: 'B', beat: 0 }];
      assert.equal((await bench.a.tick(bench.tickAsk({ replica: 'stranger', own: 'renew', suspects }))).isAlive, false);
      await bench.kill('A');
      assert.equal((await bench.a.tick(bench.tickAsk({ own: 'renew', suspects }))).isAlive, false);
      assert.equal((await bench.b.tick(bench.tickAsk({ replica: 'B' }))).isAlive, true);
    },
  },
  {
    name: 'a tick names the turns that its replica holds, with their fences, and what waits in the queue',
    async run(bench) {
      const held = [await bench.working(), await bench.working()];
      await bench.working({ replica: 'B' });
      const queued = await bench.queued();
      await bench.queued({ scope: { ...scope, agent: 'another' } });
      const result = await bench.a.tick(bench.tickAsk());
      assert.deepEqual(
        result.held.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
        held,
      );
      assert.deepEqual([result.queued, result.oldestQueuedAt], [1, queued.queuedAt]);
      await bench.b.cancel({ scope, taskId: held[0]?.id ?? '', body: '{}' });
      assert.deepEqual((await bench.a.tick(bench.tickAsk())).held, [held[1]]);
    },
  },
  {
    name: 'a tick tells which watched tasks have grown and which are gone',
    async run(bench) {
      const [one, two] = [await bench.working(), await bench.working()];
      await bench.append(one, [chunk('a'), chunk('b')]);
      const watched = [one, two, { id: 'unknown', seq: 0 }].map(({ id, seq }) => ({ taskId: id, seq }));
      const { grown, gone } = await bench.b.tick(bench.tickAsk({ replica: 'B', watched }));
      assert.deepEqual([grown, gone], [[{ taskId: one.id, seq: 4 }], ['unknown']]);
    },
  },
  {
    name: 'open turns of the living are never swept, those of the dead by their policy, once (P6, case 3)',
    async run(bench) {
      const mine = await bench.working();
      const fail = await bench.working(lost({ onLost: 'fail' }));
      const ask = await bench.working(lost({ onLost: 'ask' }));
      const retry = await bench.working(lost({ onLost: 'retry' }));
      assert.deepEqual(await sweep(bench), []);
      assert.equal((await bench.a.tick(bench.tickAsk())).hasSweepable, false);
      await bench.kill('B');
      assert.equal((await bench.a.tick(bench.tickAsk())).hasSweepable, true);
      const swept = await sweep(bench);
      assert.deepEqual(swept.map(({ id }) => id).toSorted(), [fail.id, ask.id, retry.id].toSorted());
      assert.deepEqual(await bench.row(mine.id), mine);
      for (const before of [fail, ask, retry]) assert.ok((await bench.row(before.id)).fence > before.fence);
      assert.deepEqual([(await bench.row(fail.id)).state, await failureOf(bench, fail.id)], ['TASK_STATE_FAILED', 'LOST']);
      assert.deepEqual([(await bench.row(ask.id)).state, await failureOf(bench, ask.id)], ['TASK_STATE_INPUT_REQUIRED', 'LOST']);
      const again = await bench.row(retry.id);
      assert.deepEqual([again.phase, again.state, again.attempt, again.tries], ['queued', 'TASK_STATE_SUBMITTED', 2, 1]);
      const log = await bench.log(retry.id);
      assert.deepEqual([log.at(-1)?.fence, log.at(-1)?.body], [again.fence, '{"metadata":{"chorus/lost":{"attempt":1}}}']);
      for (const row of [fail, ask, retry])
        assert.notEqual((await bench.tryAppend(row, [chunk('late')])).kind, 'applied', 'the lost run writes no more');
      assert.deepEqual(await sweep(bench), []);
    },
  },
  {
    name: 'the turn of a replica that never joined, or whose row is gone, is an orphan too',
    async run(bench) {
      const row = await bench.working({ replica: 'stranger' });
      assert.deepEqual(
        (await sweep(bench)).map(({ id }) => id),
        [row.id],
      );
    },
  },
  {
    name: 'a turn is started at most triesMax times by losses; runs that were given back do not count',
    async run(bench) {
      const { id } = await bench.working(lost({ onLost: 'retry', triesMax: 3 }));
      await bench.kill('B');
      await sweep(bench);
      const attempts: number[] = [];
      for (const replica of ['C', 'D', 'E']) {
        await bench.a.join({ replica });
        const [row] = await bench.a.claim({ agent: scope.agent, replica, limit: 1 });
        if (row === undefined) break;
        attempts.push(row.attempt);
        if (replica === 'C') await bench.a.release({ taskId: id, fence: row.fence, why: 'drain' });
        await bench.kill(replica);
        await sweep(bench);
      }
      assert.deepEqual(attempts, [2, 3, 4]);
      assert.deepEqual([(await bench.row(id)).state, await failureOf(bench, id)], ['TASK_STATE_FAILED', 'LOST']);
    },
  },
  {
    name: 'losses are counted for one turn: the next one starts with all its tries',
    async run(bench) {
      const { id } = await bench.working(lost({ onLost: 'retry', triesMax: 2 }));
      await bench.kill('B');
      await sweep(bench);
      const [again] = await bench.a.claim({ agent: scope.agent, replica: 'A', limit: 1 });
      assert.ok(again !== undefined);
      assert.deepEqual([again.attempt, again.tries], [2, 1]);
      await bench.append(again, [status('TASK_STATE_INPUT_REQUIRED')]);
      const { row } = await bench.accept({ taskId: id });
      assert.deepEqual([row.attempt, row.tries], [1, 0]);
    },
  },
  {
    name: 'a lost turn that is given back while a message waits hands over to it',
    async run(bench) {
      const { id } = await bench.working(lost({ onLost: 'ask' }));
      const [message] = await bench.wait(id, 1);
      await bench.kill('B');
      const [row] = await sweep(bench);
      assert.deepEqual([row?.phase, row?.state, row?.turn, row?.answers], ['queued', 'TASK_STATE_SUBMITTED', 2, message]);
    },
  },
  {
    name: 'a lost turn that is retried keeps the messages that wait',
    async run(bench) {
      const { id } = await bench.working(lost({ onLost: 'retry' }));
      const waiting = await bench.wait(id, 2, { whileWorking: 'interrupt' });
      await bench.kill('B');
      const [row] = await sweep(bench);
      assert.deepEqual([row?.turn, row?.waiting, row?.isInterrupted], [1, waiting, false]);
    },
  },
  {
    name: 'a turn that nobody claims in time ends FAILED, and is not claimed after its time (P6)',
    async run(bench) {
      const { id } = await bench.queued({ limits: { ...limits, queueMs: 20 } });
      const patient = await bench.queued();
      await bench.wait(id, 1);
      bench.pass(20);
      await bench.until('the time in the queue to end', async () =>
        (await bench.a.tick(bench.tickAsk())).hasSweepable ? true : undefined,
      );
      assert.deepEqual(
        (await bench.a.claim({ agent: scope.agent, replica: 'A', limit: 10 })).map((row) => row.id),
        [patient.id],
      );
      assert.deepEqual(
        (await sweep(bench)).map((row) => row.id),
        [id],
      );
      const row = await bench.row(id);
      assert.deepEqual([row.state, row.waiting, await failureOf(bench, id)], ['TASK_STATE_FAILED', [], 'QUEUE_TIMEOUT']);
    },
  },
  {
    name: 'a pause that nobody ends expires, INPUT_REQUIRED and closed AUTH_REQUIRED alike (P6)',
    async run(bench) {
      const over = { limits: { ...limits, pausedTtlMs: 20 } };
      const asked = await bench.ended('TASK_STATE_INPUT_REQUIRED', over);
      const auth = await bench.append(await bench.working(over), [status('TASK_STATE_AUTH_REQUIRED'), { kind: 'closed', body: '{}' }]);
      const open = await bench.append(await bench.working(over), [status('TASK_STATE_AUTH_REQUIRED')]);
      bench.pass(20);
      const swept = new Set<string>();
      await bench.until('both pauses to expire', async () => {
        for (const { id } of await sweep(bench)) swept.add(id);
        return swept.size >= 2 ? true : undefined;
      });
      assert.deepEqual([...swept].toSorted(), [asked.id, auth.id].toSorted());
      for (const id of swept) assert.deepEqual([(await bench.row(id)).state, await failureOf(bench, id)], ['TASK_STATE_FAILED', 'EXPIRED']);
      assert.equal((await bench.row(open.id)).phase, 'open');
      assert.deepEqual(await bench.a.accept(bench.ask({ taskId: asked.id })), { kind: 'terminal', state: 'TASK_STATE_FAILED' });
    },
  },
  {
    name: 'a sweep settles no more than it is asked to, the next one goes on',
    async run(bench) {
      const rows = await Promise.all(Array.from({ length: 5 }, () => bench.working({ replica: 'B' })));
      await bench.kill('B');
      const sizes: number[] = [];
      for (let count = 0; count < 4; count += 1) sizes.push((await bench.a.sweep({ limit: 2 })).length);
      assert.deepEqual(sizes, [2, 2, 1, 0]);
      for (const { id } of rows) assert.equal((await bench.row(id)).state, 'TASK_STATE_FAILED');
    },
  },
];
