import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/protocol/types.ts';
import {
  callers,
  chunks,
  collect,
  ended,
  eventually,
  exec,
  opened,
  pause,
  Refused,
  rounds,
  stageOf,
  standing,
  stateOf,
  statesOf,
  taskIn,
  textsIn,
  textsOf,
} from './support.ts';
import type { Seen } from './support.ts';

const stage = stageOf({ replicas: 3 });

describe('a blocking send', () => {
  test.each(callers)('$name: is written down whole while it is waited for, whoever else looks (case 33, SEND-07)', async (raw) => {
    const who = stage.by(raw);
    const contextId = crypto.randomUUID();
    const sending = who.at(0).send('emit 5 40; done', { contextId });
    const seen = await eventually('the task on another replica', async () => {
      const { tasks } = await who.at(1).ask<{ tasks: Task[] }>('ListTasks', { contextId });
      return tasks[0];
    });
    const [answer, elsewhere] = [await sending, await ended(who.at(1), seen.id)];
    expect(textsIn(elsewhere).join('')).toBe('1 2 3 4 5 ');
    expect(elsewhere).toEqual(answer);
  });

  test.each(callers)('$name: of 64 at once is answered with what is stored, in each (case 34, SEND-08)', async (raw) => {
    const who = stage.by(raw);
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        const answer = await who.send('emit 10 0; done');
        expect(textsIn(answer).join('')).toBe(chunks(1, 10).join(''));
        expect(await who.get(answer.id)).toEqual(answer);
      }),
    );
  });

  test.each(callers)('$name: to another replica than the one that runs the turn is answered alike (SEND-01, SEND-07)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.at(0).send('ask who?');
    const answer = await who.at(1).send('work; emit 3 1; ask and then?', { taskId: id });
    expect(answer.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'and then?' }] } });
    expect(textsIn(answer).join('')).toBe('1 2 3 ');
    expect(await who.at(2).get(id)).toEqual(answer);
  });

  test.each(callers)('$name: that is hung up on goes on all the same (STRM-15, AMB-24)', async (raw) => {
    const who = stage.by(raw);
    const gone = new AbortController();
    const contextId = crypto.randomUUID();
    const sending = who.fetch(
      'SendMessage',
      { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'silent 3000; done' }], contextId } },
      { signal: gone.signal },
    );
    const { id } = await eventually('the task', async () => (await who.ask<{ tasks: Task[] }>('ListTasks', { contextId })).tasks[0]);
    gone.abort();
    await expect(sending).rejects.toThrow(/abort/);
    expect(await ended(who, id)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });
});

describe('an answer', () => {
  test.each(callers)('$name: at once is the task as the message found it, whatever follows at once (case 35, SEND-09)', async (raw) => {
    const who = stage.by(raw);
    const once = async (): Promise<void> => {
      const task = await who.start('emit 5 0; done');
      expect(task.artifacts).toBeUndefined();
      expect(task.history).toHaveLength(1);
      expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(task.status.state);
    };
    for (let round = 0; round < rounds(500, 40); round += 8) await Promise.all(Array.from({ length: 8 }, once));
  });

  test.each(callers)('$name: of a stream begins with that task too, and is a frozen copy (case 35, STRM-04)', async (raw) => {
    const who = stage.by(raw);
    const once = async (): Promise<void> => {
      const seen = await collect(who.stream('emit 5 0; done'));
      const first = taskIn(seen[0]);
      expect(first.artifacts).toBeUndefined();
      expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(first.status.state);
      expect(textsOf(seen).join('')).toBe(chunks(1, 5).join(''));
      expect(statesOf(seen).at(-1)).toBe('TASK_STATE_COMPLETED');
    };
    for (let round = 0; round < rounds(500, 24); round += 8) await Promise.all(Array.from({ length: 8 }, once));
  });

  test.each(callers)(
    '$name: is never an empty stream: each begins with a Task or is one Message (case 39, STRM-03, STRM-07, SEND-02)',
    async (raw) => {
      const who = stage.by(raw);
      const count = rounds(2_500, 160);
      let next = 0;
      const some = async (): Promise<void> => {
        for (let number = next++; number < count; number = next++) {
          const seen = await collect(who.stream(number % 2 === 0 ? 'reply hello' : 'done'));
          if (number % 2 === 0) expect(seen).toMatchObject([{ item: { message: { role: 'ROLE_AGENT', parts: [{ text: 'hello' }] } } }]);
          else expect([taskIn(seen[0]).id.length, stateOf(seen.at(-1) ?? { id: 0 })]).toEqual([36, 'TASK_STATE_COMPLETED']);
        }
      };
      await Promise.all(Array.from({ length: 16 }, some));
    },
  );

  test.each(callers)(
    '$name: that is a Message does not care whether it was waited for, and leaves no task behind (SEND-11, TURN-02, TURN-23)',
    async (raw) => {
      const who = stage.by(raw).as('small talk');
      for (const returnImmediately of [true, false]) {
        const { message, task } = await who.sendRaw('reply hello', { configuration: { returnImmediately } });
        expect(task).toBeUndefined();
        expect(message).toMatchObject({ role: 'ROLE_AGENT', contextId: expect.any(String), messageId: expect.any(String) });
        expect(message?.taskId).toBeUndefined();
      }
      const { message } = await who.sendRaw('reply hello', { contextId: 'small-talk' });
      expect(message?.contextId).toBe('small-talk'); // TURN-03
      expect(await who.ask('ListTasks', {})).toMatchObject({ tasks: [], totalSize: 0 });
    },
  );
});

