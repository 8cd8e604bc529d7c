import { describe, expect, test } from 'vitest';
import type { ListTasksResponse, Task } from '../../src/protocol/types.ts';
import type { Asking, Wanted } from '../bindings/callers.ts';
import {
  callers,
  collect,
  dataOf,
  ended,
  refusalOf,
  sendRequest,
  stageOf,
  standing,
  statesOf,
  taskIn,
  textsIn,
  textsOf,
} from './support.ts';
import type { Stranger } from './support.ts';

const stage = stageOf({ replicas: 3, flags: ['--while-working', 'enqueue'] });

describe('ids', () => {
  test.each(callers)(
    "$name: of tasks are the server's: one made up is not found, in any send (case 66, SEND-06, TURN-12 to TURN-15)",
    async (raw) => {
      const who = stage.by(raw);
      const first = await who.send('done');
      const second = await who.send('done');
      expect(first.id).not.toBe(second.id);
      expect(first.id).toMatch(/^[0-9a-f-]{36}$/);
      for (const taskId of ['made-up', crypto.randomUUID()]) {
        for (const words of [{ taskId }, { taskId, contextId: first.contextId ?? '' }]) {
          expect((await refusalOf(who.send('done', words))).told.reason).toBe('TASK_NOT_FOUND');
          expect((await refusalOf(collect(who.stream('done', words)))).told.reason).toBe('TASK_NOT_FOUND');
        }
        expect((await refusalOf(who.get(taskId))).told.reason).toBe('TASK_NOT_FOUND');
      }
    },
  );

  test.each(callers)(
    '$name: of a task and of another context do not go together; of the task alone the context is known (case 66, TURN-17, TURN-18, AMB-22)',
    async (raw) => {
      const who = stage.by(raw);
      const { id, contextId } = await who.at(0).send('ask', { contextId: `x-${raw.name}` });
      const refused = await refusalOf(who.at(1).send('done', { taskId: id, contextId: 'y' }));
      expect(refused.told).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field: 'message.contextId' }] });
      expect(refused.status).toBe(raw.name === 'REST' ? 400 : 200);
      expect((await who.get(id)).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      const task = await who.at(1).send('done', { taskId: id });
      expect(task).toMatchObject({ id, contextId, status: { state: 'TASK_STATE_COMPLETED' } });
    },
  );

  test.each(callers)(
    '$name: of contexts are made when missing, kept when given, and hold several tasks at once (TURN-01 to TURN-03, TURN-16, TURN-24)',
    async (raw) => {
      const who = stage.by(raw);
      const made = await who.send('done');
      expect(made.contextId).toMatch(/^[0-9a-f-]{36}$/);
      const contextId = `mine ${raw.name}`;
      const tasks = await Promise.all([0, 1, 2].map((index) => who.at(index).start('silent 400; done', { contextId })));
      expect(new Set(tasks.map(({ id }) => id)).size).toBe(3);
      const found = await who.ask<ListTasksResponse>('ListTasks', { contextId });
      expect(found.tasks.map(({ id }) => id).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
      await Promise.all(tasks.map(({ id }) => ended(who, id)));
    },
  );

  test.each(callers)('$name: of contexts that cannot be taken are an error, never replaced by another (TURN-04, TURN-05)', async (raw) => {
    const who = stage.by(raw).as(`odd ${raw.name}`);
    for (const contextId of ['x'.repeat(256), 'a\tb', '\u0085']) {
      expect((await refusalOf(who.send('done', { contextId }))).told.violations).toMatchObject([{ field: 'message.contextId' }]);
    }
    expect((await who.ask<ListTasksResponse>('ListTasks', {})).totalSize).toBe(0);
  });
});

