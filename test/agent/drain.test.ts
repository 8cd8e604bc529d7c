import { describe, expect, test } from 'vitest';
import { createScripted } from '../../examples/scripted.ts';
import { connect } from '../../src/client/connect.ts';
import { createAgent, memory, silentLogger } from '../../src/index.ts';
import { kinds, Replicas, taskOf, until } from './replicas.ts';

describe.each(kinds)('close drains (SIGTERM, case 98) on %s', (kind) => {
  test('it waits for turns and calls that end in time: nobody notices', async () => {
    let [hasBegun, end] = [false, (): void => {}];
    await using replicas = await Replicas.open(kind, 1, {
      drainMs: 20_000,
      run: () => {
        hasBegun = true;
        return new Promise<undefined>((resolve) => (end = () => resolve(undefined)));
      },
    });
    const answer = replicas.client(0).send('go');
    await until(() => hasBegun, 'it works');
    const before = performance.now();
    const closing = replicas.agent(0).close();
    expect(replicas.agent(0).isReady).toBe(false);
    end();
    expect(taskOf(await answer).status.state).toBe('TASK_STATE_COMPLETED');
    await closing;
    expect(performance.now() - before).toBeLessThan(15_000);
  });

  test.each([
    ['fail', 'TASK_STATE_FAILED'],
    ['ask', 'TASK_STATE_INPUT_REQUIRED'],
  ] as const)('what does not end in time is settled by onLost: %s', async (onLost, state) => {
    await using replicas = await Replicas.open(kind, 2, { drainMs: 2_200, onLost });
    const started = await replicas.client(0).start('work; silent 60000');
    const before = performance.now();
    await replicas.agent(0).close();
    expect(performance.now() - before).toBeLessThan(15_000); // the turn itself would take a minute
    expect((await replicas.client(1).task(started.id).get()).status.state).toBe(state);
  });

  test('onLost retry: another replica takes over at once, not after a lease', async () => {
    await using replicas = await Replicas.open(kind, 2, {
      drainMs: 2_100,
      onLost: 'retry',
      run: async (turn) => {
        if (turn.attempt > 1) return `attempt ${turn.attempt} on another`;
        return new Promise<undefined>((resolve) => turn.signal.addEventListener('abort', () => resolve(undefined)));
      },
    });
    const started = await replicas.client(0).start('go');
    const closing = replicas.agent(0).close();
    await until(async () => (await replicas.client(1).task(started.id).state()) === 'TASK_STATE_COMPLETED', 'the other one ends it');
    await closing;
  });

  test('streams end without an end event, and the client goes on elsewhere; blocked sends get the present task', async () => {
    await using replicas = await Replicas.open(kind, 2, { drainMs: 2_100, onLost: 'ask', whileWorking: 'enqueue' });
    // the work runs on B; A only shows it
    const started = await replicas.client(1).start('work; silent 60000; done');
    const roundRobin = { fetch: (request: Request): Promise<Response> => replicas.agent(replicas.agent(0).isAlive ? 0 : 1).fetch(request) };
    const client = await connect(roundRobin, { reconnect: { firstMs: 10, mostMs: 50 } });
    const stream = client.task(started.id).follow();
    const items = (async (): Promise<number> => {
      let count = 0;
      for await (const _ of stream) count += 1;
      return count;
    })();
    await until(() => stream.task !== undefined, 'the stream began');
    await replicas.agent(0).close();
    await replicas.client(1).task(started.id).cancel();
    expect(await items).toBeGreaterThan(1);
    expect(stream.state).toBe('TASK_STATE_CANCELED');
  });
});

describe('a drain', () => {
  test('answers a blocked send with the task as it stands, and the work goes on elsewhere', async () => {
    const store = memory();
    const parts = { ...createScripted(), store, logger: silentLogger, drainMs: 2_100 };
    const front = createAgent({ ...parts, concurrency: 0 });
    const worker = createAgent({ ...parts, drainMs: 0 });
    await worker.start();
    const client = await connect(front);
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'work; silent 60000' }] } as const;
    const answer = client.call('SendMessage', { message }, { timeoutMs: 20_000 });
    const other = await connect(worker);
    await until(async () => (await other.page({ status: 'TASK_STATE_WORKING' })).totalSize === 1, 'it works');
    await front.close();
    const given = await answer;
    expect(given).toMatchObject({ task: { status: { state: 'TASK_STATE_WORKING' } } });
    const id = 'task' in given ? given.task.id : '';
    expect((await other.task(id).get()).status.state).toBe('TASK_STATE_WORKING');
    await worker.close();
  });
});
