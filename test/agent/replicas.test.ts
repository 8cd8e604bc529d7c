import { describe, expect, test } from 'vitest';
import type { StreamResponse } from '../../src/protocol/types.ts';
import { TaskFold } from '../../src/log/fold.ts';
import { artifactsOf, gist, kinds, Replicas, taskOf, textOf, until } from './replicas.ts';

/** Starts to follow and resolves once the first item is here. */
async function following(stream: AsyncIterable<StreamResponse>): Promise<{ readonly all: Promise<readonly StreamResponse[]> }> {
  const iterator = stream[Symbol.asyncIterator]();
  const first = await iterator.next();
  const rest = async (): Promise<readonly StreamResponse[]> => {
    const items: StreamResponse[] = first.done ? [] : [first.value];
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) items.push(next.value);
    return items;
  };
  return { all: rest() };
}

describe.each(kinds)('replicas on %s', (kind) => {
  test('(a) turn 1 on A asks, turn 2 runs on B, subscribers on A and C get the same list to the end (case 7)', async () => {
    await using replicas = await Replicas.open(kind, 3);
    const task = taskOf(await replicas.client(0).send('emit 1 0; ask Which?'));
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const observers = await Promise.all([0, 2].map((index) => following(replicas.client(index).task(task.id).follow())));
    await replicas.client(1).task(task.id).send('work; emit 3 1; done');
    const [onA, onC] = await Promise.all(observers.map(({ all }) => all));
    expect(onA).toEqual(onC);
    expect(onA?.map(gist)[0]).toBe('task:INPUT_REQUIRED');
    expect(onA?.map(gist).at(-1)).toBe('status:COMPLETED');
    expect(onA?.map(gist)).not.toContain('status:INPUT_REQUIRED');
  });

  test('(b) a resume never overwrites what another replica stored (case 2)', async () => {
    await using replicas = await Replicas.open(kind, 3);
    const { id } = taskOf(await replicas.client(0).send('artifact a one; ask more'));
    await replicas.client(1).task(id).send('artifact b two; ask more');
    await replicas.client(2).task(id).send('artifact c three; done');
    for (const index of [0, 1, 2]) {
      const task = await replicas.client(index).task(id).get();
      expect(artifactsOf(task)).toMatchObject({ a: 'one', b: 'two', c: 'three' });
      const said = task.history?.filter(({ role }) => role === 'ROLE_USER').map(({ parts }) => textOf(parts));
      expect(said).toEqual(['artifact a one; ask more', 'artifact b two; ask more', 'artifact c three; done']);
    }
  });

  test('(c) a cancel on B against a burst on A stays CANCELED for every observer (case 1, case 4, case 93)', async () => {
    await using replicas = await Replicas.open(kind, 3);
    for (let round = 0; round < 8; round += 1) {
      const started = await replicas.client(0).start('emit 300 0; done');
      const observers = await Promise.all([0, 1, 2].map((index) => following(replicas.client(index).task(started.id).follow())));
      const canceled = await replicas
        .client(1)
        .task(started.id)
        .cancel()
        .catch((error: unknown) => error);
      const lists = await Promise.all(observers.map(({ all }) => all));
      const finals = await Promise.all([0, 1, 2].map((index) => replicas.client(index).task(started.id).get()));
      expect(finals[1]).toEqual(finals[0]);
      expect(finals[2]).toEqual(finals[0]);
      const isCanceled = finals[0]?.status.state === 'TASK_STATE_CANCELED';
      if (isCanceled) expect(canceled).toEqual(finals[0]);
      else expect(canceled).toMatchObject({ code: 'TASK_NOT_CANCELABLE' });
      for (const list of lists) {
        const fold = new TaskFold(started.id);
        for (const item of list) fold.see(item);
        expect(fold.task()?.status).toEqual(finals[0]?.status);
        expect(fold.task()?.artifacts).toEqual(finals[0]?.artifacts);
      }
    }
  });

  test('(d) a follow-up is stored once, with the first change of its turn, and nothing stale is published (case 8)', async () => {
    await using replicas = await Replicas.open(kind, 2);
    const { id } = taskOf(await replicas.client(0).send('ask more'));
    const observer = await following(replicas.client(1).task(id).follow());
    const states: string[] = [];
    for await (const item of replicas.client(0).task(id).stream('work; done')) states.push(gist(item));
    const seen = (await observer.all).map(gist);
    expect(states[0]).toMatch(/^task:(WORKING|SUBMITTED)$/);
    expect(seen[0]).toBe('task:INPUT_REQUIRED');
    expect([...states, ...seen.slice(1)]).not.toContain('status:INPUT_REQUIRED');
    const task = await replicas.client(1).task(id).get();
    expect(task.history?.filter(({ parts }) => textOf(parts) === 'work; done')).toHaveLength(1);
  });

  test('(e) an agent that throws right after its first word ends FAILED and keeps the word (case 14, case 31)', async () => {
    await using replicas = await Replicas.open(kind, 2);
    const task = taskOf(await replicas.client(0).send('emit 2 0; fail broken'));
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(artifactsOf(task)).toEqual({ out: '1 2 ' });
    expect(await replicas.client(1).task(task.id).get()).toEqual(task);
    // with no word before it, the sender gets the error, and everybody else the FAILED task
    const error: unknown = await replicas
      .client(0)
      .send('error INVALID_PARAMS wrong')
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('wrong'),
      metadata: { taskId: expect.any(String) },
    });
    const { taskId = '' } = (error as { metadata: Record<string, string> }).metadata; // checked in the line above
    expect((await replicas.client(1).task(taskId).get()).status.state).toBe('TASK_STATE_FAILED');
  });

  test('a cancel on B ends silent code on A at once, and its subscribers everywhere (case 17, case 96)', async () => {
    await using replicas = await Replicas.open(kind, 2);
    const started = await replicas.client(0).start('work; silent 60000');
    await until(async () => (await started.get()).status.state === 'TASK_STATE_WORKING', 'it works');
    const observers = await Promise.all([0, 1].map((index) => following(replicas.client(index).task(started.id).follow())));
    const before = performance.now();
    await replicas.client(1).task(started.id).cancel();
    const lists = await Promise.all(observers.map(({ all }) => all));
    expect(performance.now() - before).toBeLessThan(15_000); // the code is silent for a minute
    for (const list of lists) expect(list.map(gist).at(-1)).toBe('status:CANCELED');
    const drained = performance.now();
    await replicas.agent(0).close(); // its code has stopped, or the drain would wait for it
    expect(performance.now() - drained).toBeLessThan(15_000);
  });

  test('blocking sends answer with the committed end, many at once (case 34)', async () => {
    await using replicas = await Replicas.open(kind, 2);
    const tasks = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => taskOf(await replicas.client(index % 2).send('emit 10 0; done'))),
    );
    for (const [index, task] of tasks.entries()) {
      expect(artifactsOf(task)).toEqual({ out: '1 2 3 4 5 6 7 8 9 10 ' });
      expect(
        await replicas
          .client((index + 1) % 2)
          .task(task.id)
          .get(),
      ).toEqual(task);
    }
  });

  test('whoever reads INPUT_REQUIRED may answer it at once, on any replica (case 40)', async () => {
    await using replicas = await Replicas.open(kind, 2);
    const { id } = await replicas.client(0).start('ask 0');
    for (let round = 1; round <= 20; round += 1) {
      await until(async () => (await replicas.client(1).task(id).state()) === 'TASK_STATE_INPUT_REQUIRED', 'it asks');
      await replicas.client(round % 2).call('SendMessage', {
        message: { messageId: `m${round}`, taskId: id, role: 'ROLE_USER', parts: [{ text: `ask ${round}` }] },
        configuration: { returnImmediately: true },
      });
    }
    await until(async () => (await replicas.client(0).task(id).state()) === 'TASK_STATE_INPUT_REQUIRED', 'it asks');
    expect((await replicas.client(0).task(id).get()).history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(21);
  });

  test('resume goes on on any replica, without a message (AUTH_REQUIRED, design 6)', async () => {
    await using replicas = await Replicas.open(kind, 2, {
      run: (turn) => (turn.isResumed ? `resumed by ${turn.text}` : turn.askForAuth('Sign in.')),
    });
    const waiting = taskOf(await replicas.client(0).send('the calendar'));
    expect(waiting.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    const observer = await following(replicas.client(0).task(waiting.id).follow());
    await replicas.agent(1).resume(waiting.id);
    expect((await observer.all).map(gist).at(-1)).toBe('status:COMPLETED');
    const task = await replicas.client(0).task(waiting.id).get();
    expect(textOf(task.artifacts?.[0]?.parts)).toBe('resumed by the calendar');
    await expect(replicas.agent(0).resume(waiting.id)).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });

  test('a dropped stream goes on behind its cursor on another replica, without gap or repeat (case 20)', async () => {
    await using replicas = await Replicas.open(kind, 2);
    const started = await replicas.client(0).start('emit 60 2; done');
    const seen: string[] = [];
    let cursor: string | undefined;
    let hasEnded = false;
    for (let turn = 0; !hasEnded; turn += 1) {
      const options = cursor === undefined ? {} : { after: cursor };
      let count = 0;
      for await (const { item, id: at } of replicas.client(turn % 2).open('SubscribeToTask', { id: started.id }, options)) {
        cursor = at ?? cursor;
        if ('task' in item) seen.push(...(item.task.artifacts ?? []).map(({ parts }) => textOf(parts)));
        else seen.push(gist(item));
        hasEnded = gist(item) === 'status:COMPLETED';
        count += 1;
        if (count === 10) break;
      }
    }
    const words = seen.filter((word) => !word.startsWith('status:')).map((word) => word.replace('chunk:', ''));
    expect(words.join('')).toBe(Array.from({ length: 60 }, (_, index) => `${index + 1} `).join(''));
  });
});
