import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/protocol/types.ts';
import { Refused, callers, collect, ended, opened, pause, refusalOf, rounds, stageOf, standing, statesOf, textsOf } from './support.ts';
import { Aim, untilMet } from '../replicas/races.ts';
import type { Stranger } from './support.ts';

const stage = stageOf();

/** The canceled task, or the error in its place. */
const cancelOf = (who: Stranger, id: string): Promise<Task | Refused> =>
  who.cancel(id).catch((error: unknown) => {
    if (error instanceof Refused) return error;
    throw error;
  });

describe('a second cancel', () => {
  test.each(callers)(
    '$name: in parallel or after the first, on any replica, is answered with the same task (case 76, IDEM-03, AMB-04)',
    async (raw) => {
      const who = stage.by(raw);
      for (const script of ['silent 60000', 'ask who?', 'auth sign in']) {
        const { id } = await who.start(script);
        if (script !== 'silent 60000') await standing(who, id, (state) => state.endsWith('_REQUIRED'));
        const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => who.at(index % 2).cancel(id)));
        for (const answer of answers) expect(answer).toEqual(answers[0]);
        expect(answers[0]?.status.state).toBe('TASK_STATE_CANCELED');
        for (const index of [0, 1]) expect(await who.at(index).cancel(id)).toEqual(answers[0]);
      }
    },
  );
});

describe('the answer of a cancel', () => {
  test.each(callers)(
    '$name: is CANCELED exactly if that is what is stored, else the task has completed (case 77, CANC-01, CANC-02, CANC-06)',
    async (raw) => {
      const who = stage.by(raw);
      const aim = new Aim(); // at the end of the script
      const once = async (): Promise<'canceled' | 'completed'> => {
        const { silentMs, waitMs } = aim;
        const { id } = await who.at(0).start(`silent ${silentMs}; emit 3 1; done`);
        await pause(waitMs);
        const answer = await cancelOf(who.at(1), id);
        const stored = await Promise.all([0, 1].map((index) => ended(who.at(index), id)));
        expect(stored[0]).toEqual(stored[1]);
        if (answer instanceof Refused) {
          expect(answer.told).toMatchObject({ reason: 'TASK_NOT_CANCELABLE', metadata: { state: 'TASK_STATE_COMPLETED' } });
          expect(stored[0]?.status.state).toBe('TASK_STATE_COMPLETED');
        } else {
          expect(answer.status.state).toBe('TASK_STATE_CANCELED');
          expect(stored[0]).toEqual(answer);
        }
        const isLate = answer instanceof Refused;
        aim.adjust(isLate);
        return isLate ? 'completed' : 'canceled';
      };
      await untilMet(['canceled', 'completed'], rounds(125, 10), () => Promise.all(Array.from({ length: 4 }, once)));
    },
  );

  test.each(callers)('$name: is an error for what has ended otherwise, whose state it names (CANC-02)', async (raw) => {
    const who = stage.by(raw);
    for (const [script, state] of [
      ['done', 'TASK_STATE_COMPLETED'],
      ['refuse no', 'TASK_STATE_REJECTED'],
      ['artifact a b; fail', 'TASK_STATE_FAILED'],
    ] as const) {
      const task = await who.send(script);
      expect(task.status.state).toBe(state);
      const { told } = await refusalOf(who.cancel(task.id));
      expect(told).toMatchObject({ reason: 'TASK_NOT_CANCELABLE', metadata: { taskId: task.id, state } });
      expect(await who.get(task.id)).toEqual(task);
    }
  });

  test.each(callers)('$name: is an error for what is not there (CANC-03)', async (raw) => {
    expect((await refusalOf(stage.by(raw).cancel('no-such-task'))).told.reason).toBe('TASK_NOT_FOUND');
  });
});

describe('a cancel', () => {
  test.each(callers)(
    '$name: ends a task that waits for its user, tells who follows it, and nothing comes after (case 78, CANC-07)',
    async (raw) => {
      const who = stage.by(raw);
      const { id } = await who.at(0).send('emit 2 0; ask who?');
      const following = await Promise.all([0, 1].map((index) => opened(who.at(index).subscribe(id))));
      expect((await who.at(1).cancel(id)).status.state).toBe('TASK_STATE_CANCELED');
      for (const { all } of following) expect(statesOf(await all)).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_CANCELED']);
      expect((await refusalOf(who.send('me', { taskId: id }))).told).toMatchObject({
        reason: 'UNSUPPORTED_OPERATION',
        metadata: { state: 'TASK_STATE_CANCELED' },
      });
      expect((await refusalOf(collect(who.stream('me', { taskId: id })))).told.reason).toBe('UNSUPPORTED_OPERATION');
      expect((await who.get(id)).history?.map(({ parts }) => parts)).toEqual([[{ text: 'emit 2 0; ask who?' }], [{ text: 'who?' }]]);
    },
  );

  test.each(callers)(
    '$name: keeps all that was seen before it, and ends a blocking send on another replica with the same task (case 4, case 77)',
    async (raw) => {
      const who = stage.by(raw);
      const contextId = crypto.randomUUID();
      const sending = who.at(0).send('emit 5000 4; done', { contextId });
      let id: string | undefined;
      while (id === undefined)
        ({ id } = (await who.at(1).ask<{ tasks: Task[] }>('ListTasks', { contextId })).tasks[0] ?? { id: undefined });
      const seen = collect(who.at(1).subscribe(id), (_one, all) => textsOf(all).length > 20);
      await seen;
      const canceled = await who.at(1).cancel(id);
      expect(await sending).toEqual(canceled);
      const texts = (canceled.artifacts ?? []).flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? part.text : [])));
      expect(texts.join('').startsWith(textsOf(await seen).join(''))).toBe(true);
      expect(await who.at(0).get(id)).toEqual(canceled);
    },
  );
});
