import type { Agent } from '../../src/index.ts';
import { Stopper } from '../../src/ground/signal.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Bounds, Held } from './measure.ts';
import { measure, withGrants } from './measure.ts';
import type { StoreName } from './stand.ts';
import { ask, nearWake, replica, send, tempStore, until } from './stand.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** What a cycle has of turns. */
export const dayBounds: Bounds = withGrants(6);

/**
 * A day of two replicas on a clock of their own, a cycle each six minutes: tasks that end, ask, are answered, streamed, followed over the
 * other replica, canceled there, left alone until they expire; ticks, heartbeats and purges run as they fall due.
 */
export async function day(store: StoreName, cycles: number): Promise<readonly Held[]> {
  await using temp = tempStore(store);
  const clock = new VirtualClock();
  const wake = nearWake();
  const ticks = { leaseMs: 120_000, tickMs: 30_000 }; // the default would be fifty times as many
  const options = {
    store: temp.source,
    wake,
    clock,
    ...ticks,
    retentionMs: HOUR_MS / 2,
    pausedTtlMs: HOUR_MS / 2,
    purgeEveryMs: MINUTE_MS,
  };
  const [one, other] = [replica(options), replica(options)];
  await Promise.all([one.start(), other.start()]);
  const everyMs = (24 * HOUR_MS) / cycles;
  const points: Held[] = [];
  const part = Math.ceil(cycles / 6);
  for (let cycle = 1; cycle <= cycles; cycle++) {
    await live(cycle % 2 === 0 ? one : other, cycle % 2 === 0 ? other : one, clock);
    await clock.advance(everyMs);
    if (cycle > part && cycle % part === 0) points.push(await measure(cycle)); // the first four hours are the warm-up
  }
  await Promise.all([closed(one, clock), closed(other, clock)]);
  return points;
}

/** What happens in one cycle. */
async function live(here: Agent, there: Agent, clock: VirtualClock): Promise<void> {
  await send(here, 'echo');
  await send(there, 'stream');
  const asked = await send(here, 'ask');
  const reader = await follow(there, asked.id, clock);
  await send(there, 'echo', { taskId: asked.id }); // its answer ends it, and the reader with it
  await reader.ended;
  const left = await send(here, 'ask'); // expires, FAILED
  const leaver = await follow(here, left.id, clock);
  leaver.leave();
  await leaver.ended;
  const held = await send(here, 'hold', { begun: true });
  await ask(there, `POST /rest/tasks/${held.id}:cancel`);
}

interface Reader {
  readonly ended: Promise<void>;
  leave(): void;
}

/** Subscribes, and takes two heartbeats before anything else happens. */
async function follow(agent: Agent, taskId: string, clock: VirtualClock): Promise<Reader> {
  const stopper = new Stopper();
  const { body } = await ask(agent, `GET /rest/tasks/${taskId}:subscribe`, undefined, stopper);
  if (typeof body !== 'object') throw new Error('leaks: a stream was expected');
  const seen = { pieces: 0 };
  const read = async (): Promise<void> => {
    for await (const _ of body) seen.pieces += 1;
  };
  const ended = read();
  while (seen.pieces < 3) await clock.advance(15_000);
  return { ended, leave: () => stopper.abort() };
}

/** A drain waits on the clock, so somebody has to move it. */
async function closed(agent: Agent, clock: VirtualClock): Promise<void> {
  let isClosed = false;
  const closing = agent.close().then(() => (isClosed = true));
  await until('the replica has closed', async () => {
    await clock.advance(100);
    return isClosed;
  });
  await closing;
}
