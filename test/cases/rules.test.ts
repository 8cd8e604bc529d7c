import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { AgentCard, ListTasksResponse, Task } from '../../src/protocol/types.ts';
import { wellFormed } from '../bindings/callers.ts';
import type { OperationName } from '../../src/wire/operations.ts';
import { REQUIRED } from './guarded.ts';
import {
  callers,
  collect,
  dataOf,
  ended,
  nextMillisecond,
  refusalOf,
  sendRequest,
  stageOf,
  standing,
  statesOf,
  taskIn,
  textsIn,
  textsOf,
} from './support.ts';

describe('a task', () => {
  const stage = stageOf();

  test.each(callers)(
    '$name: always has an id, a context and a state, in every answer and on every stream (STATE-01, STATE-07, TURN-13)',
    async (raw) => {
      const who = stage.by(raw);
      const sent = await who.send('artifact a b; done');
      const [first, ...events] = await collect(who.stream('artifact a b; done'));
      const { tasks } = await who.ask<ListTasksResponse>('ListTasks', {});
      for (const task of [sent, taskIn(first), await who.get(sent.id), ...tasks]) {
        expect(task).toMatchObject({
          id: expect.stringMatching(/./),
          contextId: expect.stringMatching(/./),
          status: { state: expect.stringMatching(/^TASK_STATE_/) },
        });
      }
      const { id, contextId } = taskIn(first);
      for (const { item } of events) {
        const update =
          item && 'statusUpdate' in item ? item.statusUpdate : item && 'artifactUpdate' in item ? item.artifactUpdate : undefined;
        expect(update).toMatchObject({ taskId: id, contextId }); // STRM-22
        expect(JSON.stringify(item)).not.toMatch(/"kind"|"final"|"index"/); // STRM-19, JSON-13
      }
    },
  );

  test.each(callers)('$name: may go from any state that is not the last to any other (STATE-05, AMB-08, AMB-34)', async (raw) => {
    const who = stage.by(raw);
    const direct = await collect(who.stream('done'));
    expect(statesOf(direct).at(-1)).toBe('TASK_STATE_COMPLETED'); // from the first state at once
    const { id } = await who.send('work a; work b; meta key one; meta other two; ask');
    const task = await who.send('meta key three; work; done', { taskId: id });
    expect(task.metadata).toEqual({ key: 'three', other: 'two' });
    const refused = await who.send('work; refuse after all');
    expect(refused.status).toMatchObject({ state: 'TASK_STATE_REJECTED', message: { parts: [{ text: 'after all' }] } }); // STATE-02: not only at creation
    expect((await who.send('refuse at once')).status.state).toBe('TASK_STATE_REJECTED');
  });

  test.each(callers)(
    '$name: that has ended stays as it is: no message, no cancel, no word of its own code changes it (STATE-03, STATE-04, case 18)',
    async (raw) => {
      const who = stage.by(raw);
      for (const script of [
        'done',
        'refuse no',
        'artifact a b; fail',
        'late; done; work again; emit 3 0; ask',
        'late; refuse; artifact a b; done',
      ]) {
        const task = await who.send(script);
        expect((await refusalOf(who.send('more', { taskId: task.id }))).told.reason).toBe('UNSUPPORTED_OPERATION');
        expect((await refusalOf(collect(who.stream('more', { taskId: task.id })))).told.reason).toBe('UNSUPPORTED_OPERATION');
        expect((await refusalOf(who.cancel(task.id))).told.reason).toBe('TASK_NOT_CANCELABLE');
        expect(await who.at(0).get(task.id)).toEqual(task);
        expect(await who.at(1).get(task.id)).toEqual(task);
      }
      const { id } = await who.send('late; done; work again; emit 3 0; done');
      await expect
        .poll(async () => (await stage.rig.effects()).some(({ task, what }) => task === id && what === 'refused'), { timeout: 15_000 })
        .toBe(true);
      expect((await who.get(id)).status.state).toBe('TASK_STATE_COMPLETED');
    },
  );

  test.each(callers)('$name: is refined by a new one in its context that names it (SEND-20, TURN-08, TURN-20, TURN-21)', async (raw) => {
    const who = stage.by(raw);
    const first = await who.send('artifact sketch one; done');
    await nextMillisecond(); // or which of them is newer is chance
    const second = await who.send('related', { contextId: first.contextId ?? '', referenceTaskIds: [first.id] });
    expect(second.id).not.toBe(first.id);
    expect(second.contextId).toBe(first.contextId);
    expect(dataOf(second, 'related')).toEqual([first.id]);
    const { tasks } = await who.ask<ListTasksResponse>('ListTasks', { contextId: first.contextId ?? '' });
    expect(tasks.map(({ id }) => id)).toEqual([second.id, first.id]);
  });

  test.each(callers)('$name: of a context that the server made is found by it, whatever it looks like (TURN-07)', async (raw) => {
    const who = stage.by(raw);
    const { contextId = '', id } = await who.send('done');
    expect((await who.ask<ListTasksResponse>('ListTasks', { contextId })).tasks.map((task) => task.id)).toEqual([id]);
    expect((await who.send('done', { contextId })).contextId).toBe(contextId);
  });

  test.each(callers)('$name: may hold artifacts of one name under several ids (ART-01, ART-06)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.send('artifact plan first; ask');
    const task = await who.send('artifact plan second; done', { taskId: id });
    expect(task.artifacts?.map(({ name, parts }) => [name, parts])).toEqual([
      ['plan', [{ text: 'first' }]],
      ['plan', [{ text: 'second' }]],
    ]);
    expect(new Set(task.artifacts?.map(({ artifactId }) => artifactId)).size).toBe(2);
  });
});

