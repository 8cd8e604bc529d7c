import { describe, expect, test } from 'vitest';
import { callOf, codeOf, gist, kinds, Reader, sayAndGo, Stage, taskOf } from './stage.ts';

describe.each(kinds)('CancelTask on %s', (kind) => {
  test('settles the task in one commit on any replica and answers with it (P8, CANC-01, case 77)', async () => {
    await using stage = await Stage.open({ kind, replicas: 2 });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('go')));
    const actor = await stage.replica().actor(id);
    await actor.chunk('kept');
    const observers = await Promise.all(
      [0, 1].map(async (index) => new Reader(await stage.replica(index).operations.subscribeToTask(callOf(), { id }))),
    );
    const canceled = await stage.replica(1).operations.cancelTask(callOf(), { id });
    expect(canceled).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' }, artifacts: [{ parts: [{ text: 'kept' }] }] });
    expect(await actor.chunk('late')).toBe('terminal');
    expect(await stage.operations.getTask(callOf(), { id })).toEqual(canceled);
    for (const observer of observers) expect((await observer.rest()).map(gist)).toEqual(['task:WORKING', 'status:CANCELED']);
  });

  test.each(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const)(
    'a task that is %s can be canceled (CANC-07, case 78)',
    async (state) => {
      await using stage = await Stage.open({ kind });
      const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('go')));
      await (await stage.replica().actor(id)).status(state);
      expect((await stage.operations.cancelTask(callOf(), { id })).status.state).toBe('TASK_STATE_CANCELED');
      expect(await codeOf(stage.operations.sendMessage(callOf(), sayAndGo('more', { taskId: id })))).toBe('UNSUPPORTED_OPERATION');
    },
  );

  test('a queued task can be canceled', async () => {
    await using stage = await Stage.open({ kind });
    stage.replica().turns.canStart = false;
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('go')));
    expect((await stage.operations.cancelTask(callOf(), { id })).status.state).toBe('TASK_STATE_CANCELED');
    expect(await stage.replica().log.claim({ agent: 'Stage', replica: stage.replica().id, limit: 1 })).toEqual([]);
  });

  test('again, in a row or all at once over all replicas, it is answered with the canceled task (AMB-04, case 17, case 76)', async () => {
    await using stage = await Stage.open({ kind, replicas: 2 });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('go')));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => stage.replica(index % 2).operations.cancelTask(callOf(), { id })),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await stage.operations.cancelTask(callOf(), { id })).toEqual(answers[0]);
    expect((await stage.replica().log.row(id))?.seq).toBe(3);
  });

  test.each(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED'] as const)(
    'a task that is %s cannot be canceled (CANC-02)',
    async (state) => {
      await using stage = await Stage.open({ kind });
      const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('go')));
      await (await stage.replica().actor(id)).status(state);
      expect(await codeOf(stage.operations.cancelTask(callOf(), { id }))).toBe('TASK_NOT_CANCELABLE');
      expect((await stage.operations.getTask(callOf(), { id })).status.state).toBe(state);
    },
  );

  test('an unknown task is not found (CANC-03)', async () => {
    await using stage = await Stage.open({ kind });
    expect(await codeOf(stage.operations.cancelTask(callOf(), { id: 'unknown' }))).toBe('TASK_NOT_FOUND');
  });
});
