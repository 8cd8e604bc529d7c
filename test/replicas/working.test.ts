import { describe, expect, test } from 'vitest';
import type { Probe } from '../../src/testing/probe.ts';
import { dataOf, ended, eventually, openStage, partsOf } from './support.ts';
import type { Stage } from './support.ts';

const run = (stage: Stage, taskId: string, what: string) =>
  eventually(`${what} of ${taskId}`, async () =>
    (await stage.rig.effects()).find((effect) => effect.task === taskId && effect.what === what),
  );

/** A task whose turn runs on A, and the two replicas that a second message may reach. */
async function working(stage: Stage, script: string): Promise<{ readonly id: string; readonly others: readonly Probe[] }> {
  const { id } = await stage.probe(0).sendForTask(script, { returnImmediately: true });
  await run(stage, id, 'start');
  return { id, others: [stage.probe(0), stage.probe(1)] };
}

describe('a message to a task that is working, on the same replica and on another (case 6, case 94)', () => {
  test('is refused with a clear error by default, and leaves no trace', async () => {
    await using stage = await openStage({ replicas: 2 });
    const { id, others } = await working(stage, 'work; silent 3000; emit 3 0; done');
    for (const probe of others)
      await expect(probe.send('artifact more 1', { taskId: id })).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    const task = await ended(others[1] ?? stage.probe(0), id);
    expect(partsOf(task)).toEqual(['1 ', '2 ', '3 ']);
    expect(task.history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(1);
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('waits for its turn with whileWorking enqueue: recorded once, executed once, one turn after the other', async () => {
    await using stage = await openStage({ replicas: 2, flags: ['--while-working', 'enqueue'] });
    const { id, others } = await working(stage, 'work; silent 3000; artifact first 1; done');
    const answers = await Promise.all(others.map((probe, index) => probe.sendForTask(`artifact more ${index}; ask next?`, { taskId: id })));
    // each caller waited for its own turn; the turn behind it may have been seen by then
    for (const answer of answers) expect(answer.artifacts?.length).toBeGreaterThanOrEqual(2);
    const task = await eventually('both turns', async () => {
      const read = await stage.probe(0).get(id);
      return partsOf(read).length === 3 && read;
    });
    expect(partsOf(task).toSorted()).toEqual(['0', '1', '1'].toSorted());
    expect(task.history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(3);
    const effects = (await stage.rig.effects()).filter((effect) => effect.task === id && ['start', 'end'].includes(effect.what));
    expect(effects.map(({ what }) => what)).toEqual(['start', 'end', 'start', 'end', 'start', 'end']); // no overlap
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('is taken by a turn that looks into its inbox', async () => {
    await using stage = await openStage({ replicas: 2, flags: ['--while-working', 'enqueue'] });
    const { id } = await working(stage, 'work; silent 3000; inbox; done');
    await stage.probe(1).sendForTask('by the way', { taskId: id, returnImmediately: true });
    const task = await ended(stage.probe(1), id);
    expect(partsOf(task)).toEqual(['by the way']);
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('takes the place of the running turn with whileWorking interrupt', async () => {
    await using stage = await openStage({ replicas: 2, flags: ['--while-working', 'interrupt', '--cancel-grace-ms', '500'] });
    for (const word of ['silent', 'deaf']) {
      const { id } = await working(stage, `work; ${word} 60000; artifact first 1; done`);
      const asked = Date.now();
      const task = await stage.probe(1).sendForTask('artifact second 2; done', { taskId: id });
      expect(Date.now() - asked).toBeLessThan(30_000); // it would be a minute
      expect(partsOf(task)).toEqual(['2']);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    }
    expect((await stage.verdict()).violations).toEqual([]);
  });
});

describe('the caller of a turn', () => {
  test('is never mixed up with another, however requests interleave, and lives as long as the turn (case 28, case 29)', async () => {
    await using stage = await openStage({ replicas: 2 });
    const asked = Array.from({ length: 60 }, async (_, index) => {
      const caller = index % 3 === 0 ? undefined : `user ${index % 3}`;
      const probe = stage.probe(index % 2, caller === undefined ? {} : { caller });
      const { id } = await probe.sendForTask('silent 200; whoami', { returnImmediately: true });
      const task = await ended(probe, id);
      expect(dataOf(task, 'caller')).toMatchObject({ name: caller ?? null });
      return { id, caller };
    });
    const tasks = await Promise.all(asked);
    // a stranger cannot tell a foreign task from none (P10)
    const mine = tasks.find(({ caller }) => caller === 'user 1');
    const stranger = stage.probe(1, { caller: 'user 2' });
    await expect(stranger.get(mine?.id ?? '')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(stranger.cancel(mine?.id ?? '')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(stranger.send('done', { taskId: mine?.id ?? '' })).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect((await stranger.list()).totalSize).toBe(20);
  });
});
