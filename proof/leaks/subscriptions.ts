import { connect as connectSocket } from 'node:net';
import { connect } from '../../src/client.ts';
import { serve } from '../../src/node.ts';
import type { Held } from './measure.ts';
import { measure } from './measure.ts';
import type { StoreName } from './stand.ts';
import { many, replica, sockets, tempStore, until } from './stand.ts';

/** How a subscriber leaves: at once, with the answer under way, or behind the first event. */
const leavings = ['at once', 'soon', 'later'] as const;

/** Subscribes to a paused task over a socket of its own and hangs up, over and over: nothing of it may stay. */
export async function subscriptions(store: StoreName, cycles: number): Promise<readonly Held[]> {
  await using temp = tempStore(store);
  const agent = replica({ store: temp.source });
  const served = await serve(agent, { signals: false });
  const client = await connect(agent);
  const { id } = await client.start('ask');
  await until('the task asks', async () => (await client.task(id).state()) === 'TASK_STATE_INPUT_REQUIRED');
  const idle = sockets();
  const points: Held[] = [];
  const part = Math.ceil(cycles / 5);
  for (let round = 0; round <= 5; round++) {
    await many(part, (index) => subscribeAndLeave(served.url, id, leavings[index % leavings.length] ?? 'later'));
    await until('all sockets are closed', () => sockets() <= idle);
    if (round > 0) points.push(await measure(round * part)); // the first part is the warm-up: whatever is made once is made there
  }
  await served.close();
  return points;
}

function subscribeAndLeave(url: string, taskId: string, how: (typeof leavings)[number]): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connectSocket({ host: hostname, port: Number(port) });
    let seen = '';
    socket.on('error', () => {}); // a reset is one of the ways to leave
    socket.once('close', () => resolve());
    socket.on('data', (bytes: Buffer) => {
      seen += bytes.toString('latin1');
      if (seen.includes('data: ')) socket.destroy();
    });
    socket.write(`GET /rest/tasks/${taskId}:subscribe HTTP/1.1\r\nhost: x\r\na2a-version: 1.0\r\n\r\n`, () => {
      if (how === 'at once') socket.destroy();
      if (how === 'soon') setImmediate(() => socket.destroy());
    });
  });
}
