import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isA2AError } from '../../src/protocol/errors.ts';
import type { Task } from '../../src/protocol/types.ts';
import {
  chunks,
  collect,
  dataOf,
  ended,
  eventually,
  idIn,
  openStage,
  partsOf,
  pauseOutsideCommit,
  rounds,
  standing,
  statesOf,
  textsOf,
} from './support.ts';
import type { Stage } from './support.ts';

const errorOf = (task: Task): unknown => task.metadata?.['chorus/error'];
const secret = 'hunter2-in-/etc/passwd';

describe('an agent that fails', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ replicas: 2 });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test('right after its first word ends FAILED with what it said, and nobody sees more than a reference (e, case 14, case 71)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    for (let round = 0; round < rounds(200, 20); round++) {
      const task = await a.sendForTask(`work one; artifact first 1; fail ${secret}`);
      expect(task.status.state).toBe('TASK_STATE_FAILED');
      expect(task.artifacts).toHaveLength(1);
      expect(errorOf(task)).toMatchObject({ code: 'INTERNAL' });
      expect(JSON.stringify(task.status) + JSON.stringify(task.metadata)).not.toContain(secret);
      expect(await b.get(task.id)).toEqual(task);
    }
  });

  test('before its first word gives its blocking caller the error, and the task can be read (P7, case 32)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const failure = await a.send(`fail ${secret}`).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'INTERNAL', metadata: { taskId: expect.any(String) } });
    if (!isA2AError(failure)) throw new Error('an error of A2A was expected');
    expect(failure.message).not.toContain(secret);
    const { taskId = '' } = failure.metadata;
    expect((await b.get(taskId)).status.state).toBe('TASK_STATE_FAILED');
    const streamed = await collect(a.stream('fail'));
    expect(streamed[0]?.item).toHaveProperty('task');
    expect(statesOf(streamed).at(-1)).toBe('TASK_STATE_FAILED');
    expect((await b.get(idIn(streamed[0]?.item))).status.state).toBe('TASK_STATE_FAILED');
  });

  test('after its caller was answered ends FAILED all the same, with its history kept (case 31)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const { id } = await a.sendForTask('work one; silent 100; fail', { returnImmediately: true });
    const task = await ended(b, id);
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(task.history).toHaveLength(2);
  });

  test.each(['JSONRPC', 'HTTP+JSON'] as const)('with a typed error gives that error, over %s (case 68, case 69)', async (binding) => {
    const a = stage.probe(0, { binding });
    for (const code of [
      'TASK_NOT_FOUND',
      'CONTENT_TYPE_NOT_SUPPORTED',
      'INVALID_AGENT_RESPONSE',
      'UNSUPPORTED_OPERATION',
      'INVALID_PARAMS',
    ]) {
      await expect(a.send(`error ${code} sorry`)).rejects.toMatchObject({ code, message: expect.stringContaining('sorry') });
      const task = await a.sendForTask(`work; error ${code} sorry`); // said something before: the task tells
      expect(errorOf(task)).toMatchObject({ code, message: 'sorry' });
    }
  });

  test('on a word it does not know ends FAILED with INVALID_PARAMS and the word', async () => {
    await expect(stage.probe(0).send('dance')).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: expect.stringContaining('dance') });
  });

  test('after the end is refused, and nothing of it is seen (case 18)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const seen = await collect(a.stream('late; emit 1 0; done; work more; emit 3 0; fail'));
    const id = idIn(seen[0]?.item);
    await eventually('a refusal', async () =>
      (await stage.rig.effects()).some((effect) => effect.task === id && effect.what === 'refused'),
    );
    expect(statesOf(seen).at(-1)).toBe('TASK_STATE_COMPLETED');
    expect(partsOf(await b.get(id))).toEqual(['1 ']);
    expect((await b.get(id)).status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('broke no promise in all that was seen here', async () => {
    expect((await stage.verdict()).violations).toEqual([]);
  });
});