describe('a stream', () => {
  const stage = stageOf();

  test.each(callers)('$name: tells what happens when it happens (STRM-02, STRM-06)', async (raw) => {
    const who = stage.by(raw);
    const stream = who.stream('emit 1 0; silent 60000');
    let id = '';
    for await (const seen of stream) {
      if (seen.item && 'task' in seen.item) ({ id } = seen.item.task);
      if (textsOf([seen]).includes('1 ')) break; // it is here, and the turn is still silent
    }
    expect((await who.get(id)).status.state).toBe('TASK_STATE_WORKING');
    await who.cancel(id);
  });

  test.each(callers)(
    '$name: has a cursor in each event: from any of them another replica goes on, also after the end (STRM-20, STRM-23, AMB-03, case 20)',
    async (raw) => {
      const who = stage.by(raw);
      const all = await collect(who.at(0).stream('emit 12 2; work; emit 3 0; done'));
      const { id } = taskIn(all[0]);
      const told = all.map((seen) => [seen.id, seen.item]);
      for (const [index, seen] of all.entries()) {
        if (index === all.length - 1) {
          expect((await refusalOf(collect(who.at(1).subscribe(id, seen.id)))).told.reason).toBe('UNSUPPORTED_OPERATION'); // nothing is left to see
        } else {
          const rest = await collect(who.at(1).subscribe(id, seen.id));
          expect(rest.map((one) => [one.id, one.item])).toEqual(told.slice(index + 1));
        }
      }
      for (const odd of ['x', '-1', '1.5', '99999', '٣', '1e3']) {
        expect((await refusalOf(collect(who.at(1).subscribe(id, encodeURIComponent(odd))))).told.reason).toBe('UNSUPPORTED_OPERATION'); // as without one
      }
    },
  );

  test.each(callers)('$name: with a cursor that is none of ours begins with the task (AMB-03)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.send('emit 2 0; ask');
    for (const odd of ['x', '-1', '1.5', '99999', '', '12345678901234567890']) {
      const [first] = await collect(who.subscribe(id, odd), () => true);
      expect(taskIn(first).id).toBe(id);
    }
    const [first] = await collect(who.subscribe(id, 0), () => true);
    expect(first?.item).not.toHaveProperty('task'); // 0 is a cursor: from the beginning
    await who.cancel(id);
  });

  test.each(callers)('$name: that ended is told by GetTask, as polling is (GET-05, SEND-10)', async (raw) => {
    const who = stage.by(raw);
    const seen = await collect(who.at(0).stream('emit 2 0; done'));
    const task = await who.at(1).get(taskIn(seen[0]).id);
    expect([task.status.state, textsIn(task).join('')]).toEqual(['TASK_STATE_COMPLETED', textsOf(seen).join('')]);
    const { id } = await who.start('silent 200; done');
    expect((await ended(who.at(1), id)).status.state).toBe('TASK_STATE_COMPLETED');
  });

  test.each(callers)('$name: of a task that was made without streaming is a stream like others (SUB-04, SEND-03)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.at(0).start('silent 1500; emit 3 20; done');
    await standing(who, id, (state) => state === 'TASK_STATE_WORKING' || state === 'TASK_STATE_SUBMITTED');
    const seen = await collect(who.at(1).subscribe(id));
    expect(textsOf(seen).join('')).toBe('1 2 3 ');
    expect(statesOf(seen).at(-1)).toBe('TASK_STATE_COMPLETED');
  });

  test.each(callers)(
    '$name: holds one answer for a blocking send and a stream of the same words (SEND-16, AMB-24, BIND-02)',
    async (raw) => {
      const who = stage.by(raw);
      const start = performance.now();
      expect((await who.send('silent 150; artifact a b; done')).status.state).toBe('TASK_STATE_COMPLETED');
      expect(performance.now() - start).toBeGreaterThan(145); // it waited: that is the default
    },
  );
});

