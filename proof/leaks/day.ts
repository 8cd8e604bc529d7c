import type { Agent } from '../../src/index.ts';
import { Stopper } from '../../src/ground/signal.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Bounds, Held } from './measure.ts';
import { measure, withGrants } from './measure.ts';
import type { StoreName } from './stand.ts';
import { ask, nearWake, replica, send, tempStore } from './stand.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How far the clock goes between two looks at what is waited for. */
const STEP_MS = 10;

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
  for (const agent of [one, other]) await meanwhile(clock, agent.close()); // a drain waits on the clock as well
  return points;
}

/** What happens in one cycle. */
async function live(here: Agent, there: Agent, clock: VirtualClock): Promise<void> {
  await meanwhile(clock, send(here, 'echo'));
  await meanwhile(clock, send(there, 'stream'));
  const asked = await meanwhile(clock, send(here, 'ask'));
  const reader = await follow(there, asked.id, clock);
  await meanwhile(clock, send(there, 'echo', { taskId: asked.id })); // its answer ends it, and the reader with it
  await meanwhile(clock, reader.ended);
  const left = await meanwhile(clock, send(here, 'ask')); // expires, FAILED
  const leaver = await follow(here, left.id, clock);
  leaver.leave();
  await meanwhile(clock, leaver.ended);
  const held = await meanwhile(clock, send(here, 'hold', { begun: true }));
  await meanwhile(clock, ask(there, `POST /rest/tasks/${held.id}:cancel`));
}

/** Moves the clock until something is done: two stores on one file leave each other gaps between their commits, and those are on the clock. */
async function meanwhile<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  const state = { isDone: false };
  const done = work.finally(() => (state.isDone = true));
  done.catch(() => {}); // it is awaited below
  while (!state.isDone) await clock.advance(STEP_MS);
  return done;
}

interface Reader {
  readonly ended: Promise<void>;
  leave(): void;
}

/** Subscribes, and takes two heartbeats before anything else happens. */
async function follow(agent: Agent, taskId: string, clock: VirtualClock): Promise<Reader> {
  const stopper = new Stopper();
  const { body } = await meanwhile(clock, ask(agent, `GET /rest/tasks/${taskId}:subscribe`, undefined, stopper));
  if (typeof body !== 'object') throw new Error('leaks: a stream was expected');
  const seen = { pieces: 0 };
  const read = async (): Promise<void> => {
    for await (const _ of body) seen.pieces += 1;
  };
  const ended = read();
  while (seen.pieces < 3) await clock.advance(15_000);
  return { ended, leave: () => stopper.abort() };
}
