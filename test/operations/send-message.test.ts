import { describe, expect, test } from 'vitest';
import { isA2AError } from '../../src/protocol/errors.ts';
import type { A2AError } from '../../src/protocol/errors.ts';
import { callOf, codeOf, kinds, say, sayAndGo, Stage, taskOf, until } from './stage.ts';

const open = (stage: Stage, index = 0): Promise<string> =>
  until(() => stage.replica(index).offered.length > 0, 'a turn is offered').then(() => stage.replica(index).offered.at(-1)?.id ?? '');

async function errorOf(work: Promise<unknown>): Promise<A2AError> {
  try {
    await work;
  } catch (error) {
    if (isA2AError(error)) return error;
    throw error;
  }
  throw new Error('an A2AError was expected');
}

describe.each(kinds)('SendMessage on %s', (kind) => {
  test('answers at once when asked to, with the task as of its own commit (SEND-09, case 35)', async () => {
    await using stage = await Stage.open({ kind });
    const task = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('hello')));
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_WORKING' }, history: [{ parts: [{ text: 'hello' }], taskId: task.id }] });
    expect(task.artifacts).toBeUndefined();
    expect(stage.replica().offered.map(({ id }) => id)).toEqual([task.id]);
  });

  test('is SUBMITTED and offered to nobody here when this replica has no room', async () => {
    await using stage = await Stage.open({ kind });
    stage.replica().turns.canStart = false;
    const task = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('hello')));
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    expect(stage.replica().offered).toEqual([]);
  });

  test('waits on the log for the end of the turn, wherever it runs (SEND-07, SEND-08, case 34)', async () => {
    await using stage = await Stage.open({ kind, replicas: 2 });
    stage.replica(0).turns.canStart = false;
    const answer = stage.operations.sendMessage(callOf(), say('hello'));
    await until(async () => (await stage.operations.listTasks(callOf(), {})).totalSize === 1, 'the task is there');
    const [row] = await stage.replica(1).log.claim({ agent: 'Stage', replica: stage.replica(1).id, limit: 1 });
    const actor = await stage.replica(1).actor(row?.id ?? '');
    await actor.chunk('a');
    await actor.chunk('b');
    await actor.status('TASK_STATE_COMPLETED', 'done');
    const task = taskOf(await answer);
    expect(task.status).toMatchObject({ state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'done' }] } });
    expect(task.artifacts).toMatchObject([{ parts: [{ text: 'a' }, { text: 'b' }] }]);
    expect(await stage.replica(1).operations.getTask(callOf(), { id: task.id })).toEqual(task);
  });

  test.each(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_REJECTED'] as const)(
    'returns on %s (SEND-07)',
    async (state) => {
      await using stage = await Stage.open({ kind });
      const answer = stage.operations.sendMessage(callOf(), say('hello'));
      const actor = await stage.replica().actor(await open(stage));
      await actor.status('TASK_STATE_WORKING');
      await actor.status(state);
      expect(taskOf(await answer).status.state).toBe(state);
    },
  );

  test('keeps a client context, mints one where there is none, and finds that of a task (TURN-01, TURN-03, TURN-17)', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const minted = taskOf(await operations.sendMessage(callOf(), sayAndGo('one')));
    expect(minted.contextId).toMatch(/^[0-9a-f-]{36}$/);
    const kept = taskOf(await operations.sendMessage(callOf(), sayAndGo('two', { contextId: 'trip' })));
    expect(kept.contextId).toBe('trip');
    await (await stage.replica().actor(kept.id)).status('TASK_STATE_INPUT_REQUIRED');
    const continued = taskOf(await operations.sendMessage(callOf(), sayAndGo('three', { taskId: kept.id })));
    expect(continued).toMatchObject({ id: kept.id, contextId: 'trip', history: [{ contextId: 'trip' }, { contextId: 'trip' }] });
  });

  test('names what is wrong with a message to a task (SEND-05, SEND-06, TURN-15, TURN-18, case 66)', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const { id } = taskOf(await operations.sendMessage(callOf(), sayAndGo('one', { contextId: 'X' })));
    expect(await codeOf(operations.sendMessage(callOf(), sayAndGo('no', { taskId: 'made-up' })))).toBe('TASK_NOT_FOUND');
    const mismatch = await errorOf(operations.sendMessage(callOf(), sayAndGo('no', { taskId: id, contextId: 'Y' })));
    expect([mismatch.code, mismatch.violations[0]?.field]).toEqual(['INVALID_PARAMS', 'message.contextId']);
    expect(await codeOf(operations.sendMessage(callOf(), sayAndGo('busy', { taskId: id })))).toBe('UNSUPPORTED_OPERATION');
    await (await stage.replica().actor(id)).status('TASK_STATE_COMPLETED');
    expect(await codeOf(operations.sendMessage(callOf(), sayAndGo('late', { taskId: id })))).toBe('UNSUPPORTED_OPERATION');
    expect((await operations.getTask(callOf(), { id })).history).toHaveLength(1);
  });

  test('gives the error of an agent that failed before it said anything, with the id of its task (P7, case 32)', async () => {
    await using stage = await Stage.open({ kind });
    const answer = errorOf(stage.operations.sendMessage(callOf(), say('hello')));
    const taskId = await open(stage);
    const failure = { 'chorus/error': { code: 'INVALID_PARAMS', message: 'No such word.' } };
    await (await stage.replica().actor(taskId)).status('TASK_STATE_FAILED', 'failed', failure);
    expect(await answer).toMatchObject({ code: 'INVALID_PARAMS', message: 'No such word.', metadata: { taskId } });
    expect((await stage.operations.getTask(callOf(), { id: taskId })).status.state).toBe('TASK_STATE_FAILED');
  });

  test('gives the FAILED task of an agent that had said something (P7, case 31)', async () => {
    await using stage = await Stage.open({ kind });
    const answer = stage.operations.sendMessage(callOf(), say('hello'));
    const actor = await stage.replica().actor(await open(stage));
    await actor.chunk('so far');
    await actor.status('TASK_STATE_FAILED', 'failed', { 'chorus/error': { code: 'INTERNAL', message: 'x' } });
    expect(taskOf(await answer)).toMatchObject({ status: { state: 'TASK_STATE_FAILED' }, artifacts: [{ parts: [{ text: 'so far' }] }] });
  });

  test('gives a reason of our own as INTERNAL, with its code (P6)', async () => {
    await using stage = await Stage.open({ kind });
    const answer = errorOf(stage.operations.sendMessage(callOf(), say('hello')));
    const taskId = await open(stage);
    await (
      await stage.replica().actor(taskId)
    ).status('TASK_STATE_FAILED', '', { 'chorus/error': { code: 'DEADLINE', message: 'Too long.' } });
    expect(await answer).toMatchObject({ code: 'INTERNAL', message: 'Too long.', metadata: { taskId, code: 'DEADLINE' } });
  });

  test('refuses an inline webhook before anything is stored (SEND-14, AMB-23)', async () => {
    await using stage = await Stage.open({ kind });
    const request = { ...say('x'), configuration: { taskPushNotificationConfig: { url: 'https://hook.example' } } };
    expect(await codeOf(stage.operations.sendMessage(callOf(), request))).toBe('PUSH_NOTIFICATION_NOT_SUPPORTED');
    expect((await stage.operations.listTasks(callOf(), {})).totalSize).toBe(0);
  });

  test('bounds history: absent all, 0 none, n the newest n, negative refused (HIST-01 to HIST-05, case 63)', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const { id } = taskOf(await operations.sendMessage(callOf(), sayAndGo('one')));
    await (await stage.replica().actor(id)).status('TASK_STATE_INPUT_REQUIRED', 'and?');
    const send = (historyLength: number): Promise<unknown> =>
      operations.sendMessage(callOf(), { ...say('x', { taskId: 'unknown' }), configuration: { historyLength, returnImmediately: true } });
    const texts = async (historyLength?: number): Promise<unknown> =>
      (await operations.getTask(callOf(), { id, ...(historyLength === undefined ? {} : { historyLength }) })).history?.map(
        ({ parts: [part] }) => part && 'text' in part && part.text,
      );
    await operations.sendMessage(callOf(), sayAndGo('two', { taskId: id }));
    expect([await texts(), await texts(99), await texts(2), await texts(0)]).toEqual([
      ['one', 'and?', 'two'],
      ['one', 'and?', 'two'],
      ['and?', 'two'],
      undefined,
    ]);
    expect(await operations.getTask(callOf(), { id, historyLength: 0 })).not.toHaveProperty('history');
    expect((await errorOf(operations.getTask(callOf(), { id, historyLength: -1 }))).violations[0]?.field).toBe('historyLength');
    expect((await errorOf(send(-1))).violations[0]?.field).toBe('configuration.historyLength');
  });

  test('at the ceiling it answers with the task as it stands, and the work goes on (AMB-24)', async () => {
    await using stage = await Stage.open({ kind, blockingMs: 30 });
    const task = taskOf(await stage.operations.sendMessage(callOf(), say('slow')));
    expect(task.status.state).toBe('TASK_STATE_WORKING');
    expect(await (await stage.replica().actor(task.id)).status('TASK_STATE_COMPLETED')).toBe('applied');
  });

  test('a caller who hangs up cancels nothing and frees its place (STRM-15, case 21)', async () => {
    await using stage = await Stage.open({ kind });
    const caller = new AbortController();
    const answer = codeOf(stage.operations.sendMessage(callOf({ signal: caller.signal }), say('hello')));
    const taskId = await open(stage);
    expect(stage.operations.openCalls).toBe(1);
    caller.abort();
    expect(await answer).toBe('UNAVAILABLE');
    expect(stage.operations.openCalls).toBe(0);
    expect((await stage.operations.getTask(callOf(), { id: taskId })).status.state).toBe('TASK_STATE_WORKING');
  });

  test('a drain answers the blocked with the present task and lets nobody in (case 98)', async () => {
    await using stage = await Stage.open({ kind });
    const answer = stage.operations.sendMessage(callOf(), say('hello'));
    await open(stage);
    const idle = stage.operations.untilIdle(new AbortController().signal);
    stage.operations.close();
    expect(taskOf(await answer).status.state).toBe('TASK_STATE_WORKING');
    await idle;
    expect(await codeOf(stage.operations.sendMessage(callOf(), say('more')))).toBe('UNAVAILABLE');
  });

  test('new tasks wait outside while the queue is full; existing tasks never do', async () => {
    await using stage = await Stage.open({ kind, turns: { queuedMax: 5 } });
    const { operations } = stage;
    const { turns } = stage.replica();
    const keyed = callOf({ idempotencyKey: 'K' });
    const request = sayAndGo('one');
    const { id } = taskOf(await operations.sendMessage(keyed, request));
    await (await stage.replica().actor(id)).status('TASK_STATE_INPUT_REQUIRED');
    turns.canStart = false;
    turns.queued = 5;
    expect(await codeOf(operations.sendMessage(callOf(), sayAndGo('two')))).toBe('UNAVAILABLE');
    expect(taskOf(await operations.sendMessage(keyed, request)).id).toBe(id); // the repeat of what was accepted is no new task
    expect(taskOf(await operations.sendMessage(callOf(), sayAndGo('three', { taskId: id }))).status.state).toBe('TASK_STATE_SUBMITTED');
  });

  test('a required extension has to be opted into (EXT-03)', async () => {
    await using stage = await Stage.open({
      capabilities: { streaming: true, extensions: [{ uri: 'urn:x', required: true }, { uri: 'urn:y' }] },
    });
    expect(await codeOf(stage.operations.sendMessage(callOf(), sayAndGo('x')))).toBe('EXTENSION_SUPPORT_REQUIRED');
    expect(taskOf(await stage.operations.sendMessage(callOf({ extensions: ['urn:x'] }), sayAndGo('x'))).id).toBeTruthy();
  });

  test('strangers see nothing, and an unknown task looks like theirs (P10, case 10)', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const ann = callOf({ caller: { name: 'Ann' } });
    const { id } = taskOf(await operations.sendMessage(ann, sayAndGo('mine')));
    const strangers = [callOf(), callOf({ caller: { name: 'Bob' } }), { ...ann, tenant: 'T' }];
    for (const stranger of strangers) {
      const tries = [
        operations.getTask(stranger, { id }),
        operations.cancelTask(stranger, { id }),
        operations.subscribeToTask(stranger, { id }),
        operations.subscribeToTask({ ...stranger, lastEventId: '1' }, { id }),
        operations.sendMessage(stranger, sayAndGo('x', { taskId: id })),
        operations.sendStreamingMessage(stranger, say('x', { taskId: id })),
      ];
      const unknown = await errorOf(operations.getTask(stranger, { id: 'unknown' }));
      for (const error of await Promise.all(tries.map(errorOf)))
        expect([error.code, error.message]).toEqual([unknown.code, unknown.message]);
      expect((await operations.listTasks(stranger, {})).totalSize).toBe(0);
    }
    expect((await operations.getTask(ann, { id })).history).toHaveLength(1);
  });
});

