import { describe, expect, test } from 'vitest';
import { isA2AError } from '../../src/protocol/errors.ts';
import { callOf, codeOf, gist, kinds, Reader, say, sayAndGo, Stage, taskOf, until } from './stage.ts';

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'nothing was thrown',
    (error: unknown) => (isA2AError(error) ? error.code : error),
  );
}

describe.each(kinds)('SendStreamingMessage on %s', (kind) => {
  test('shows the task as of its accept, then every entry in order, and ends with the task (STRM-04, STRM-05, STRM-09)', async () => {
    await using stage = await Stage.open({ kind });
    const stream = new Reader(await stage.operations.sendStreamingMessage(callOf(), say('go')));
    const first = await stream.next();
    const taskId = first && 'task' in first.item ? first.item.task.id : '';
    const actor = await stage.replica().actor(taskId);
    await actor.chunk('a');
    await actor.chunk('b');
    await actor.status('TASK_STATE_COMPLETED', 'done');
    const items = await stream.rest();
    expect(items.map(gist)).toEqual(['task:WORKING', 'chunk:a', 'chunk:b', 'status:COMPLETED']);
    expect(items.map(({ seq }) => seq)).toEqual([2, 3, 4, 5]);
    expect(items[1]?.item).toEqual({
      artifactUpdate: { taskId, contextId: expect.any(String), artifact: { artifactId: 'out', parts: [{ text: 'a' }] }, append: true },
    });
    expect(stage.operations.openCalls).toBe(0);
  });

  test('ends when its turn asks the user, stays open over AUTH_REQUIRED (AMB-01, ITA-05, case 49, case 50)', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const stream = new Reader(await operations.sendStreamingMessage(callOf(), say('go')));
    const first = await stream.next();
    const taskId = first && 'task' in first.item ? first.item.task.id : '';
    const actor = await stage.replica().actor(taskId);
    await actor.status('TASK_STATE_AUTH_REQUIRED');
    await actor.status('TASK_STATE_WORKING');
    await actor.status('TASK_STATE_INPUT_REQUIRED', 'which?');
    expect((await stream.rest()).map(gist)).toEqual(['task:WORKING', 'status:AUTH_REQUIRED', 'status:WORKING', 'status:INPUT_REQUIRED']);
  });

  test('stays open over INPUT_REQUIRED too where the agent wants it, until the task has ended (AMB-01, streamUntil)', async () => {
    await using stage = await Stage.open({ kind, streamUntil: 'ended' });
    const stream = new Reader(await stage.operations.sendStreamingMessage(callOf(), say('go')));
    const first = await stream.next();
    const taskId = first && 'task' in first.item ? first.item.task.id : '';
    await (await stage.replica().actor(taskId)).status('TASK_STATE_INPUT_REQUIRED', 'which?');
    await stage.operations.sendMessage(callOf(), sayAndGo('this one', { taskId }));
    await (await stage.replica().actor(taskId)).status('TASK_STATE_COMPLETED');
    const states = ['task:WORKING', 'status:INPUT_REQUIRED', 'status:WORKING', 'status:COMPLETED'];
    expect((await stream.rest()).map(gist)).toEqual(states);
  });

  test('the stream of a follow-up begins with the task as of its own accept, with no stale state (case 8, AMB-33)', async () => {
    await using stage = await Stage.open({ kind, replicas: 2 });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('one')));
    await (await stage.replica().actor(id)).status('TASK_STATE_INPUT_REQUIRED', 'and?');
    const observer = new Reader(await stage.operations.subscribeToTask(callOf(), { id }));
    expect(gist((await observer.next())!)).toBe('task:INPUT_REQUIRED');
    const stream = new Reader(await stage.replica(1).operations.sendStreamingMessage(callOf(), say('two', { taskId: id })));
    expect(gist((await stream.next())!)).toBe('task:WORKING');
    const actor = await stage.replica(1).actor(id);
    await actor.chunk('x');
    await actor.status('TASK_STATE_COMPLETED');
    expect((await stream.rest()).map(gist)).toEqual(['task:WORKING', 'chunk:x', 'status:COMPLETED']);
    expect((await observer.rest()).map(gist)).toEqual(['task:INPUT_REQUIRED', 'status:WORKING', 'chunk:x', 'status:COMPLETED']);
  });

  test('a waiting message: its stream goes on over the end of the turn before (whileWorking: enqueue)', async () => {
    await using stage = await Stage.open({ kind, turns: { whileWorking: 'enqueue' } });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('one')));
    const stream = new Reader(await stage.operations.sendStreamingMessage(callOf(), say('two', { taskId: id })));
    await stream.next();
    await (await stage.replica().actor(id)).status('TASK_STATE_INPUT_REQUIRED', 'question');
    await stage.replica().log.claim({ agent: 'Stage', replica: stage.replica().id, limit: 1 });
    await (await stage.replica().actor(id)).status('TASK_STATE_INPUT_REQUIRED', 'again');
    expect((await stream.rest()).map(gist)).toEqual(['task:WORKING', 'status:SUBMITTED', 'status:WORKING', 'status:INPUT_REQUIRED']);
  });

  test('errors before the first item reject the call (AMB-12, case 53)', async () => {
    await using stage = await Stage.open({ kind });
    expect(await codeOf(stage.operations.sendStreamingMessage(callOf(), say('x', { taskId: 'unknown' })))).toBe('TASK_NOT_FOUND');
    expect(stage.operations.openCalls).toBe(0);
  });

  test('an agent that does not stream says so (STRM-01, SUB-01)', async () => {
    await using stage = await Stage.open({ kind, capabilities: {} });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('one')));
    expect(await codeOf(stage.operations.sendStreamingMessage(callOf(), say('x')))).toBe('UNSUPPORTED_OPERATION');
    expect(await codeOf(stage.operations.subscribeToTask(callOf(), { id }))).toBe('UNSUPPORTED_OPERATION');
  });
});