describe('an agent that is guarded', () => {
  const stage = stageOf({ replicas: 1, agent: fileURLToPath(new URL('guarded.ts', import.meta.url)) });
  const allowed = { authorization: 'Key ann', 'a2a-extensions': REQUIRED };
  const operations = Object.keys(wellFormed) as OperationName[]; // its type says so

  test.each(callers)(
    '$name: asks who comes without a key for one, in every operation, and names the scheme (ERR-03, ERR-04, ERR-05, AUTH-09)',
    async (raw) => {
      for (const operation of operations) {
        const { status, headers, error } = await stage.by(raw).answer(operation, wellFormed[operation]);
        expect([status, headers.get('www-authenticate')], operation).toEqual([401, 'Key realm="guarded"']);
        expect(error).toMatchObject({ reason: 'UNAUTHENTICATED', message: expect.stringContaining('Authorization: Key') });
      }
    },
  );

  test.each(callers)('$name: tells who lacks a right which one it is, and nothing else (ERR-06, ERR-07)', async (raw) => {
    for (const operation of operations) {
      const { status, error } = await stage.by(raw).answer(operation, wellFormed[operation], { headers: { authorization: 'Key reader' } });
      expect(status, operation).toBe(403);
      expect(error).toMatchObject({ reason: 'PERMISSION_DENIED', metadata: { scope: 'tasks.write' } });
      expect(JSON.stringify(error)).not.toContain('task-1');
    }
  });

  test.each(callers)(
    '$name: refuses what its card does not offer: streams, webhooks, the extended card (CAP-01, CAP-03, STRM-01, SUB-01)',
    async (raw) => {
      const card = (await (await fetch(`${stage.by(raw).url}/.well-known/agent-card.json`)).json()) as AgentCard; // that is what is served there
      expect(card.capabilities).toMatchObject({ streaming: false, pushNotifications: false, extendedAgentCard: false });
      const expected: Partial<Record<OperationName, string>> = {
        SendStreamingMessage: 'UNSUPPORTED_OPERATION',
        SubscribeToTask: 'UNSUPPORTED_OPERATION',
        GetExtendedAgentCard: 'UNSUPPORTED_OPERATION',
        CreateTaskPushNotificationConfig: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
        GetTaskPushNotificationConfig: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
        ListTaskPushNotificationConfigs: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
        DeleteTaskPushNotificationConfig: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
      };
      for (const [operation, reason] of Object.entries(expected) as [OperationName, string][]) {
        const { error } = await stage.by(raw).answer(operation, wellFormed[operation], { headers: allowed });
        expect(error?.reason, operation).toBe(reason);
      }
    },
  );

  test.each(callers)('$name: wants its required extension named, and serves who names it (case 68, EXT-03)', async (raw) => {
    const who = stage.by(raw);
    const without = await who.answer('SendMessage', sendRequest('hi'), { headers: { authorization: 'Key ann' } });
    expect(without.error).toMatchObject({
      reason: 'EXTENSION_SUPPORT_REQUIRED',
      code: raw.name === 'REST' ? 400 : -32008,
      metadata: { extensions: REQUIRED },
    });
    const { headers, result } = await who.answer('SendMessage', sendRequest('hi'), {
      headers: { ...allowed, 'a2a-extensions': `urn:other, ${REQUIRED}` },
    });
    expect(textsIn((result as { task: Task }).task)).toEqual(['Hello, ann']); // a task, as its agent has no small talk
    expect(headers.get('a2a-extensions')).toBe(REQUIRED); // AMB-25
  });
});
