import { describe, expect, test } from 'vitest';
import type { LogFields, Logger } from '../../src/ground/logger.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import type { Store } from '../../src/log/store.ts';
import { StoreError } from '../../src/log/store.ts';
import { A2AError } from '../../src/protocol/errors.ts';
import { callOf, codeOf, gist, Reader, say, sayAndGo, Stage, taskOf, until } from './stage.ts';

/** A store whose verbs a test can make fail. */
class Troubled {
  failing: ReadonlySet<string> = new Set();
  error: () => Error = () => new StoreError('unavailable', 'SELECT secret FROM task: connection refused');
  calls = 0;

  readonly over = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]): Promise<unknown> => {
          if (this.failing.has(String(name))) {
            this.calls += 1;
            throw this.error();
          }
          return (member as (...all: unknown[]) => unknown).apply(target, args); // a method of the store, called as it was
        };
      },
    });
}

function listening(): { readonly logger: Logger; readonly lines: { readonly event: string; readonly fields: LogFields }[] } {
  const lines: { event: string; fields: LogFields }[] = [];
  return { lines, logger: { ...silentLogger, error: (event, fields = {}) => void lines.push({ event, fields }) } };
}

describe('a store in trouble', () => {
  test('away for a while: sends wait and succeed, none is stored twice (case 30)', async () => {
    const trouble = new Troubled();
    await using stage = await Stage.open({ between: trouble.over });
    trouble.failing = new Set(['accept']);
    const answers = Array.from({ length: 20 }, () => stage.operations.sendMessage(callOf(), sayAndGo('x')));
    await until(() => trouble.calls >= 60, 'each tried some times');
    trouble.failing = new Set();
    const ids = (await Promise.all(answers)).map((answer) => taskOf(answer).id);
    expect(new Set(ids).size).toBe(20);
    expect((await stage.operations.listTasks(callOf(), {})).totalSize).toBe(20);
  });

  test('away for longer: UNAVAILABLE in time, with a hint and without a word of the store (case 30, case 95)', async () => {
    const trouble = new Troubled();
    await using stage = await Stage.open({ between: trouble.over });
    trouble.failing = new Set(['accept', 'read', 'cancel', 'list']);
    const before = performance.now();
    const works = [
      stage.operations.sendMessage(callOf(), say('x')),
      stage.operations.cancelTask(callOf(), { id: 'x' }),
      stage.operations.getTask(callOf(), { id: 'x' }),
      stage.operations.listTasks(callOf(), {}),
      stage.operations.subscribeToTask(callOf(), { id: 'x' }),
    ];
    for (const result of await Promise.allSettled(works)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE', retryAfterMs: 1_000 } });
      expect(String(result.status === 'rejected' && result.reason)).not.toMatch(/SELECT|secret/);
    }
    expect(performance.now() - before).toBeLessThan(19_000); // after five seconds, and not when somebody gives up
    expect(stage.operations.openCalls).toBe(0);
  });

  test('a follower outlives it: nothing is missing, nothing comes twice (P1)', async () => {
    const trouble = new Troubled();
    await using stage = await Stage.open({ replicas: 2, between: (store, index) => (index === 1 ? trouble.over(store) : store) });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('go')));
    const reader = new Reader(await stage.replica(1).operations.subscribeToTask(callOf(), { id }));
    await reader.next();
    const rest = reader.rest();
    const actor = await stage.replica().actor(id);
    await actor.chunk('a');
    await until(() => reader.items.length === 2, 'the first chunk came');
    trouble.failing = new Set(['entries']);
    await actor.chunk('b');
    await until(() => trouble.calls > 2, 'the follower met the trouble');
    await actor.chunk('c');
    trouble.failing = new Set();
    await actor.status('TASK_STATE_COMPLETED');
    expect((await rest).map(gist)).toEqual(['task:WORKING', 'chunk:a', 'chunk:b', 'chunk:c', 'status:COMPLETED']);
  });

  test.each(['unstorable', 'misconfigured'] as const)(
    '%s: INTERNAL with the reference of its log line, nothing else (case 71)',
    async (kind) => {
      const trouble = new Troubled();
      const { logger, lines } = listening();
      await using stage = await Stage.open({ between: trouble.over, logger });
      trouble.failing = new Set(['accept']);
      trouble.error = () => new StoreError(kind, 'relation "task" of /var/lib/tasks.db');
      const error: unknown = await stage.operations
        .sendMessage(callOf({ reference: 'ref-1' }), say('x'))
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'INTERNAL', message: 'Internal error. Reference: ref-1', metadata: { referenceId: 'ref-1' } });
      expect(lines).toMatchObject([{ fields: { operation: 'SendMessage', reference: 'ref-1' } }]);
      expect(trouble.calls).toBe(1);
    },
  );

  test('a broken assumption of ours is INTERNAL, also in the middle of a stream (AMB-12, case 53)', async () => {
    const trouble = new Troubled();
    const { logger, lines } = listening();
    await using stage = await Stage.open({ between: trouble.over, logger });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('go')));
    const reader = new Reader(await stage.operations.subscribeToTask(callOf(), { id }));
    await reader.next();
    trouble.failing = new Set(['entries']);
    trouble.error = () => new TypeError('secret of ours');
    expect(await codeOf(reader.next())).toBe('INTERNAL');
    expect(await reader.next()).toBeUndefined();
    expect(lines).toMatchObject([{ fields: { operation: 'SubscribeToTask' } }]);
    expect(stage.operations.openCalls).toBe(0);
  });
});