describe('a name of 1, 255, 256 or 5,000 characters, of any script', () => {
  const scripts = ['a', 'é', '漢', '😀', 'ش', '\u0301'];
  const inside = /SELECT|INSERT|chorus_|sqlite|libsql|\.ts\b/i;

  /** What is done with it, by the place it stands in; the answer says whether it was taken. */
  const places: readonly (readonly [field: string, ask: (who: Stranger, name: string) => Promise<unknown>])[] = [
    ['message.contextId', (who, contextId) => who.send('done', { contextId }).then((task) => expect(task.contextId).toBe(contextId))],
    [
      'message.messageId',
      (who, messageId) => who.send('done', { messageId }).then(({ history }) => expect(history?.[0]?.messageId).toBe(messageId)),
    ],
    [
      'message.referenceTaskIds[0]',
      (who, name) => who.send('related', { referenceTaskIds: [name] }).then((task) => expect(dataOf(task, 'related')).toEqual([])),
    ],
    ['message.taskId', (who, taskId) => who.send('done', { taskId })],
    ['id', (who, id) => who.get(id)],
    ['id', (who, id) => who.cancel(id)],
    ['id', (who, id) => collect(who.subscribe(id))],
    ['contextId', (who, contextId) => who.ask('ListTasks', { contextId })],
  ];

  test.each(callers)('$name: is taken up to 255 and refused beyond, the field named, nothing of the store told (case 95)', async (raw) => {
    const who = stage.by(raw);
    for (const script of scripts) {
      for (const [field, ask] of places) {
        for (const length of [1, 255]) {
          const name = script.repeat(length);
          const outcome = await ask(who, name).then(
            () => 'taken',
            (error: unknown) => error,
          );
          // names of tasks that are not there are not found; all others are taken
          if (outcome !== 'taken') expect((outcome as { told: { reason: string } }).told.reason).toBe('TASK_NOT_FOUND'); // a Refused, or the line fails
          expect(JSON.stringify(outcome)).not.toMatch(inside);
        }
        for (const length of [256, 5_000]) {
          const asked = ask(who, script.repeat(length));
          // 5,000 of some scripts are more bytes than a request line may have: that is told before any field is looked at
          if (raw.name === 'REST' && length === 5_000 && !field.startsWith('message.')) {
            await asked.then(
              () => expect.unreachable(),
              (error: unknown) => expect(String(error)).not.toMatch(inside),
            );
            continue;
          }
          const { told } = await refusalOf(asked);
          expect(told).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field }] });
          expect(JSON.stringify(told)).not.toMatch(inside);
          expect(JSON.stringify(told)).not.toContain(script.repeat(256)); // nor is the name repeated
        }
      }
    }
  });

  test.each(callers)('$name: as an Idempotency-Key is a key up to 255 printable ASCII characters (case 95, AMB-05)', async (raw) => {
    const who = stage.by(raw);
    for (const length of [1, 255]) {
      const key = `${raw.name.slice(0, 1)}${'k'.repeat(length - 1)}`;
      const words = { key, messageId: 'm' };
      expect((await who.send('done', words)).id).toBe((await who.send('done', words)).id);
    }
    for (const key of ['k'.repeat(256), 'k'.repeat(5_000), '', 'a\tb', 'é']) {
      expect((await refusalOf(who.send('done', { key }))).told.violations).toMatchObject([{ field: 'Idempotency-Key' }]);
    }
  });

  test.each(callers)("$name: as a caller's name is a caller up to 255, and refused beyond (case 95)", async (raw) => {
    const who = stage.by(raw);
    for (const length of [1, 255]) {
      const name = 'é'.repeat(length); // headers are Latin-1: what comes is what was sent
      const task = await who.as(name).send('whoami');
      expect(dataOf(task, 'caller')).toMatchObject({ name });
      expect((await who.as(name).get(task.id)).id).toBe(task.id);
    }
    for (const length of [256, 5_000]) {
      const { told } = await refusalOf(who.as('é'.repeat(length)).send('whoami'));
      expect(told).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field: 'caller' }] });
    }
  });

  test.each(callers)(
    '$name: as a tenant is a tenant up to 255, apart from others, and refused beyond (case 95, TEN-03, TEN-04)',
    async (raw) => {
      const who = stage.by(raw);
      const inTenant = (tenant: string, request: Wanted): Wanted => ({
        ...request,
        tenant: raw.name === 'REST' ? encodeURIComponent(tenant) : tenant,
      });
      for (const tenant of ['t', '漢'.repeat(255)]) {
        const { task } = await who.ask<{ task: Task }>('SendMessage', inTenant(tenant, sendRequest('whoami')));
        expect(dataOf(task, 'caller')).toMatchObject({ tenant });
        expect((await who.ask<Task>('GetTask', inTenant(tenant, { id: task.id }))).id).toBe(task.id);
        expect((await refusalOf(who.get(task.id))).told.reason).toBe('TASK_NOT_FOUND');
      }
      const { told } = await refusalOf(who.ask('ListTasks', inTenant('t'.repeat(256), {})));
      expect(told).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field: 'tenant' }] });
    },
  );
});

