import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/protocol/parts.ts';
import type { Turn } from '../../src/turn/turn.ts';
import { codeOf, gate, Stage } from './stage.ts';

const enqueue = { whileWorking: 'enqueue' } as const;

describe('the inbox', () => {
  test('takes all that waits, oldest first, and none is a fine answer', async () => {
    const begun = gate<Turn>();
    const end = gate();
    await using stage = await Stage.open({
      turns: enqueue,
      run: async (turn) => {
        begun.open(turn);
        await end.promise;
      },
    });
    const id = await stage.send('x');
    const turn = await begun.promise;
    expect(await turn.inbox.take()).toEqual([]);
    await stage.send('one', { taskId: id });
    await stage.send('two', { taskId: id });
    expect((await turn.inbox.take()).map(textOf)).toEqual(['one', 'two']);
    expect(await turn.inbox.take()).toEqual([]);
    end.open();
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(await stage.gist(id)).toEqual(['said:x', 'WORKING', 'said:one', 'said:two', 'taken:3,4', 'COMPLETED']);
  });

  test('two takes at once never get the same message', async () => {
    const begun = gate<Turn>();
    const end = gate();
    await using stage = await Stage.open({
      turns: enqueue,
      run: (turn) => {
        begun.open(turn);
        return end.promise;
      },
    });
    const id = await stage.send('x');
    const turn = await begun.promise;
    await stage.send('one', { taskId: id });
    await stage.send('two', { taskId: id });
    const taken = await Promise.all([turn.inbox.take(), turn.inbox.take(), turn.inbox.take()]);
    expect(taken.map((messages) => messages.map(textOf))).toEqual([['one', 'two'], [], []]);
    end.open();
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect((await stage.gist(id)).filter((line) => line.startsWith('taken'))).toEqual(['taken:3,4']);
  });

  test('a loop over it gets each message once, in order, and ends when the signal fires', async () => {
    const got: string[] = [];
    const ended = gate();
    await using stage = await Stage.open({
      turns: enqueue,
      run: async (turn) => {
        for await (const message of turn.inbox) got.push(textOf(message));
        ended.open();
      },
    });
    const id = await stage.send('x');
    for (const text of ['one', 'two', 'three']) {
      await stage.send(text, { taskId: id });
      await stage.until(() => got.at(-1) === text, `${text} is taken`);
    }
    await stage.cancel(id);
    await ended.promise;
    expect(got).toEqual(['one', 'two', 'three']);
  });

  test('what nobody takes gets a turn of its own, oldest first, in the commit that closes the turn', async () => {
    const seen: string[] = [];
    const end = gate();
    await using stage = await Stage.open({
      turns: enqueue,
      run: async (turn) => {
        seen.push(turn.text);
        if (turn.text === 'x') await end.promise;
        return turn.complete(`did ${turn.text}`);
      },
    });
    const id = await stage.send('x');
    await stage.send('one', { taskId: id });
    await stage.send('two', { taskId: id });
    end.open();
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(seen).toEqual(['x', 'one', 'two']);
    expect((await stage.gist(id)).slice(4)).toEqual(['SUBMITTED:did x', 'WORKING', 'SUBMITTED:did one', 'WORKING', 'COMPLETED:did two']);
  });

  test('a later attempt gets the messages again that an earlier one took, once each', async () => {
    const got: (readonly string[])[] = [];
    const attempts: number[] = [];
    await using stage = await Stage.open({
      turns: { ...enqueue, onLost: 'retry', leaseMs: 200, tickMs: 20, pollMs: 20 },
      replicas: 2,
      run: async (turn) => {
        attempts.push(turn.attempt);
        const first = await turn.inbox.next();
        const rest = await turn.inbox.take();
        got.push([first, ...rest].map((message) => (message ? textOf(message) : '')));
        if (turn.attempt === 1) await new Promise(() => {});
        return turn.complete();
      },
    });
    const id = await stage.send('x');
    await stage.send('one', { taskId: id });
    await stage.until(() => got.length === 1, 'the first attempt took it');
    stage.replica(0).link.mode = 'hang';
    await stage.until(() => attempts.length === 2, 'a second attempt');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(attempts).toEqual([1, 2]);
    expect(got).toEqual([['one'], ['one']]);
    expect((await stage.gist(id)).filter((line) => line.startsWith('taken'))).toEqual(['taken:3']);
  });

  test('a message taken at the moment of a cancel is taken or refused, never both', async () => {
    const begun = gate<Turn>();
    await using stage = await Stage.open({
      turns: enqueue,
      run: (turn) => {
        begun.open(turn);
        return new Promise(() => {});
      },
      turnsOf: () => ({ cancelGraceMs: 0 }),
    });
    const id = await stage.send('x');
    const turn = await begun.promise;
    await stage.send('one', { taskId: id });
    await stage.cancel(id);
    expect(await codeOf(turn.inbox.take())).toBe('UNSUPPORTED_OPERATION');
    expect((await stage.gist(id)).at(-1)).toBe('CANCELED');
  });
});