describe('reply', () => {
  test('answers small talk with a message of the same context, and stores nothing (SEND-02, STRM-03, TURN-02)', async () => {
    await using stage = await Stage.open({ reply: (_message, { text }) => (text === 'hi' ? 'hello' : undefined) });
    const { operations } = stage;
    const answer = await operations.sendMessage(callOf(), say('hi', { contextId: 'c' }));
    expect(answer).toEqual({ message: { messageId: expect.any(String), contextId: 'c', role: 'ROLE_AGENT', parts: [{ text: 'hello' }] } });
    const items = await new Reader(await operations.sendStreamingMessage(callOf(), say('hi'))).rest();
    expect(items).toEqual([
      {
        item: { message: { messageId: expect.any(String), contextId: expect.any(String), role: 'ROLE_AGENT', parts: [{ text: 'hello' }] } },
      },
    ]);
    expect((await operations.listTasks(callOf(), {})).totalSize).toBe(0);
    expect(taskOf(await operations.sendMessage(callOf(), sayAndGo('work'))).status.state).toBe('TASK_STATE_WORKING');
  });

  test('is not asked about a message to a task (SEND-19)', async () => {
    await using stage = await Stage.open({ reply: (_message, { text }) => (text === 'hi' ? 'hello' : undefined) });
    const { id } = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('work')));
    await (await stage.replica().actor(id)).status('TASK_STATE_INPUT_REQUIRED');
    expect(taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('hi', { taskId: id }))).id).toBe(id);
  });

  test('knows its caller, and what it does to the message stays with it', async () => {
    await using stage = await Stage.open({
      reply: (message, { caller, metadata }) => {
        Object.assign(message, { messageId: 'changed', parts: [] });
        return metadata['tell'] ? { data: { ...caller } } : undefined;
      },
    });
    const call = callOf({ caller: { name: 'Ann' }, tenant: 'T' });
    expect(await stage.operations.sendMessage(call, { ...say('x'), metadata: { tell: true } })).toMatchObject({
      message: { parts: [{ data: { name: 'Ann', tenant: 'T' } }] },
    });
    const task = taskOf(await stage.operations.sendMessage(call, sayAndGo('kept')));
    expect(task.history).toMatchObject([{ parts: [{ text: 'kept' }] }]);
  });

  test('that throws is INTERNAL without its text, unless it throws an A2AError (case 71)', async () => {
    const { logger, lines } = listening();
    await using stage = await Stage.open({
      logger,
      reply: (_message, { text }) => {
        throw text === 'typed' ? new A2AError('PERMISSION_DENIED', 'Not you.') : new Error('the password is 123');
      },
    });
    const error: unknown = await stage.operations.sendMessage(callOf(), say('x')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'INTERNAL' });
    expect(JSON.stringify(error) + String(error)).not.toContain('123');
    expect(lines[0]?.event).toBe('reply failed');
    expect(await codeOf(stage.operations.sendMessage(callOf(), say('typed')))).toBe('PERMISSION_DENIED');
  });

  test('stops when its caller is gone', async () => {
    let signal: AbortSignal | undefined;
    await using stage = await Stage.open({
      reply: async (_message, context) => {
        signal = context.signal;
        return new Promise<string>(() => {});
      },
    });
    const caller = new AbortController();
    const answer = codeOf(stage.operations.sendMessage(callOf({ signal: caller.signal }), say('x')));
    await until(() => signal !== undefined, 'reply runs');
    caller.abort();
    expect(await answer).toBe('UNAVAILABLE');
    expect(signal?.aborted).toBe(true);
    expect(stage.operations.openCalls).toBe(0);
  });

  test('that hangs for too many is not called any more, until one of them ends (P11)', async () => {
    const ends: (() => void)[] = [];
    const reply = (): Promise<undefined> => new Promise((resolve) => ends.push(() => resolve(undefined)));
    await using stage = await Stage.open({ reply, turns: { runawayMax: 1 } });
    const leave = async (): Promise<string> => {
      const caller = new AbortController();
      const before = ends.length;
      const answer = codeOf(stage.operations.sendMessage(callOf({ signal: caller.signal }), say('x')));
      await until(() => ends.length > before, 'reply runs');
      caller.abort();
      return answer;
    };
    for (let round = 0; round < 2; round++) expect(await leave()).toBe('UNAVAILABLE');
    expect(await codeOf(stage.operations.sendMessage(callOf(), say('x')))).toBe('UNAVAILABLE');
    expect(ends).toHaveLength(2); // it was not called a third time
    ends[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await leave()).toBe('UNAVAILABLE');
    expect(ends).toHaveLength(3);
  });
});

