import { describe, expect, test } from 'vitest';
import type { AcceptResult, Store } from '../../src/log/store.ts';
import { StoreError } from '../../src/log/store.ts';
import { taskIdOf } from '../../src/operations/identity.ts';
import { callOf, codeOf, gist, kinds, Reader, say, sayAndGo, Stage, taskOf, until } from './stage.ts';

const keyed = (idempotencyKey = 'K', name?: string): ReturnType<typeof callOf> =>
  callOf({ idempotencyKey, caller: name === undefined ? {} : { name } });

describe.each(kinds)('a message with a key (P9, AMB-05) on %s', (kind) => {
  test('sent to two replicas at once it is one task, one message, one turn', async () => {
    await using stage = await Stage.open({ kind, replicas: 2 });
    const request = sayAndGo('once');
    const [a, b] = await Promise.all([0, 1].map((index) => stage.replica(index).operations.sendMessage(keyed(), request)));
    expect(taskOf(a!).id).toBe(taskOf(b!).id);
    expect(taskOf(b!).history).toHaveLength(1);
    expect(new Set(stage.replicas.flatMap(({ offered }) => offered.map(({ turn, fence }) => `${turn}/${fence}`))).size).toBe(1);
    expect((await stage.operations.listTasks(callOf(), {})).totalSize).toBe(1);
  });

  test('the repeat is answered with the present task, however the first was asked (configuration does not count)', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const request = say('once');
    const { id } = taskOf(await operations.sendMessage(keyed(), { ...request, configuration: { returnImmediately: true } }));
    const actor = await stage.replica().actor(id);
    await actor.chunk('a');
    const now = taskOf(
      await operations.sendMessage(keyed(), { ...request, configuration: { returnImmediately: true }, metadata: { x: 1 } }),
    );
    expect(now).toMatchObject({ id, artifacts: [{ parts: [{ text: 'a' }] }] });
    const blocking = operations.sendMessage(keyed(), request);
    await until(() => operations.openCalls === 1, 'the repeat waits');
    await actor.status('TASK_STATE_COMPLETED');
    expect(taskOf(await blocking).status.state).toBe('TASK_STATE_COMPLETED');
    expect(taskOf(await operations.sendMessage(keyed(), request)).status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('the repeat of a streaming send gets the Task and the tail, or the Task alone when it has ended', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const request = say('once');
    const first = new Reader(await operations.sendStreamingMessage(keyed(), request));
    const item = await first.next();
    const id = item && 'task' in item.item ? item.item.task.id : '';
    const actor = await stage.replica().actor(id);
    await actor.chunk('a');
    const again = new Reader(await operations.sendStreamingMessage(keyed(), request));
    expect(gist((await again.next())!)).toBe('task:WORKING');
    await actor.chunk('b');
    await actor.status('TASK_STATE_INPUT_REQUIRED');
    expect((await again.rest()).map(gist)).toEqual(['task:WORKING', 'chunk:b', 'status:INPUT_REQUIRED']);
    const rested = new Reader(await operations.sendStreamingMessage(keyed(), request));
    expect((await rested.rest()).map(gist)).toEqual(['task:INPUT_REQUIRED']);
    await operations.cancelTask(callOf(), { id });
    const ended = new Reader(await operations.sendStreamingMessage(keyed(), request));
    expect((await ended.rest()).map(gist)).toEqual(['task:CANCELED']);
  });

  test('the error of a turn that failed at once is the answer to every repeat', async () => {
    await using stage = await Stage.open({ kind });
    const request = say('once');
    const { id } = taskOf(await stage.operations.sendMessage(keyed(), { ...request, configuration: { returnImmediately: true } }));
    const failure = { 'chorus/error': { code: 'CONTENT_TYPE_NOT_SUPPORTED', message: 'No pictures.' } };
    await (await stage.replica().actor(id)).status('TASK_STATE_FAILED', 'x', failure);
    expect(await codeOf(stage.operations.sendMessage(keyed(), request))).toBe('CONTENT_TYPE_NOT_SUPPORTED');
    expect(await codeOf(stage.operations.sendMessage(keyed(), request))).toBe('CONTENT_TYPE_NOT_SUPPORTED');
  });

  test('a blocking repeat never answers with an interruption that is over', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const request = say('once');
    const { id } = taskOf(await operations.sendMessage(keyed(), { ...request, configuration: { returnImmediately: true } }));
    await (await stage.replica().actor(id)).status('TASK_STATE_INPUT_REQUIRED');
    await operations.sendMessage(callOf(), sayAndGo('answer', { taskId: id }));
    const repeat = operations.sendMessage(keyed(), request);
    await until(() => operations.openCalls === 1, 'the repeat waits');
    await (await stage.replica().actor(id)).status('TASK_STATE_COMPLETED');
    expect(taskOf(await repeat).status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('with other content it is refused; another caller, tenant or task makes it another key', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const request = sayAndGo('one');
    const { id } = taskOf(await operations.sendMessage(keyed(), request));
    expect(await codeOf(operations.sendMessage(keyed(), sayAndGo('other')))).toBe('INVALID_PARAMS');
    expect(await codeOf(operations.sendMessage(keyed(), { ...request, message: { ...request.message, contextId: 'c' } }))).toBe(
      'INVALID_PARAMS',
    );
    const shuffled = { parts: request.message.parts, role: request.message.role, messageId: request.message.messageId };
    expect(taskOf(await operations.sendMessage(keyed(), { ...request, message: shuffled })).id).toBe(id);
    const others = [keyed('K', 'Ann'), { ...keyed(), tenant: 'T' }, keyed('k')];
    const ids = await Promise.all(others.map(async (call) => taskOf(await operations.sendMessage(call, sayAndGo('x'))).id));
    expect(new Set([id, ...ids]).size).toBe(4);
    // under a key that opened it, a task takes nothing else; under any other it does
    const [other = ''] = ids.slice(-1);
    await (await stage.replica().actor(other)).status('TASK_STATE_INPUT_REQUIRED');
    expect(await codeOf(operations.sendMessage(keyed('k'), sayAndGo('answer', { taskId: other })))).toBe('INVALID_PARAMS');
    expect(taskOf(await operations.sendMessage(keyed('K'), sayAndGo('answer', { taskId: other }))).history).toHaveLength(2);
  });

  test('two messages with one messageId and no key are two messages (AMB-05)', async () => {
    await using stage = await Stage.open({ kind });
    const request = sayAndGo('same');
    const ids = [await stage.operations.sendMessage(callOf(), request), await stage.operations.sendMessage(callOf(), request)].map(
      (answer) => taskOf(answer).id,
    );
    expect(new Set(ids).size).toBe(2);
  });

  test.each(['', 'x'.repeat(256), 'a\nb'])('a key that no store could keep is refused by name (case 95)', async (key) => {
    await using stage = await Stage.open({ kind });
    expect(await codeOf(stage.operations.sendMessage(keyed(key), sayAndGo('x')))).toBe('INVALID_PARAMS');
  });

  test('a task id is a UUID of version 8, and no two lists of parts share one', () => {
    const scope = { agent: 'A', tenant: '', owner: '' };
    const ids = [
      taskIdOf(scope, 'K'),
      taskIdOf({ ...scope, tenant: 'K' }, ''),
      taskIdOf({ agent: '', tenant: 'A', owner: '' }, 'K'),
      taskIdOf({ agent: 'AK', tenant: '', owner: '' }, ''),
    ];
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(4);
    expect(taskIdOf(scope, 'K')).toBe(ids[0]);
  });
});

/** A store whose accepts are applied and then answered with a lost connection, so many times. */
function losingAnswers(store: Store, times: number): Store {
  let left = times;
  const accept = async (ask: Parameters<Store['accept']>[0]): Promise<AcceptResult> => {
    const result = await store.accept(ask);
    if (left-- > 0) throw new StoreError('unavailable', 'the link was cut', { isUnknown: true });
    return result;
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'accept') return accept;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

describe.each(kinds)('an accept whose answer is lost (P9, case 5) on %s', (kind) => {
  test('is repeated under its key, also without one of the caller, and the turn starts here once', async () => {
    await using stage = await Stage.open({ kind, between: (store) => losingAnswers(store, 2) });
    const task = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('once')));
    expect(task.history).toHaveLength(1);
    expect(stage.replica().offered.map(({ id }) => id)).toEqual([task.id]);
    expect((await stage.operations.listTasks(callOf(), {})).totalSize).toBe(1);
  });
});
