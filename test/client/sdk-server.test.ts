import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { answerText, connect, isTask } from '../../src/client.ts';
import type { Client } from '../../src/client.ts';
import { bindings } from './fake-agent.ts';
import { openSdkServer } from './sdk-server.ts';

let server: Server | undefined;
let url = '';

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined); // the SDK prints every error it answers with
  ({ server, url } = await openSdkServer());
});
afterAll(() => {
  server?.closeAllConnections();
  server?.close();
});

describe.each(bindings)("our client and the official SDK's server over %s", (binding) => {
  const open = (): Promise<Client> => connect(url, { prefer: binding, pollMs: 20 });

  test('send, stream, follow-up, get, list', async () => {
    const client = await open();
    const sent = await client.send('Hello <b>&"\'');
    expect(answerText(sent)).toBe('echo: Hello <b>&"\'');
    const stream = client.stream('slow');
    await stream.result();
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
    expect(stream.task && answerText(stream.task)).toBe('0 1 2 ');
    const asked = await client.send('ask me');
    if (!isTask(asked)) throw new Error('a task was expected');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = client.task(asked.id).stream('Ada');
    await answered.result();
    expect(answered.state).toBe('TASK_STATE_COMPLETED');
    expect((await client.task(asked.id).get({ historyLength: 1 })).history).toHaveLength(1);
    const ids: string[] = [];
    for await (const { id } of client.list({ pageSize: 2, contextId: asked.contextId ?? '' })) ids.push(id);
    expect(ids).toEqual([asked.id]);
  });

  test('start, wait, follow and cancel; a missed end; typed errors', async () => {
    const client = await open();
    const handle = await client.start('slow');
    expect((await handle.wait()).status.state).toBe('TASK_STATE_COMPLETED');
    expect(await handle.follow().result()).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    const other = await client.start('slowest');
    const follower = other.follow().result();
    expect((await other.cancel()).status.state).toBe('TASK_STATE_CANCELED');
    expect(await follower).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    await expect(client.task('nobody').get()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(handle.send('more')).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    await expect(client.call('GetExtendedAgentCard', {})).rejects.toHaveProperty('code', 'UNSUPPORTED_OPERATION');
  });
});