describe('resume', () => {
  test('goes on with a task that waits on AUTH_REQUIRED, once (design 4)', async () => {
    await using stage = await Stage.open({ replicas: 2 });
    const { operations } = stage;
    const { id } = taskOf(await operations.sendMessage(callOf(), sayAndGo('go')));
    const actor = await stage.replica().actor(id);
    await actor.status('TASK_STATE_AUTH_REQUIRED');
    expect(await codeOf(operations.resumeTask(id))).toBe('UNSUPPORTED_OPERATION'); // the turn still holds
    await actor.append({ kind: 'closed', body: '{}' });
    const answers = await Promise.all([0, 1].map((index) => codeOf(stage.replica(index).operations.resumeTask(id))));
    expect(answers.filter((answer) => answer === 'UNSUPPORTED_OPERATION')).toHaveLength(1);
    expect((await operations.getTask(callOf(), { id })).status.state).toBe('TASK_STATE_WORKING');
    expect(stage.replicas.flatMap(({ offered }) => offered.map(({ turn, isResumed }) => ({ turn, isResumed })))).toContainEqual({
      turn: 2,
      isResumed: true,
    });
    expect(await codeOf(operations.resumeTask('unknown'))).toBe('TASK_NOT_FOUND');
  });
});

describe('what is not there', () => {
  test('push operations and the extended card say so (PUSH-01, XCARD-01, XCARD-02)', async () => {
    await using stage = await Stage.open();
    await using promising = await Stage.open({ capabilities: { extendedAgentCard: true } });
    const { operations } = stage;
    const call = callOf();
    const key = { taskId: 't', id: 'i' };
    expect(
      await Promise.all(
        [
          operations.createTaskPushNotificationConfig(call, { taskId: 't', url: 'https://hook.example' }),
          operations.getTaskPushNotificationConfig(call, key),
          operations.listTaskPushNotificationConfigs(call, { taskId: 't' }),
          operations.deleteTaskPushNotificationConfig(call, key),
        ].map(codeOf),
      ),
    ).toEqual(Array.from({ length: 4 }, () => 'PUSH_NOTIFICATION_NOT_SUPPORTED'));
    expect(await codeOf(operations.getExtendedAgentCard(call, {}))).toBe('UNSUPPORTED_OPERATION');
    expect(await codeOf(promising.operations.getExtendedAgentCard(call, {}))).toBe('EXTENDED_AGENT_CARD_NOT_CONFIGURED');
  });
});
