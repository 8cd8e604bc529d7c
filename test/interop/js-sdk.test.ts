import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StreamResponse as Item, Task as OurTask } from '../../src/protocol/types.ts';
import { Rig } from '../../src/testing/rig.ts';
import { chunks, eventually, partsOf, statesOf, textsOf } from '../replicas/support.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open({ flags: ['--lease-ms', '2000'] });
});
afterAll(() => rig[Symbol.asyncDispose]());

// the official client speaks in protobuf's shapes; its own printer turns them into the JSON that our types describe
const asOurs = (task: Task): OurTask => Task.toJSON(task) as OurTask;
const itemOf = (item: StreamResponse): Item => StreamResponse.toJSON(item) as Item;

const send = (text: string, more: { readonly taskId?: string; readonly returnImmediately?: boolean } = {}): SendMessageRequest => {
  const { taskId, returnImmediately } = more;
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...(taskId === undefined ? {} : { taskId }) };
  return SendMessageRequest.fromJSON({ message, ...(returnImmediately === undefined ? {} : { configuration: { returnImmediately } }) });
};

async function sendForTask(client: Client, ...words: Parameters<typeof send>): Promise<OurTask> {
  const result = await client.sendMessage(send(...words));
  if (!('status' in result)) throw new Error('a task was expected, a message came');
  return asOurs(result);
}

/** What a stream tells, in our words; `enough` ends it early, which cuts the connection. */
async function read(stream: AsyncGenerator<StreamResponse>, enough = Number.POSITIVE_INFINITY): Promise<{ readonly item: Item }[]> {
  const items: { readonly item: Item }[] = [];
  for await (const item of stream) {
    items.push({ item: itemOf(item) });
    if (items.length >= enough) break;
  }
  return items;
}

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('the official client over %s, through a front that takes turns', (transport) => {
  let client: Client;
  beforeAll(async () => {
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { preferredTransports: [transport] });
    client = await new ClientFactory(options).createFromUrl(rig.front.url);
  });

  test('sends, and reads what it was answered', async () => {
    const task = await sendForTask(client, 'work on it; emit 5 1; done well');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(partsOf(task)).toEqual(chunks(1, 5));
    for (let replica = 0; replica < 3; replica++) {
      const again = asOurs(await client.getTask(GetTaskRequest.fromJSON({ id: task.id })));
      expect(partsOf(again)).toEqual(chunks(1, 5));
      expect(again.history).toHaveLength(2);
    }
    const reply = await client.sendMessage(send('reply hello'));
    expect('status' in reply).toBe(false);
  });

  test('streams every event in order', async () => {
    const items = await read(client.sendMessageStream(send('work; emit 200 1; done')));
    expect(items[0]?.item).toHaveProperty('task');
    expect(textsOf(items)).toEqual(chunks(1, 200));
    expect(statesOf(items)).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });

  test('answers a question on another replica, in a stream that ends where the turn does', async () => {
    const asked = await read(client.sendMessageStream(send('ask how many?')));
    expect(statesOf(asked).at(-1)).toBe('TASK_STATE_INPUT_REQUIRED');
    const first = asked[0]?.item;
    const taskId = first && 'task' in first ? first.task.id : '';
    const answered = await read(client.sendMessageStream(send('emit 2 1; done', { taskId })));
    expect(textsOf(answered)).toEqual(chunks(1, 2));
    expect(statesOf(answered).at(-1)).toBe('TASK_STATE_COMPLETED');
  });

  test('lists page by page', async () => {
    const { contextId = '' } = await sendForTask(client, 'done');
    const before = await client.listTasks(ListTasksRequest.fromJSON({ pageSize: 2 }));
    expect(before.tasks).toHaveLength(2);
    expect(before.totalSize).toBeGreaterThanOrEqual(4);
    const next = await client.listTasks(ListTasksRequest.fromJSON({ pageSize: 2, pageToken: before.nextPageToken }));
    expect(next.tasks.map(({ id }) => id)).not.toEqual(before.tasks.map(({ id }) => id));
    const filtered = await client.listTasks(ListTasksRequest.fromJSON({ contextId }));
    expect(filtered.tasks).toHaveLength(1);
  });

  test('cancels a task that runs on another replica, and hears it on its stream', async () => {
    const { id } = await sendForTask(client, 'work; silent 60000', { returnImmediately: true });
    const stream = client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }));
    await stream.next(); // it is open, so the cancel cannot come before it
    const following = read(stream);
    await eventually('the run', async () => (await rig.effects()).some((effect) => effect.task === id && effect.what === 'start'));
    const canceled = asOurs(await client.cancelTask(CancelTaskRequest.fromJSON({ id })));
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    expect(statesOf(await following).at(-1)).toBe('TASK_STATE_CANCELED');
  });

  test('subscribes again after a cut, on whichever replica comes next: a snapshot, then all that follows', async () => {
    const cut = await read(client.sendMessageStream(send('emit 60 20; done')), 10);
    const first = cut[0]?.item;
    const id = first && 'task' in first ? first.task.id : '';
    const items = await read(client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id })));
    expect(items[0]?.item).toHaveProperty('task');
    expect(textsOf(items)).toEqual(chunks(1, 60));
    expect(statesOf(items).at(-1)).toBe('TASK_STATE_COMPLETED');
  });

  test('follows a task over the death of the replica that runs it', async () => {
    const victim = transport === 'JSONRPC' ? 0 : 1;
    rig.front.pin(rig.replica(victim).name);
    const { id } = await sendForTask(client, 'emit 3 1; silent 60000', { returnImmediately: true });
    rig.front.pin();
    const hasAll = async (): Promise<boolean> => partsOf(asOurs(await client.getTask(GetTaskRequest.fromJSON({ id })))).length === 3;
    await eventually('three chunks', hasAll);
    await rig.kill(victim);
    const items = await read(client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id })));
    expect(statesOf(items).at(-1)).toBe('TASK_STATE_FAILED');
    expect(partsOf(asOurs(await client.getTask(GetTaskRequest.fromJSON({ id }))))).toEqual(chunks(1, 3));
    await rig.restart(victim);
  });

  test('is told errors as its own classes', async () => {
    await expect(client.getTask(GetTaskRequest.fromJSON({ id: crypto.randomUUID() }))).rejects.toMatchObject({ name: 'TaskNotFoundError' });
    const { id } = await sendForTask(client, 'done');
    await expect(client.cancelTask(CancelTaskRequest.fromJSON({ id }))).rejects.toMatchObject({ name: 'TaskNotCancelableError' });
    await expect(sendForTask(client, 'done', { taskId: id })).rejects.toMatchObject({ name: 'UnsupportedOperationError' });
  });
});