describe('a store that fails', () => {
  test('by losing the connection of the final write: it is repeated and stands, for every turn (e, case 12)', async () => {
    await using stage = await openStage({ replicas: 2, flags: ['--fault', 'final-write'] });
    const [a, b] = [stage.probe(0), stage.probe(1)];
    for (const [script, state] of [
      ['emit 3 1; done', 'TASK_STATE_COMPLETED'],
      ['emit 3 1; fail', 'TASK_STATE_FAILED'],
      ['emit 3 1; refuse', 'TASK_STATE_REJECTED'],
    ] as const) {
      const task = await a.sendForTask(script);
      expect(task.status.state).toBe(state);
      expect(partsOf(task)).toEqual(chunks(1, 3));
      expect(await b.get(task.id)).toEqual(task);
    }
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('by refusing COMPLETED for its content: FAILED stands in its place, what was said is kept (e, case 12)', async () => {
    await using stage = await openStage({ replicas: 2, flags: ['--fault', 'final-refused'] });
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const task = await a.sendForTask('work one; emit 3 1; done');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(errorOf(task)).toMatchObject({ code: 'UNSTORABLE' });
    expect(partsOf(task)).toEqual(chunks(1, 3));
    const streamed = await collect(a.stream('emit 2 1; done'));
    expect(statesOf(streamed)).not.toContain('TASK_STATE_COMPLETED'); // never shown, for it was never stored (P2)
    expect(statesOf(streamed).at(-1)).toBe('TASK_STATE_FAILED');
    expect(await b.get(task.id)).toEqual(task);
    expect((await a.sendForTask('emit 1 0; ask well?')).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('by losing acknowledgements: nothing is applied twice, nothing is missing (P9, case 5)', async () => {
    await using stage = await openStage({ replicas: 2, flags: ['--fault', 'lost-ack'] });
    const [a, b] = [stage.probe(0), stage.probe(1)];
    for (let round = 0; round < 5; round++) {
      const seen = await collect(a.stream('emit 100 2; done'));
      expect(textsOf(seen)).toEqual(chunks(1, 100));
      const task = await b.get(idIn(seen[0]?.item));
      expect(partsOf(task)).toEqual(chunks(1, 100));
      expect(task.history).toHaveLength(1);
    }
    const { id } = await a.sendForTask('silent 60000', { returnImmediately: true });
    expect((await b.cancel(id)).status.state).toBe('TASK_STATE_CANCELED');
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('by being slow: everything takes longer, and nothing else', async () => {
    await using stage = await openStage({ replicas: 2, flags: ['--fault', 'slow'] });
    const task = await stage.probe(0).sendForTask('emit 20 5; done');
    expect(partsOf(task)).toEqual(chunks(1, 20));
    const { id } = await stage.probe(0).sendForTask('silent 60000', { returnImmediately: true });
    expect((await stage.probe(1).cancel(id)).status.state).toBe('TASK_STATE_CANCELED');
    expect((await stage.verdict()).violations).toEqual([]);
  });
});

describe('a replica that dies', () => {
  test.each([
    ['fail', 'TASK_STATE_FAILED'],
    ['ask', 'TASK_STATE_INPUT_REQUIRED'],
    ['retry', 'TASK_STATE_COMPLETED'],
  ] as const)('leaves no orphan: with onLost %s its turn ends up %s, and subscribers are told (case 3, P6)', async (onLost, state) => {
    await using stage = await openStage({ flags: ['--on-lost', onLost] });
    const [a, b, c] = [stage.probe(0), stage.probe(1), stage.probe(2)];
    const { id } = await a.sendForTask('work; emit 3 1; silent 1500; done', { returnImmediately: true });
    const onB = collect(
      b.subscribe(id),
      ({ item }) => onLost === 'ask' && 'statusUpdate' in item && item.statusUpdate.status.state === state,
    );
    await eventually('the chunks', async () => partsOf(await c.get(id)).length === 3);
    stage.rig.recordLag();
    const at = await stage.rig.kill(0);
    stage.history.record({ kind: 'kill', signal: 'SIGKILL', at, observer: 'test', replica: 'A', holding: [id] });
    const seen = await onB;
    expect(statesOf(seen).at(-1)).toBe(state);
    const task = await standing(c, id, state);
    expect(partsOf(task)).toEqual(chunks(1, 3)); // the re-run replaces what the lost run left: not six
    if (onLost !== 'retry') expect(errorOf(task)).toMatchObject({ code: 'LOST' });
    const starts = (await stage.rig.effects()).filter((effect) => effect.task === id && effect.what === 'start');
    expect(starts.map(({ attempt }) => attempt)).toEqual(onLost === 'retry' ? [1, 2] : [1]);
    const verdict = await stage.verdict();
    expect(verdict.violations).toEqual([]);
    expect(verdict.kills).toHaveLength(1);
  });
});

describe('a replica that stands still for longer than its lease', () => {
  test('is superseded: its turn is settled meanwhile, and when it goes on its code is stopped and nothing it says counts (P4)', async () => {
    await using stage = await openStage({ flags: ['--on-lost', 'retry'] });
    const { rig } = stage;
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const { id } = await a.sendForTask('whoami; emit 100 40; done', { returnImmediately: true });
    await eventually('some chunks', async () => partsOf(await b.get(id)).length > 5);
    rig.recordLag();
    const at = await pauseOutsideCommit(rig, 0);
    stage.history.record({ kind: 'kill', signal: 'SIGSTOP', at, observer: 'test', replica: 'A', holding: [id] });
    const effects = async (what: string): Promise<readonly { readonly attempt: number; readonly pid: number }[]> =>
      (await rig.effects()).filter((effect) => effect.task === id && effect.what === what);
    await eventually('the second run', async () => (await effects('start')).length === 2);
    rig.resume(0); // in the middle of the second run
    await eventually('the abort of the first', async () =>
      (await effects('abort')).some(({ attempt, pid }) => attempt === 1 && pid === rig.replica(0).pid),
    );
    const task = await ended(b, id, 30_000);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(partsOf(task)).toEqual(chunks(1, 100));
    expect(dataOf(task, 'caller')).toMatchObject({ attempt: 2 });
    expect((await effects('abort')).map(({ attempt }) => attempt)).toEqual([1]);
    // the process lives on as another replica and takes turns again
    const again = await stage.probe(0).sendForTask('whoami; done');
    expect(again.status.state).toBe('TASK_STATE_COMPLETED');
    const verdict = await stage.verdict();
    expect(verdict.violations).toEqual([]);
    expect(verdict.kills).toHaveLength(1);
  });
});