describe('a request that comes again', () => {
  const under = (key: string): Asking => ({ headers: { 'idempotency-key': key } });

  test.each(callers)('$name: with its key is one task, on any replica, blocking or not or streaming (IDEM-01, P9, AMB-05)', async (raw) => {
    const who = stage.by(raw);
    const key = crypto.randomUUID();
    const words = { key, messageId: 'once' };
    const sends = await Promise.all(
      [0, 1, 2, 0, 1, 2].map((index) =>
        index % 2 === 0 ? who.at(index).send('work; emit 2 50; done', words) : who.at(index).start('work; emit 2 50; done', words),
      ),
    );
    expect(new Set(sends.map(({ id }) => id)).size).toBe(1);
    const id = sends[0]?.id ?? '';
    const task = await ended(who, id);
    expect(textsIn(task).join('')).toBe('1 2 ');
    expect(task.history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(1);
    const again = await collect(who.at(1).stream('work; emit 2 50; done', words));
    expect(taskIn(again[0])).toEqual(task); // it has ended: the Task, and the stream closes
    expect(again).toHaveLength(1);
    const starts = (await stage.rig.effects()).filter((effect) => effect.task === id && effect.what === 'start');
    expect(starts).toHaveLength(1);
  });

  test.each(callers)('$name: with its key and another content is refused, and nothing is done (AMB-05)', async (raw) => {
    const who = stage.by(raw);
    const key = crypto.randomUUID();
    const { id } = await who.send('done', { key, messageId: 'a' });
    for (const other of [
      sendRequest('done', { messageId: 'b' }),
      sendRequest('ask', { messageId: 'a' }),
      sendRequest('done', { messageId: 'a', contextId: 'c' }),
    ]) {
      const { told } = await refusalOf(who.ask('SendMessage', other, under(key)));
      expect(told).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field: 'Idempotency-Key' }] });
    }
    expect((await who.get(id)).history).toHaveLength(1);
  });

  test.each(callers)('$name: without a key is two requests, whatever its messageId (IDEM-06, AMB-05)', async (raw) => {
    const who = stage.by(raw);
    const [one, two] = [await who.send('done', { messageId: 'same' }), await who.send('done', { messageId: 'same' })];
    expect(one.id).not.toBe(two.id);
    const { id } = await who.send('ask', { messageId: 'same' });
    const task = await who.send('ask', { taskId: id, messageId: 'same' });
    expect(task.history?.filter(({ messageId }) => messageId === 'same')).toHaveLength(2);
  });

  test.each(callers)('$name: under a key of another caller is a request of its own (P10, AMB-05)', async (raw) => {
    const key = crypto.randomUUID();
    const words = { key, messageId: 'm' };
    const [ann, bob] = [await stage.by(raw).as('ann').send('whoami', words), await stage.by(raw).as('bob').send('whoami', words)];
    expect(ann.id).not.toBe(bob.id);
    expect(dataOf(bob, 'caller')).toMatchObject({ name: 'bob' });
  });

  test.each(callers)('$name: to a task that has ended meanwhile is answered as the first time, not refused (P9)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.send('ask');
    const words = { key: crypto.randomUUID(), messageId: 'm', taskId: id };
    const first = await who.at(0).send('done', words);
    expect(await who.at(1).send('done', words)).toEqual(first);
    expect(statesOf(await collect(who.at(2).stream('done', words)))).toEqual(['TASK_STATE_COMPLETED']);
  });

  test.each(callers)('$name: that only reads changes nothing, however often (IDEM-02)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.send('emit 2 0; ask');
    const reads = await Promise.all(Array.from({ length: 6 }, () => who.get(id)));
    for (const read of reads) expect(read).toEqual(reads[0]);
  });
});

describe('a message to a task at work', () => {
  test.each(callers)('$name: waits with `enqueue` and gets a turn of its own, on any replica (SEND-17, AMB-07, case 6)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.at(0).start('work; silent 1500; emit 2 0; ask');
    await standing(who, id, (state) => state !== 'TASK_STATE_SUBMITTED');
    const second = collect(who.at(1).stream('emit 2 0; done', { taskId: id }));
    const task = await ended(who.at(2), id);
    expect(task.artifacts?.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join(''))).toEqual(['1 2 ', '1 2 ']);
    const seen = await second;
    expect(statesOf(seen).at(-1)).toBe('TASK_STATE_COMPLETED');
    expect(textsOf(seen).join('').endsWith('1 2 ')).toBe(true);
  });
});
