import { cancelTask, startTask } from './calls.ts';
import { nowMs, pauseMs, sleepMs } from './clocks.ts';
import type { Bench, BenchOptions, Figures } from './figures.ts';
import { Floor } from './floor.ts';
import { overFloor, printRound, wayPlans } from './latencies.ts';
import { Caller } from './load.ts';
import { Fleet } from './replica.ts';
import type { Replica } from './replica.ts';

/** Cancels that are not counted: they run code that is not compiled yet. */
const WARM = 200;

/** Silent turns that run at once while one of them is canceled. */
const RUNNING = 10;

/** Starts some silent turns on A and cancels them on B, one at a time: milliseconds from the request to each signal. */
async function ownCancels(a: Replica, b: Replica, count: number): Promise<readonly number[]> {
  const [starter, canceler] = [new Caller(a.url), new Caller(b.url)];
  const latencies: number[] = [];
  while (latencies.length < count) {
    const ids: string[] = [];
    while (ids.length < Math.min(RUNNING, count - latencies.length)) ids.push((await startTask(starter, 'silent')).id);
    for (const id of ids) {
      await sleepMs(pauseMs());
      const at = nowMs();
      await cancelTask(canceler, id);
      const { firedAtMs, taskId } = (await a.program.next('firedAtMs')) as { firedAtMs: number; taskId: string }; // what the agent prints
      if (taskId !== id) throw new Error('bench: the signal of another turn fired');
      latencies.push(firedAtMs - at);
    }
  }
  starter.close();
  canceler.close();
  return latencies;
}

async function measure({ effort, isProfiled }: BenchOptions): Promise<Figures> {
  const { rounds, samples } = wayPlans[effort];
  const floor = new Floor();
  const fleet = new Fleet({ isProfiled });
  await floor.start();
  const [a, b] = [await fleet.start(), await fleet.start()];
  await floor.measure(Math.min(samples, WARM));
  await ownCancels(a, b, Math.min(samples, WARM));
  const [floorMs, cancelMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const bare = await floor.measure(samples);
    const ours = await ownCancels(a, b, samples);
    printRound('cancel', ours, bare);
    floorMs.push(...bare);
    cancelMs.push(...ours);
  }
  await Promise.all([floor.stop(), fleet.stop()]);
  return overFloor(cancelMs, floorMs);
}

/** From a cancel on one replica to the signal on another. */
export const cancel: Bench = {
  title: 'CancelTask on one replica → the signal fires in a silent agent on another',
  marks: [
    { name: 'p50OverFloor', what: 'the median over the floor’s', bound: { atMost: 3 } },
    { name: 'p99OverFloor', what: 'the 99th per cent over the floor’s', bound: { atMost: 5 } },
  ],
  reported: {
    p50Ms: 'median, ms',
    p99Ms: '99 %, ms',
    floorP50Ms: 'median of the floor, ms',
    floorP99Ms: '99 % of the floor, ms',
    samples: 'cancels',
  },
  how:
    'From the moment a client sends CancelTask to B until the `abort` listener of the agent on A runs; ten silent turns run on A meanwhile. The ' +
    'floor is that of `remote`, measured in turns.',
  limit:
    'The wait for the disk is in both. Ours adds the request on a socket, a commit that moves a row in its indexes, a read of the feed, and a read of ' +
    'the turn’s row: only the row says that a fence has moved, a hint never does.',
  measure,
};
