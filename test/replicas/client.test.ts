import { describe, expect, test } from 'vitest';
import { connect, isTask } from '../../src/client.ts';
import type { StreamResponse } from '../../src/client.ts';
import { chunks, eventually, openStage, partsOf, textsOf } from './support.ts';

const items = (stream: readonly StreamResponse[]): { readonly item: StreamResponse }[] => stream.map((item) => ({ item }));

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('our client over %s, through a front that takes turns', (prefer) => {
  test('sees every event once and in order although the replica that serves its stream is killed', async () => {
    await using stage = await openStage();
    const { rig } = stage;
    const client = await connect(rig.front.url, { prefer });
    rig.front.pin('A'); // the task is accepted, held and served by A
    const handle = await client.start('emit 200 20; done');
    rig.front.pin('B');
    const seen: StreamResponse[] = [];
    for await (const item of handle.follow()) {
      seen.push(item);
      if (seen.length === 20) rig.front.pin();
      if (seen.length === 20) await rig.kill(1);
    }
    expect(textsOf(items(seen.filter((item) => !('task' in item))))).toEqual(
      chunks(1, 200).slice(-seen.filter((item) => 'artifactUpdate' in item).length),
    );
    expect(partsOf(await handle.get())).toEqual(chunks(1, 200));
    const state = seen.at(-1);
    expect(state && 'statusUpdate' in state && state.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('repeats a blocking send that was cut with its replica, under the same key: one task, one message (P9)', async () => {
    await using stage = await openStage({ flags: ['--on-lost', 'retry'] });
    const { rig } = stage;
    const client = await connect(rig.front.url, { prefer });
    rig.front.pin('A');
    const sending = client.send('silent 1500; emit 3 1; done');
    await eventually('the run', async () => (await rig.effects()).some(({ what }) => what === 'start'));
    rig.front.pin();
    await rig.kill(0);
    const task = await sending;
    if (!isTask(task)) throw new Error('a task was expected');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(partsOf(task)).toEqual(chunks(1, 3));
    expect(task.history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(1);
    expect((await client.page()).totalSize).toBe(1);
  });
});