describe.each(kinds)('a waiting message (whileWorking: enqueue) on %s', (kind) => {
  test('its blocking sender gets the end of the turn that takes it, not that of the turn before (case 94)', async () => {
    await using stage = await Stage.open({ kind, turns: { whileWorking: 'enqueue' }, replicas: 2 });
    const { operations } = stage;
    const first = operations.sendMessage(callOf(), say('one'));
    const taskId = await open(stage);
    const second = stage.replica(1).operations.sendMessage(callOf(), say('two', { taskId }));
    await until(async () => (await operations.getTask(callOf(), { id: taskId })).history?.length === 2, 'the second waits');
    await (await stage.replica().actor(taskId)).status('TASK_STATE_INPUT_REQUIRED', 'question');
    const [row] = await stage.replica(1).log.claim({ agent: 'Stage', replica: stage.replica(1).id, limit: 1 });
    expect(row?.turn).toBe(2);
    await (await stage.replica(1).actor(taskId)).status('TASK_STATE_COMPLETED', 'both');
    const [a, b] = await Promise.all([first, second]);
    expect(taskOf(a)).toEqual(taskOf(b));
    expect(taskOf(b)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'both' }] } } });
  });

  test.each([
    ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_INPUT_REQUIRED'],
    // the words that handed the task over are those of the turn before: the second sender's turn said nothing
    ['TASK_STATE_FAILED', 'TASK_STATE_FAILED', 'PERMISSION_DENIED'],
  ] as const)(
    'when the second turn ends in %s, the first sender gets the task, the second the end of its own turn (P7)',
    async (state, first, second) => {
      await using stage = await Stage.open({ kind, turns: { whileWorking: 'enqueue' } });
      const { operations, log, id } = stage.replica();
      const one = operations.sendMessage(callOf(), say('one'));
      const taskId = await open(stage);
      const two = operations.sendMessage(callOf(), say('two', { taskId })).catch((error: unknown) => error);
      await until(async () => (await log.row(taskId))?.waiting.length === 1, 'the second waits');
      const actor = await stage.replica().actor(taskId);
      await actor.chunk('words of the first turn');
      await actor.status('TASK_STATE_INPUT_REQUIRED', 'question');
      await log.claim({ agent: 'Stage', replica: id, limit: 1 });
      await (await stage.replica().actor(taskId)).status(state, 'end', { 'chorus/error': { code: 'PERMISSION_DENIED', message: 'No.' } });
      expect(taskOf(await one).status.state).toBe(first);
      expect(await two).toMatchObject(second === 'PERMISSION_DENIED' ? { code: second } : { task: { status: { state: second } } });
    },
  );

  test('taken from the inbox of a turn that holds on AUTH_REQUIRED, it waits for that turn and not for the old status', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const { id } = taskOf(await operations.sendMessage(callOf(), sayAndGo('one')));
    const actor = await stage.replica().actor(id);
    await actor.status('TASK_STATE_AUTH_REQUIRED');
    const answers = [
      operations.sendMessage(callOf(), say('a', { taskId: id })),
      operations.sendMessage(callOf(), say('b', { taskId: id })),
    ];
    await until(async () => (await stage.replica().log.row(id))?.waiting.length === 2, 'both wait');
    const [a = 0, b = 0] = (await stage.replica().log.row(id))?.waiting ?? [];
    await actor.take(a);
    await actor.status('TASK_STATE_AUTH_REQUIRED');
    expect(taskOf((await answers[0])!).status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    await actor.take(b);
    await actor.chunk('thanks');
    await actor.status('TASK_STATE_COMPLETED');
    expect(taskOf((await answers[1])!)).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'thanks' }] }],
    });
  });
});
