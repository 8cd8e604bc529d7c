import { describe, expect, test } from 'vitest';
import { NO_TASK } from '../../proof/chaos/stage.ts';
import { LostAnswerError } from '../../src/testing/probe.ts';
import type { Probe } from '../../src/testing/probe.ts';
import { opened } from './races.ts';
import { chunks, collect, ended, eventually, openStage, partsOf, standing, statesOf, textsOf } from './support.ts';
import type { Stage } from './support.ts';

/** `dead-ack` kills the process behind the commit of its fifth write. */
const FATAL_WRITE = 5;

/** Replica A will die so; B goes on, and runs again what A has left. */
function open(): Promise<Stage> {
  return openStage({ replicas: 2, flags: (index) => ['--on-lost', 'retry', ...(index === 0 ? ['--fault', 'dead-ack'] : [])] });
}

/** Writes that change nothing, so that the fatal one is the one that is meant. */
async function writesBefore(probe: Probe, fatal: 'accept' | 'first append' | 'third append' | 'cancel'): Promise<void> {
  const before = { accept: 1, cancel: 1, 'first append': 2, 'third append': 4 }[fatal];
  for (let write = 0; write < FATAL_WRITE - before; write++) {
    await expect(probe.cancel(NO_TASK)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  }
}

const named = () => ({ key: crypto.randomUUID(), messageId: crypto.randomUUID() });

/** The process is gone, by its own hand. */
async function died(stage: Stage): Promise<void> {
  expect(await stage.rig.replica(0).ended()).toEqual({ code: undefined, signal: 'SIGKILL' });
}

const startsOf = async ({ rig }: Stage, taskId: string): Promise<number[]> =>
  (await rig.effects()).flatMap(({ task, what, attempt }) => (task === taskId && what === 'start' ? [attempt] : []));

describe('a process that is killed between a commit and its answer (case 5)', () => {
  test('has recorded the message: the repeat under its key finds the task, and the turn is run (P5, P9)', async () => {
    await using stage = await open();
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const key = named();
    await writesBefore(a, 'accept');
    await expect(a.send('emit 100 1; done', key)).rejects.toBeInstanceOf(LostAnswerError);
    await died(stage);
    const { tasks } = await b.list({});
    expect(tasks).toHaveLength(1); // nobody was told of it, and there it is
    const again = await b.sendForTask('emit 100 1; done', { ...key, returnImmediately: true });
    expect(again.id).toBe(tasks[0]?.id);
    const task = await ended(b, again.id, 30_000);
    expect(partsOf(task)).toEqual(chunks(1, 100));
    expect(task.history).toHaveLength(1);
    expect((await b.list({})).tasks).toHaveLength(1);
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test.each(['first append', 'third append'] as const)(
    'at its %s has lost nothing that it said and says nothing twice: chunks 1 to 100 once each, for every reader (P9)',
    async (fatal) => {
      await using stage = await open();
      const [a, b] = [stage.probe(0), stage.probe(1)];
      await writesBefore(a, fatal);
      // silent first: what kills the process must not come before its caller has the id
      const { id } = await a.sendForTask('silent 300; emit 100 5; done', { returnImmediately: true });
      const onB = collect(b.subscribe(id));
      await died(stage);
      const task = await ended(b, id, 30_000);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(partsOf(task)).toEqual(chunks(1, 100)); // the second run replaces what the first left
      const seen = await onB;
      expect(new Set(seen.map(({ seq }) => seq)).size).toBe(seen.length);
      expect(textsOf(seen).slice(-100)).toEqual(chunks(1, 100));
      expect(await startsOf(stage, id)).toEqual([1, 2]);
      expect((await stage.verdict()).violations).toEqual([]);
    },
  );

  test('behind the end of a task has ended it: it is not run again, and the repeat of the blocking send is answered with it (P3, P9)', async () => {
    await using stage = await open();
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const key = named();
    await writesBefore(a, 'first append');
    await expect(a.send('done at last', key)).rejects.toBeInstanceOf(LostAnswerError);
    await died(stage);
    const task = await b.sendForTask('done at last', key);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.history).toHaveLength(1);
    expect(await startsOf(stage, task.id)).toEqual([1]);
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('has canceled: the code on the other replica is stopped, readers are told, and the repeat is answered CANCELED (P8, P9)', async () => {
    await using stage = await open();
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const { id } = await b.sendForTask('work; silent 600000', { returnImmediately: true });
    await standing(b, id, 'TASK_STATE_WORKING');
    const onB = await opened(b.subscribe(id));
    await writesBefore(a, 'cancel');
    await expect(a.cancel(id)).rejects.toBeInstanceOf(LostAnswerError);
    await died(stage);
    expect((await b.get(id)).status.state).toBe('TASK_STATE_CANCELED');
    expect((await b.cancel(id)).status.state).toBe('TASK_STATE_CANCELED');
    expect(statesOf(await onB.all).at(-1)).toBe('TASK_STATE_CANCELED');
    await eventually('the abort', async () => (await stage.rig.effects()).some(({ task, what }) => task === id && what === 'abort'));
    expect((await stage.verdict()).violations).toEqual([]);
  });
});