describe('a task that needs its user', () => {
  test.each(callers)(
    '$name: for a sign-in is the answer, while streams on every replica stay for what follows (case 49, ITA-01 to ITA-06, SEND-07)',
    async (raw) => {
      const who = stage.by(raw);
      const answer = await who.at(0).send('!sign-in 1500');
      expect(answer.status).toMatchObject({ state: 'TASK_STATE_AUTH_REQUIRED', message: { parts: [{ text: 'Sign in, please.' }] } });
      const elsewhere = await opened(who.at(1).subscribe(answer.id));
      const expected = ['TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'];
      expect(statesOf(await elsewhere.all)).toEqual(expected);
      const own = await collect(who.at(2).stream('!sign-in 300'));
      expect(statesOf(own).slice(-3)).toEqual(expected);
      expect(textsOf(own)).toEqual(['welcome']);
    },
  );

  test.each(callers)('$name: for a sign-in takes a message meanwhile, on any replica (ITA-07)', async (raw) => {
    const who = stage.by(raw);
    const { id, status } = await who.at(0).send('hold-auth token?');
    expect(status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    const seen = await opened(who.at(2).subscribe(id));
    await who.at(1).start('here it is', { taskId: id });
    const task = await ended(who.at(1), id);
    expect([task.status.state, textsIn(task)]).toEqual(['TASK_STATE_COMPLETED', ['here it is']]);
    expect(statesOf(await seen.all).at(-1)).toBe('TASK_STATE_COMPLETED');
  });

  test.each(callers)(
    '$name: for an answer says so last, then its stream closes; a blocking send gets it (case 50, STRM-16, AMB-01)',
    async (raw) => {
      const who = stage.by(raw);
      const seen = await collect(who.stream('emit 1 0; ask what next?'));
      expect(seen.at(-1)?.item).toMatchObject({
        statusUpdate: { status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'what next?' }] } } },
      });
      expect(textsOf(seen)).toEqual(['1 ']);
      const answer = await who.send('emit 1 0; ask what next?');
      expect(answer.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'what next?' }] } });
    },
  );

  test.each(callers)('$name: is followed over its question to its end by a subscription (AMB-01, SUB-06)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.at(0).send('ask who?');
    const seen = await opened(who.at(1).subscribe(id));
    await who.at(2).send('ask and you?', { taskId: id });
    await who.at(0).send('done', { taskId: id });
    const states = statesOf(await seen.all).filter((state) => state !== 'TASK_STATE_SUBMITTED');
    expect(states).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ]);
  });
});

describe('a store that another process keeps locked', () => {
  test('for three seconds holds up twenty blocking sends, and nothing else: all are answered, cards and reads at once (case 30, ERR-14, ERR-15)', async () => {
    const [raw] = callers;
    const who = stage.by(raw ?? failNoBinding());
    const { id } = await who.send('artifact a kept; done');
    const database = await exec(stage.rig.store, 'BEGIN IMMEDIATE');
    const start = performance.now();
    const sends = Array.from({ length: 20 }, async (): Promise<Task | Refused> => {
      try {
        return await who.send('emit 2 0; done');
      } catch (error) {
        if (error instanceof Refused) return error;
        throw error;
      }
    });
    while (performance.now() - start < 3_000) {
      // the lock is not let go of meanwhile: what waited for it would wait for ever
      expect((await fetch(`${who.url}/.well-known/agent-card.json`)).status).toBe(200);
      expect(textsIn(await who.get(id))).toEqual(['kept']);
      await pause(50);
    }
    const lockedMs = performance.now() - start;
    database.exec('ROLLBACK');
    database.close();
    const answers = await Promise.all(sends);
    for (const answer of answers) {
      if (answer instanceof Refused)
        expect(answer.told).toMatchObject({ reason: 'UNAVAILABLE', details: [{}, { retryDelay: expect.stringMatching(/s$/) }] });
      else expect([answer.status.state, textsIn(answer).join('')]).toEqual(['TASK_STATE_COMPLETED', '1 2 ']);
    }
    // a write waits for five seconds, and the lock takes three, unless the machine stood still
    const answered = answers.filter((answer) => !(answer instanceof Refused));
    if (lockedMs < 4_000) expect(answered.length).toBeGreaterThan(0);
    expect(stage.rig.living).toHaveLength(3);
    expect((await who.send('done')).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

function failNoBinding(): never {
  throw new Error('there are two bindings');
}

describe('the order of a stream', () => {
  test.each(callers)(
    '$name: is one for all who follow, ids rise, and who leaves disturbs nobody (STRM-09 to STRM-14, STRM-17, AMB-31)',
    async (raw) => {
      const who = stage.by(raw);
      const { id } = await who.at(0).start('emit 200 10; work; done');
      await standing(who, id, 'TASK_STATE_WORKING');
      const leaving = collect(who.at(0).subscribe(id), (_seen, all) => all.length >= 3);
      const all = await Promise.all([0, 1, 2, 0].map((index) => collect(who.at(index).subscribe(id, 0))));
      expect((await leaving).length).toBe(3);
      const told = (items: readonly Seen[]): unknown => items.map((seen) => [seen.id, seen.item]);
      for (const items of all) {
        expect(told(items)).toEqual(told(all[0] ?? []));
        const ids = items.map((seen) => seen.id ?? 0);
        expect(ids).toEqual(ids.toSorted((a, b) => a - b));
        expect(new Set(ids).size).toBe(ids.length);
      }
    },
  );
});
