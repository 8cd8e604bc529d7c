import { describe, expect, test } from 'vitest';
import type { ListTasksResponse, Message, Task } from '../../src/protocol/types.ts';
import type { Wanted } from '../bindings/callers.ts';
import { callers, collect, opened, refusalOf, sendRequest, stageOf, taskIn } from './support.ts';
import type { Stranger } from './support.ts';

const stage = stageOf();

const saying = ({ parts: [part] }: Message): string => (part && 'text' in part ? part.text : '');
const said = (task: Task): readonly string[] | undefined => task.history?.map(saying);

/** A task of four messages in its history: two of the user's, two of the agent's, and a last word that is not history yet. */
const fourMessages = async (who: Stranger): Promise<Task> => {
  const { id } = await who.at(0).send('work one; ask two');
  return who.at(1).send('ask three', { taskId: id });
};

describe('historyLength', () => {
  const lengths = [
    [undefined, 4],
    [0, undefined],
    [2, 2],
    [4, 4],
    [99, 4],
  ] as const;

  test.each(callers.flatMap((raw) => lengths.map(([length, shown]) => ({ raw, name: raw.name, length, shown }))))(
    '$name: $length of a task of four messages shows $shown, in get, list, send and stream (case 63, HIST-01 to HIST-05, LIST-17, SEND-18)',
    async ({ raw, length, shown }) => {
      const who = stage.by(raw).as(`${raw.name} ${length}`);
      const task = await fourMessages(who);
      const all = said(task) ?? [];
      expect(all).toEqual(['work one; ask two', 'one', 'two', 'ask three']);
      const expected = shown === undefined ? undefined : all.slice(-shown);
      const wish: Wanted = length === undefined ? {} : { historyLength: length };
      const got = await who.get(task.id, wish);
      expect(said(got)).toEqual(expected);
      if (shown === undefined) expect(got).not.toHaveProperty('history'); // HIST-02
      const { tasks } = await who.ask<ListTasksResponse>('ListTasks', wish);
      expect(said(tasks[0] ?? task)).toEqual(expected);
      // one message more, by each of the two sends
      const words = { taskId: task.id, configuration: wish as Record<string, number> }; // a number, if anything
      const whole = [...all, 'three'];
      const sent = await who.send('ask four', words);
      expect(said(sent)).toEqual(sliced([...whole, 'ask four'], length));
      const [first] = await collect(who.stream('done', words));
      expect(said(taskIn(first))).toEqual(sliced([...whole, 'ask four', 'four', 'done'], length));
    },
  );

  const sliced = (all: readonly string[], length: number | undefined): readonly string[] | undefined =>
    length === 0 ? undefined : length === undefined ? all : all.slice(-length);

  test.each(callers)('$name: that is negative is refused by all four, the field named (case 63, LIST-05)', async (raw) => {
    const who = stage.by(raw);
    const bad = { historyLength: -1 };
    const asked: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => who.get('t', bad), 'historyLength'],
      [() => who.ask('ListTasks', bad), 'historyLength'],
      [() => who.send('done', { configuration: bad }), 'configuration.historyLength'],
      [() => collect(who.stream('done', { configuration: bad })), 'configuration.historyLength'],
    ];
    for (const [question, field] of asked) {
      expect((await refusalOf(question())).told).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field }] });
    }
  });

  test.each(callers)('$name: is no matter of a subscription: its snapshot is that of GetTask (SUB-05, SUB-08, AMB-14)', async (raw) => {
    const who = stage.by(raw);
    const task = await fourMessages(who);
    const [first] = await collect(who.subscribe(task.id), () => true);
    expect(taskIn(first)).toEqual(await who.get(task.id));
  });
});

describe('history', () => {
  test.each(callers)(
    '$name: of three turns on two replicas holds each message once, in order, users and agent (case 64, case 2, HIST-06, HIST-10)',
    async (raw) => {
      const who = stage.by(raw);
      const { id, contextId } = await who.at(0).send('work a1; work a2; ask a3', { messageId: 'user-1' });
      await who.at(1).send('work b1; ask b2', { taskId: id, messageId: 'user-2' });
      const task = await who.at(0).send('work c1; done c2', { taskId: id, messageId: 'user-3' });
      expect(said(task)).toEqual(['work a1; work a2; ask a3', 'a1', 'a2', 'a3', 'work b1; ask b2', 'b1', 'b2', 'work c1; done c2', 'c1']);
      expect(saying(task.status.message ?? { messageId: '', role: 'ROLE_AGENT', parts: [] })).toBe('c2');
      const ids = [...(task.history ?? []), ...(task.status.message ? [task.status.message] : [])].map(({ messageId }) => messageId);
      expect(new Set(ids).size).toBe(10);
      for (const message of task.history ?? []) expect(message).toMatchObject({ taskId: id, contextId }); // TURN-23
      expect(task.history?.filter(({ role }) => role === 'ROLE_USER').map(({ messageId }) => messageId)).toEqual([
        'user-1',
        'user-2',
        'user-3',
      ]);
      expect(await who.at(1).get(id)).toEqual(task);
    },
  );

  test.each(callers)('$name: is told to the agent of a later turn, wherever that runs (case 64, TURN-19, TURN-22)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.at(0).send('ask what?');
    const task = await who.at(1).send('history', { taskId: id });
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'ask what?\nwhat?' }]);
  });

  test.each(callers)('$name: keeps a message as it came: parts, metadata, extensions, references (P5, JSON-21)', async (raw) => {
    const who = stage.by(raw);
    const other = await who.send('done');
    const message = {
      messageId: 'whole',
      role: 'ROLE_USER',
      parts: [{ text: 'done' }, { data: { a: null } }],
      metadata: { mood: 'calm', deep: { x: [1] } },
      extensions: ['https://example.com/e'],
      referenceTaskIds: [other.id],
    };
    const { task } = await who.ask<{ task: Task }>('SendMessage', { message, metadata: { request: 'meta' } });
    expect(task.history).toEqual([{ ...message, taskId: task.id, contextId: task.contextId }]);
  });

  test.each(callers)('$name: does not hold results: they are artifacts (HIST-07, HIST-08)', async (raw) => {
    const task = await stage.by(raw).send('artifact a result; done');
    expect(task.artifacts).toMatchObject([{ name: 'a', parts: [{ text: 'result' }] }]);
    expect(JSON.stringify(task.history)).not.toContain('"text":"result"');
  });

  test('is never on a stream: there a message would be a direct answer (STRM-03, STRM-21, AMB-35, AMB-44)', async () => {
    for (const raw of callers) {
      const who = stage.by(raw);
      const { id } = await who.send('ask one?');
      const following = await opened(who.subscribe(id));
      await who.send('work two; done', { taskId: id });
      for (const { item } of await following.all) {
        const members = Object.keys(item ?? {});
        expect(members).toHaveLength(1);
        expect(['task', 'statusUpdate', 'artifactUpdate']).toContain(members[0]);
      }
    }
  });
});

describe('a request', () => {
  test.each(callers)('$name: brings metadata of its own, which is no part of the message (SEND-15)', async (raw) => {
    const who = stage.by(raw);
    const { task } = await who.ask<{ task: Task }>('SendMessage', { ...sendRequest('done'), metadata: { any: [1, 'x', null] } });
    expect(JSON.stringify(task)).not.toContain('"any"');
  });
});
