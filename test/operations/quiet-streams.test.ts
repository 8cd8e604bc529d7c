import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { StreamItem } from '../../src/operations/call.ts';
import { callOf, sayAndGo, Stage, taskOf, until } from './stage.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void; // what the flag brings, see Node's documentation of v8.setFlagsFromString

/** Takes the first item and waits for the next; what it gave is known by a reference that keeps nothing. */
async function readOne(stream: AsyncIterator<StreamItem>): Promise<WeakRef<object>> {
  const { value } = await stream.next();
  expect(value).toBeDefined();
  void stream.next(); // the reader waits for what comes next, as a mount does
  return new WeakRef((value as StreamItem).item);
}

async function hasGone(given: WeakRef<object>): Promise<boolean> {
  await setImmediate();
  collect();
  return given.deref() === undefined;
}

describe('a stream on which nothing happens', () => {
  test('keeps nothing of the task it has shown at its beginning (P11)', async () => {
    await using stage = await Stage.open({ kind: 'sqlite' });
    const task = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('hello')));
    const actor = await stage.replica().actor(task.id);
    await actor.status('TASK_STATE_INPUT_REQUIRED', 'which?');
    const items = await stage.operations.subscribeToTask(callOf(), { id: task.id });
    const stream = items[Symbol.asyncIterator]();
    const given = await readOne(stream);
    await until(() => hasGone(given), 'what was given is collected');
    await stream.return?.();
  });

  test('keeps nothing of the entries it has shown since (P11)', async () => {
    await using stage = await Stage.open({ kind: 'sqlite' });
    const task = taskOf(await stage.operations.sendMessage(callOf(), sayAndGo('hello')));
    const actor = await stage.replica().actor(task.id);
    const items = await stage.operations.subscribeToTask(callOf(), { id: task.id });
    const stream = items[Symbol.asyncIterator]();
    await stream.next();
    await actor.status('TASK_STATE_INPUT_REQUIRED', 'which?');
    const given = await readOne(stream);
    await stage.operations.getTask(callOf(), { id: task.id }); // the replica forgets a task at rest once it is folded
    await until(() => hasGone(given), 'what was given is collected');
    await stream.return?.();
  });
});
