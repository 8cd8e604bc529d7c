import { connect } from '../../src/client.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import { REMEMBERED_MIN } from '../../src/turn/grants.ts';
import type { Bounds, Held } from './measure.ts';
import { measure, strict, withGrants } from './measure.ts';
import type { StoreName } from './stand.ts';
import { many, nearWake, replica, send, tempStore } from './stand.ts';

const RETENTION_MS = 60_000;
const PURGE_EVERY_MS = 10_000;

/** Measured at multiples of what a replica remembers of grants, that is the same each time; before, it grows by a grant a task. */
export const tasksBounds = (cycles: number): Bounds => (isWhole(cycles) ? strict : withGrants(1));

const isWhole = (cycles: number): boolean => cycles % REMEMBERED_MIN === 0;

/**
 * Short tasks, each purged soon: most sent without a client, some by our own, blocking and streaming, under signals that never fire and so
 * must not be listened to any more when a call is over.
 */
export async function tasks(store: StoreName, cycles: number): Promise<readonly Held[]> {
  await using temp = tempStore(store);
  const clock = new VirtualClock();
  const agent = replica({ store: temp.source, wake: nearWake(), clock, retentionMs: RETENTION_MS, purgeEveryMs: PURGE_EVERY_MS });
  await agent.start();
  const client = await connect(agent);
  const signals = Array.from({ length: 4 }, () => new AbortController().signal);
  const act = async (index: number): Promise<void> => {
    const signal = signals[index % signals.length];
    const options = signal ? { signal } : {};
    if (index % 20 === 0) await client.stream('stream', options).result();
    else if (index % 20 === 7) await client.send('echo', options);
    else await send(agent, 'echo');
  };
  const points: Held[] = [];
  const part = isWhole(cycles) ? REMEMBERED_MIN : Math.ceil(cycles / 4);
  for (let done = part; done <= cycles; done += part) {
    for (let piece = 0; piece < 10; piece++) {
      await many(part / 10, act, 32);
      await clock.advance(RETENTION_MS / 2);
    }
    await clock.advance(2 * RETENTION_MS);
    const { totalSize } = await client.page({ pageSize: 1 });
    if (totalSize > 0) throw new Error(`leaks: ${totalSize} tasks were not purged`);
    points.push(await measure(done, signals)); // the first part is the warm-up: whatever is made once is made there
  }
  await agent.close();
  return points;
}
