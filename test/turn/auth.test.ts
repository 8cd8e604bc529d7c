import { expect, test } from 'vitest';
import type { Outcome, Turn } from '../../src/turn/turn.ts';
import { gate, Stage, untyped } from './stage.ts';

test('return turn.askForAuth(…) closes the turn on AUTH_REQUIRED, from an async function', async () => {
  await using stage = await Stage.open({ run: async (turn) => turn.askForAuth('Log in.') });
  const id = await stage.send('x');
  await stage.until(async () => (await stage.row(id)).phase === 'closed', 'closed');
  expect(await stage.gist(id)).toEqual(['said:x', 'WORKING', 'AUTH_REQUIRED:Log in.', 'closed']);
});

test('return turn.askForAuth(…) closes the turn from a plain function too', async () => {
  await using stage = await Stage.open({ run: (turn) => turn.askForAuth('Log in.') });
  const id = await stage.send('x');
  await stage.until(async () => (await stage.row(id)).phase === 'closed', 'closed');
  expect(await stage.gist(id)).toEqual(['said:x', 'WORKING', 'AUTH_REQUIRED:Log in.', 'closed']);
});

test('an outcome kept from an await closes the turn when nothing was said in between', async () => {
  await using stage = await Stage.open({
    run: async (turn) => {
      const outcome = await turn.askForAuth('Log in.');
      return outcome;
    },
  });
  const id = await stage.send('x');
  await stage.until(async () => (await stage.row(id)).phase === 'closed', 'closed');
  expect(await stage.gist(id)).toEqual(['said:x', 'WORKING', 'AUTH_REQUIRED:Log in.', 'closed']);
});

test('an outcome returned after the code went on is said again before the turn closes', async () => {
  await using stage = await Stage.open({
    run: async (turn) => {
      const outcome = await turn.askForAuth('Log in.');
      await turn.working('still at it');
      return outcome;
    },
  });
  const id = await stage.send('x');
  await stage.until(async () => (await stage.row(id)).phase === 'closed', 'closed');
  expect((await stage.gist(id)).slice(2)).toEqual(['AUTH_REQUIRED:Log in.', 'WORKING:still at it', 'AUTH_REQUIRED:Log in.', 'closed']);
});

test('await turn.askForAuth(…) keeps the turn open; whoever goes on says WORKING first (case 49)', async () => {
  const go = gate();
  await using stage = await Stage.open({
    run: async (turn) => {
      await turn.askForAuth('Log in.');
      await go.promise;
      await turn.artifact('out').append('went on');
      return turn.complete('Thanks.');
    },
  });
  const id = await stage.send('x');
  await stage.reached(id, 'TASK_STATE_AUTH_REQUIRED');
  expect((await stage.row(id)).phase).toBe('open');
  go.open();
  await stage.reached(id, 'TASK_STATE_COMPLETED');
  expect((await stage.gist(id)).slice(2)).toEqual(['AUTH_REQUIRED:Log in.', 'WORKING', '1-out:went on', 'COMPLETED:Thanks.']);
});

test('content returned while the turn holds on AUTH_REQUIRED says WORKING first, and a stream does too', async () => {
  await using stage = await Stage.open({
    run: async (turn) => {
      await turn.askForAuth();
      await turn.stream(['streamed']);
      await turn.askForAuth();
      return 'done';
    },
  });
  const id = await stage.send('x');
  await stage.reached(id, 'TASK_STATE_COMPLETED');
  expect((await stage.gist(id)).slice(2)).toEqual([
    'AUTH_REQUIRED',
    'WORKING',
    '1#1:streamed.',
    'AUTH_REQUIRED',
    'WORKING',
    '1#result:done.',
    'COMPLETED',
  ]);
});

test('a note while AUTH_REQUIRED stands keeps the state', async () => {
  await using stage = await Stage.open({
    run: async (turn) => {
      await turn.askForAuth('Log in.');
      await turn.note({ provider: 'x' });
      return turn.complete();
    },
  });
  const id = await stage.send('x');
  const task = await stage.reached(id, 'TASK_STATE_COMPLETED');
  expect((await stage.gist(id)).slice(2)).toEqual(['AUTH_REQUIRED:Log in.', 'AUTH_REQUIRED', 'COMPLETED']);
  expect(task.metadata).toEqual({ provider: 'x' });
});

test('a message to a turn that holds on AUTH_REQUIRED reaches its inbox, although messages are refused (ITA-07)', async () => {
  await using stage = await Stage.open({
    turns: { whileWorking: 'refuse' },
    run: async (turn) => {
      await turn.askForAuth('Log in.');
      const answer = await turn.inbox.next();
      await turn.artifact('answer').write(answer?.parts ?? []);
    },
  });
  const id = await stage.send('x');
  await stage.reached(id, 'TASK_STATE_AUTH_REQUIRED');
  await stage.send('my token', { taskId: id });
  await stage.reached(id, 'TASK_STATE_COMPLETED');
  expect((await stage.gist(id)).slice(2)).toEqual([
    'AUTH_REQUIRED:Log in.',
    'said:my token',
    'WORKING',
    'taken:4',
    '1-answer:my token',
    'COMPLETED',
  ]);
});

test('a message that comes just before the turn closes on AUTH_REQUIRED gets a turn of its own', async () => {
  const taken: string[] = [];
  const outcome = gate<Outcome>();
  await using stage = await Stage.open({
    run: async (turn) => {
      if (turn.text !== 'x') {
        taken.push(turn.text);
        return turn.complete();
      }
      await turn.askForAuth('Log in.');
      return outcome.promise;
    },
  });
  const id = await stage.send('x');
  await stage.reached(id, 'TASK_STATE_AUTH_REQUIRED');
  await stage.send('token', { taskId: id });
  outcome.open(untyped(undefined));
  await stage.reached(id, 'TASK_STATE_COMPLETED');
  expect(taken).toEqual(['token']);
});

test('a resumed turn answers the message that the turn before answered', async () => {
  const turns: Turn[] = [];
  await using stage = await Stage.open({
    run: async (turn) => {
      turns.push(turn);
      return turn.isResumed ? 'done' : turn.askForAuth();
    },
  });
  const id = await stage.send('pay');
  await stage.until(async () => (await stage.row(id)).phase === 'closed', 'closed');
  const { log, runner } = stage.replica();
  const { limits } = await stage.row(id);
  const result = await log.resume({ agent: 'Stage', taskId: id, replica: runner.replica, canStart: true, limits });
  if (result.kind === 'resumed') runner.offer(result.row);
  await stage.reached(id, 'TASK_STATE_COMPLETED');
  expect(turns.map(({ isResumed, text, attempt }) => ({ isResumed, text, attempt }))).toEqual([
    { isResumed: false, text: 'pay', attempt: 1 },
    { isResumed: true, text: 'pay', attempt: 1 },
  ]);
});
