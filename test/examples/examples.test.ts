import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { agent as calendar, onSignedIn } from '../../examples/authorization.ts';
import { agent as greeter } from '../../examples/first.ts';
import { agent as reporter } from '../../examples/retry.ts';
import { createScripted } from '../../examples/scripted.ts';
import { agent as poet } from '../../examples/streaming.ts';
import { agent as waiter } from '../../examples/two-turns.ts';
import { answerText, connect, isTask } from '../../src/client.ts';
import type { Task } from '../../src/client.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { createAgent } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { Probe } from '../../src/testing/probe.ts';
import { Rig } from '../../src/testing/rig.ts';
import { collect, eventually, statesOf } from '../replicas/support.ts';

const running: Agent[] = [];
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.close();
});

/** The example's agent anew: each test has its own, with its own tasks. */
function fresh({ options }: Agent): Agent {
  const agent = createAgent({ ...options, drainMs: 100, logger: silentLogger });
  running.push(agent);
  return agent;
}

function taskOf(answer: Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['send']>>): Task {
  if (!isTask(answer)) throw new Error('a task was expected');
  return answer;
}

describe('the examples', () => {
  test('first: greets, and asks for a name if there is none', async () => {
    const client = await connect(fresh(greeter));
    expect(answerText(await client.send('Ada'))).toBe('Hello, Ada!');
    const asked = taskOf(await client.send({ parts: [{ data: {} }] }));
    expect(asked.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Who should I greet?' }] } });
    expect(answerText(await client.task(asked.id).send('Grace'))).toBe('Hello, Grace!');
  });

  test('streaming: a poem grows before its reader, and is whole in the end', async () => {
    const client = await connect(fresh(poet));
    const stream = client.stream('rivers');
    let pieces = 0;
    for await (const item of stream) if ('artifactUpdate' in item) pieces += 1;
    expect(pieces).toBeGreaterThan(10);
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
    expect(stream.task && answerText(stream.task)).toMatch(/^A song of rivers:\n[^]+and every ear hears every line\.\n$/);
  });

  test('two-turns: asks, does not take any answer, and books', async () => {
    const client = await connect(fresh(waiter));
    const asked = taskOf(await client.send('Friday at eight, by the window'));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(taskOf(await client.task(asked.id).send('many')).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const booked = taskOf(await client.task(asked.id).send('4'));
    expect(booked.status.state).toBe('TASK_STATE_COMPLETED');
    expect(answerText(booked)).toBe('A table for 4 is booked: Friday at eight, by the window');
  });

  test('authorization: waits for the user to sign in, and goes on when the callback comes', async () => {
    const agent = fresh(calendar);
    const client = await connect(agent);
    const asked = taskOf(await client.send('What is on today?'));
    expect(asked.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    await onSignedIn(agent, { state: asked.id, user: 'Ada' });
    const task = await client.task(asked.id).wait({ until: 'ended' });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(answerText(task)).toBe('Today for Ada: lunch at noon.');
  });

  test('retry: a report is written whole and once although its replica was killed in the middle', async () => {
    await using rig = await Rig.open({ agent: 'examples/retry.ts', replicas: 2, flags: ['--lease-ms', '1000', '--tick-ms', '100'] });
    const [a, b] = rig.replicas.map(({ url, name }) => new Probe({ url, replica: name }));
    const task = await a?.sendForTask('apples', { returnImmediately: true });
    const id = task?.id ?? '';
    await eventually('some pages', async () => ((await b?.get(id))?.artifacts?.[0]?.parts.length ?? 0) >= 5);
    await rig.kill(0);
    const seen = b ? await collect(b.subscribe(id)) : [];
    expect(statesOf(seen).at(-1)).toBe('TASK_STATE_COMPLETED');
    const whole = await b?.get(id);
    const pages = Array.from({ length: 20 }, (_, index) => `Page ${index + 1} on apples. `);
    expect(whole && answerText(whole)).toBe(pages.join(''));
    expect(JSON.stringify(whole?.history)).toContain(`Run 2 of ${id}.1`);
  });

  test('retry: without a kill it is written in one run', async () => {
    const client = await connect(fresh(reporter));
    const task = taskOf(await client.send('pears'));
    expect(task.artifacts?.[0]?.parts).toHaveLength(20);
  });

  test('scripted: answers small talk with a bare message, everything else with a task', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chorus-scripted-'));
    const agent = createAgent({ ...createScripted({ effects: join(folder, 'effects.jsonl') }), drainMs: 100, logger: silentLogger });
    running.push(agent);
    const client = await connect(agent);
    expect(isTask(await client.send('reply good morning'))).toBe(false);
    const task = taskOf(
      await client.send('emit 3 0 6; append notes a; append notes b; data {"a":[1]}; meta color red; history; related; done bye'),
    );
    expect(task.artifacts).toMatchObject([
      { name: 'out', parts: [{ text: '1 ....' }, { text: '2 ....' }, { text: '3 ....' }] },
      { artifactId: 'notes', parts: [{ text: 'a' }, { text: 'b' }] },
      { name: 'data', parts: [{ data: { a: [1] } }] },
      { name: 'history', parts: [{ text: '' }] },
      { name: 'related', parts: [{ data: [] }] },
    ]);
    expect(task.metadata).toMatchObject({ color: 'red' });
    expect(task.status).toMatchObject({ state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'bye' }] } });
    const later = taskOf(await client.send({ parts: [{ text: 'related; history; ask more?' }], referenceTaskIds: [task.id, 'unknown'] }));
    expect(later.artifacts?.[0]).toMatchObject({ name: 'related', parts: [{ data: [task.id] }] });
    const again = taskOf(await client.task(later.id).send('history; append notes c; emit 1 0; refuse no'));
    expect(again.artifacts?.find(({ artifactId }) => artifactId === '2-history')?.parts).toEqual([
      { text: 'related; history; ask more?\nmore?' },
    ]);
    expect(again.status).toMatchObject({ state: 'TASK_STATE_REJECTED', message: { parts: [{ text: 'no' }] } });
    for (const script of ['emit', 'emit x 1', 'dance', 'data {', 'error NO_SUCH_CODE x', 'reply hi; done', 'artifact']) {
      await expect(client.send(script)).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining(script.split(' ')[0] ?? ''),
      });
    }
    rmSync(folder, { recursive: true });
  });
});