describe.each(kinds)('SubscribeToTask on %s', (kind) => {
  test('gives the same list on every replica, from the snapshot on, without gap or repeat (STRM-12, STRM-13, case 7, case 97)', async () => {
    await using stage = await Stage.open({ kind, replicas: 3 });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('go')));
    const actor = await stage.replica().actor(id);
    const readers: Reader[] = [];
    for (let chunk = 1; chunk <= 60; chunk += 1) {
      readers.push(new Reader(await stage.replica(chunk % 3).operations.subscribeToTask(callOf(), { id })));
      await actor.chunk(`${chunk} `);
    }
    await actor.status('TASK_STATE_COMPLETED');
    const whole = Array.from({ length: 60 }, (_, index) => `${index + 1} `).join('');
    for (const reader of readers) {
      const [snapshot, ...tail] = await reader.rest();
      const task = snapshot && 'task' in snapshot.item ? snapshot.item.task : undefined;
      const before = (task?.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')));
      const after = tail.slice(0, -1).map((item) => gist(item).slice('chunk:'.length));
      expect([...before, ...after].join('')).toBe(whole);
      expect(gist(tail.at(-1)!)).toBe('status:COMPLETED');
    }
  });

  test('stays open over INPUT_REQUIRED until the task has ended (SUB-06, AMB-01)', async () => {
    await using stage = await Stage.open({ kind });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('one')));
    const reader = new Reader(await stage.operations.subscribeToTask(callOf(), { id }));
    await (await stage.replica().actor(id)).status('TASK_STATE_INPUT_REQUIRED');
    await stage.operations.sendMessage(callOf(), sayAndGo('two', { taskId: id }));
    await (await stage.replica().actor(id)).status('TASK_STATE_COMPLETED');
    const items = await reader.rest();
    expect(items.map(gist)).toEqual(['task:WORKING', 'status:INPUT_REQUIRED', 'status:WORKING', 'status:COMPLETED']);
    // 4 is the user's message: never on a stream, so ids rise with holes (AMB-35)
    expect(items.map(({ seq }) => seq)).toEqual([2, 3, 5, 6]);
  });

  test('is refused for a task that has ended, with no snapshot (SUB-03, case 52)', async () => {
    await using stage = await Stage.open({ kind });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('one')));
    await (await stage.replica().actor(id)).status('TASK_STATE_COMPLETED');
    expect(await codeOf(stage.operations.subscribeToTask(callOf(), { id }))).toBe('UNSUPPORTED_OPERATION');
  });

  test('with a cursor it continues: no snapshot, no gap, no repeat, also when the task has ended meanwhile (AMB-03, case 20)', async () => {
    await using stage = await Stage.open({ kind, replicas: 2 });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('one')));
    const actor = await stage.replica().actor(id);
    await actor.chunk('a');
    await actor.chunk('b');
    const other = stage.replica(1).operations;
    const live = new Reader(await other.subscribeToTask(callOf({ lastEventId: '3' }), { id }));
    await actor.status('TASK_STATE_COMPLETED');
    expect((await live.rest()).map(gist)).toEqual(['chunk:b', 'status:COMPLETED']);
    const from = async (lastEventId: string): Promise<readonly string[]> =>
      (await new Reader(await other.subscribeToTask(callOf({ lastEventId }), { id })).rest()).map(gist);
    expect(await from('0')).toEqual(['status:WORKING', 'chunk:a', 'chunk:b', 'status:COMPLETED']);
    expect(await from('2')).toEqual(['chunk:a', 'chunk:b', 'status:COMPLETED']);
    expect(await from('4')).toEqual(['status:COMPLETED']);
    expect(await codeOf(from('5'))).toBe('UNSUPPORTED_OPERATION'); // all was seen: there is nothing to follow
  });

  test.each(['99', '-1', '1.5', 'abc', '', ' 3', '1e2', '9'.repeat(30)])(
    'a cursor that is none (%j) is as no cursor',
    async (lastEventId) => {
      await using stage = await Stage.open({ kind });
      const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('one')));
      const reader = new Reader(await stage.operations.subscribeToTask(callOf({ lastEventId }), { id }));
      expect(gist((await reader.next())!)).toBe('task:WORKING');
    },
  );

  test('a purge ends a subscription with TaskNotFound, never with a bare end (design 5)', async () => {
    await using stage = await Stage.open({ kind, turns: { retentionMs: 0 } });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('one')));
    const reader = new Reader(await stage.operations.subscribeToTask(callOf({ lastEventId: '0' }), { id }));
    expect(gist((await reader.next())!)).toBe('status:WORKING');
    const pending = thrownBy(reader.rest());
    await stage.operations.cancelTask(callOf(), { id });
    // the follower saw the end, or the purge came first: both end the stream, neither leaves it open
    await stage.replica().log.purge(10);
    expect(['TASK_NOT_FOUND', 'nothing was thrown']).toContain(await pending);
    expect(await codeOf(stage.operations.subscribeToTask(callOf({ lastEventId: '0' }), { id }))).toBe('TASK_NOT_FOUND');
  });

  test('whoever leaves frees its place and disturbs nobody (STRM-14, case 79, case 85)', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const { id } = taskOf(await operations.sendMessage(callOf(), sayAndGo('one')));
    const stays = new Reader(await operations.subscribeToTask(callOf(), { id }));
    const vanished = new AbortController();
    const unread = await operations.subscribeToTask(callOf({ signal: vanished.signal }), { id });
    const leaves = new Reader(await operations.subscribeToTask(callOf(), { id }));
    await leaves.next();
    const waiting = leaves.next();
    expect(operations.openCalls).toBe(3);
    await leaves.leave();
    expect(await waiting).toBeUndefined();
    vanished.abort();
    expect(operations.openCalls).toBe(1);
    expect(await new Reader(unread).rest()).toEqual([]);
    await (await stage.replica().actor(id)).status('TASK_STATE_COMPLETED');
    expect((await stays.rest()).map(gist)).toEqual(['task:WORKING', 'status:COMPLETED']);
    expect(stage.replica().log.isWatching).toBe(false);
  });

  test('a drain ends streams without an end event, so that their clients come back elsewhere (AMB-12)', async () => {
    await using stage = await Stage.open({ kind });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('one')));
    const reader = new Reader(await stage.operations.subscribeToTask(callOf(), { id }));
    await reader.next();
    const rest = reader.rest();
    stage.operations.close();
    expect((await rest).map(gist)).toEqual(['task:WORKING']);
    await until(() => stage.operations.openCalls === 0, 'nothing is open');
  });
});
