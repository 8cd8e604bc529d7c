import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Task } from '../../src/protocol/types.ts';
import type { Seen } from '../../src/testing/probe.ts';
import { opened } from './races.ts';
import { chunks, collect, ended, eventually, openStage, partsOf, pause, rounds, statesOf, textsOf } from './support.ts';
import type { Stage } from './support.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const sayings = ({ history = [], status }: Task): string[] =>
  [...history, ...(status.message ? [status.message] : [])].map(({ parts }) =>
    parts.map((part) => ('text' in part ? part.text : '')).join(''),
  );

/** Follows a task on every replica; resolves once all of them have their snapshot. */
async function watchEverywhere(id: string): Promise<readonly Promise<Seen[]>[]> {
  const seenBefore = stage.history.facts.length;
  const watching = stage.probes().map((probe) => collect(probe.subscribe(id)));
  await eventually('a snapshot on every replica', () => {
    const snapshots = stage.history.facts.slice(seenBefore).filter((fact) => fact.kind === 'item' && fact.taskId === id);
    return snapshots.length >= watching.length;
  });
  return watching;
}

describe('a task whose turns run on different replicas', () => {
  test('keeps what every turn said, in order: each turn starts from what is stored (case 2, case 64)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const { id } = await a.sendForTask('work one; artifact first 1; ask more?');
    await b.sendForTask('work two; artifact second 2; ask more?', { taskId: id });
    await a.sendForTask('work three; artifact third 3; done end', { taskId: id });
    for (const probe of stage.probes()) {
      const task = await probe.get(id);
      expect(task.artifacts?.map(({ name }) => name)).toEqual(['first', 'second', 'third']);
      const said = ['one', 'more?', 'two', 'more?', 'three', 'end'];
      const users = [
        'work one; artifact first 1; ask more?',
        'work two; artifact second 2; ask more?',
        'work three; artifact third 3; done end',
      ];
      expect(sayings(task)).toEqual([users[0], 'one', 'more?', users[1], 'two', 'more?', users[2], 'three', 'end']);
      expect(said.every((words) => sayings(task).includes(words))).toBe(true);
      expect(new Set(task.history?.map(({ messageId }) => messageId)).size).toBe(task.history?.length);
    }
  });

  test('is seen alike by subscribers on all replicas, from the pause to the end, wherever turn 2 runs (a, case 7)', async () => {
    const [a, b, c] = [stage.probe(0), stage.probe(1), stage.probe(2)];
    const { id } = await a.sendForTask('emit 2 1; ask and then?');
    const watching = await watchEverywhere(id);
    await b.sendForTask('work; emit 5 20; done', { taskId: id, returnImmediately: true });
    const [onA = [], ...others] = await Promise.all(watching);
    for (const list of others) expect(list).toEqual(onA);
    expect(onA[0]?.item).toMatchObject({ task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
    expect(statesOf(onA)).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_WORKING', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(textsOf(onA)).toEqual([...chunks(1, 2), ...chunks(1, 5)]);
    expect(partsOf(await c.get(id))).toEqual([...chunks(1, 2), ...chunks(1, 5)]);
  });

  test('never has its old state published again by a resume, and the message is there once (d, case 8)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const { id } = await a.sendForTask('ask and then?');
    const [, onB] = await watchEverywhere(id);
    const messageId = crypto.randomUUID();
    const streamed = await collect(a.stream('work; emit 3 5; done', { taskId: id, messageId }));
    const seen = (await onB) ?? [];
    expect(statesOf(seen).slice(1)).not.toContain('TASK_STATE_INPUT_REQUIRED'); // the first is the snapshot of the pause
    expect(statesOf(streamed)).not.toContain('TASK_STATE_INPUT_REQUIRED'); // the first is the task as of the message
    expect(statesOf(seen).at(-1)).toBe('TASK_STATE_COMPLETED');
    const task = await b.get(id);
    expect(task.history?.filter((message) => message.messageId === messageId)).toHaveLength(1);
  });

  test('can be answered by whoever can read INPUT_REQUIRED, at once and anywhere (b, case 40)', async () => {
    const [a, b, c] = [stage.probe(0), stage.probe(1), stage.probe(2)];
    for (let round = 0; round < rounds(500, 30); round++) {
      const { id } = await a.sendForTask('emit 1 0; ask and then?', { returnImmediately: true });
      await eventually('the question', async () => (await b.get(id)).status.state === 'TASK_STATE_INPUT_REQUIRED');
      const task = await (round % 2 === 0 ? b : c).sendForTask('artifact answer 1; done', { taskId: id });
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(task.artifacts?.map(({ name }) => name)).toEqual(['out', 'answer']); // what A stored is still there
    }
  });

  test('ends its stream and answers its blocking caller where it asks (case 50)', async () => {
    const streamed = await collect(stage.probe(0).stream('emit 1 0; ask well?'));
    expect(statesOf(streamed).at(-1)).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textsOf(streamed)).toEqual(['1 ']);
    const task = await stage.probe(1).sendForTask('emit 1 0; ask well?');
    expect(sayings(task).at(-1)).toBe('well?');
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  test('lets events through while it waits for credentials: streams stay open, on every replica (case 49)', async () => {
    const [a, b] = [stage.probe(0), stage.probe(1)];
    const streaming = a.stream('hold-auth sign in, please; emit 2 1; done');
    const first = await streaming.next();
    const id = first.value && 'task' in first.value.item ? first.value.item.task.id : '';
    const rest = collect(streaming);
    const { all: onB } = await opened(b.subscribe(id));
    await eventually('AUTH_REQUIRED', async () => (await b.get(id)).status.state === 'TASK_STATE_AUTH_REQUIRED');
    await pause(300); // the time in which a stream that ends on AUTH_REQUIRED would end
    await b.sendForTask('here is my token', { taskId: id, returnImmediately: true });
    for (const seen of await Promise.all([rest, onB])) {
      expect(statesOf(seen).slice(-2)).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
      expect(textsOf(seen).slice(-3)).toEqual(['here is my token', '1 ', '2 ']);
    }
    // a blocking caller has to act, so it is told
    expect((await a.sendForTask('auth sign in, please')).status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  });

  test('is still there, and still open to subscribers, after every replica was restarted (case 51)', async () => {
    const { id } = await stage.probe(0).sendForTask('emit 2 0; ask and then?');
    for (const index of [0, 1, 2]) {
      await stage.rig.kill(index);
      await stage.rig.restart(index);
    }
    const watching = await watchEverywhere(id);
    await stage.probe(2).sendForTask('emit 1 0; done', { taskId: id });
    for (const seen of await Promise.all(watching)) {
      expect(seen[0]?.item).toMatchObject({ task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
      expect(textsOf(seen)).toEqual(['1 ', '2 ', '1 ']);
    }
    expect((await ended(stage.probe(1), id)).status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('broke no promise in all that was seen here', async () => {
    const verdict = await stage.verdict();
    expect(verdict.violations).toEqual([]);
    expect(verdict.counted.items).toBeGreaterThan(50);
  });
});
