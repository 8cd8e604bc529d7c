import { countTasks, startTask } from './calls.ts';
import { nowMs, sleepMs } from './clocks.ts';
import { median, rounded } from './figures.ts';
import type { Bench, BenchOptions, Effort, Figures } from './figures.ts';
import { Caller } from './load.ts';
import { Fleet } from './replica.ts';
import type { Replica } from './replica.ts';

interface Plan {
  readonly kills: number;
  readonly turns: number;
}

const plans: Readonly<Record<Effort, Plan>> = {
  full: { kills: 20, turns: 500 },
  quick: { kills: 5, turns: 500 },
  smoke: { kills: 1, turns: 50 },
};

const LEASE_MS = 2_000;
const CALLERS = 16;
const LOOK_EVERY_MS = 20;

/** Gives the holder all its turns; each must be its own, or the kill would not concern it. */
async function fill(holder: Replica, turns: number): Promise<void> {
  let left = turns;
  const one = async (): Promise<void> => {
    const caller = new Caller(holder.url);
    while (left-- > 0) {
      const { status } = await startTask(caller, 'silent');
      if (status.state !== 'TASK_STATE_WORKING') throw new Error(`bench: a running turn was expected, it is ${status.state}`);
    }
    caller.close();
  };
  await Promise.all(Array.from({ length: CALLERS }, one));
}

/** Milliseconds from the kill until a survivor shows that no turn is left WORKING. */
async function takeOver(fleet: Fleet, holder: Replica, caller: Caller): Promise<number> {
  const at = nowMs();
  await fleet.kill(holder);
  while ((await countTasks(caller, 'TASK_STATE_WORKING')) > 0) await sleepMs(LOOK_EVERY_MS);
  return nowMs() - at;
}

async function measure({ effort, isProfiled }: BenchOptions): Promise<Figures> {
  const { kills, turns } = plans[effort];
  const fleet = new Fleet({ leaseMs: LEASE_MS, concurrency: turns, isProfiled });
  const survivor = await fleet.start();
  const caller = new Caller(survivor.url);
  const afterLeaseMs: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const holder = await fleet.start();
    await fill(holder, turns);
    await sleepMs(LEASE_MS * Math.random()); // a kill at any moment between two of its renewals
    afterLeaseMs.push((await takeOver(fleet, holder, caller)) - LEASE_MS);
    console.log(`takeover: ${turns} turns settled ${rounded(afterLeaseMs.at(-1) ?? 0)} ms after the lease`);
  }
  caller.close();
  await fleet.stop();
  return {
    chorus: rounded(Math.max(...afterLeaseMs)),
    unit: 'ms after the lease',
    worstAfterLeaseMs: rounded(Math.max(...afterLeaseMs)),
    medianAfterLeaseMs: rounded(median(afterLeaseMs)),
    kills,
    turns,
    leaseMs: LEASE_MS,
  };
}

/** How soon what a dead replica held is settled. */
export const takeover: Bench = {
  title: 'a holder with 500 running turns is killed; lease 2 s',
  marks: [{ name: 'worstAfterLeaseMs', what: 'ms beyond the lease until all are settled, the worst kill', bound: { atMost: 1_500 } }],
  reported: { medianAfterLeaseMs: 'median kill, ms beyond the lease', kills: 'kills', turns: 'turns each', leaseMs: 'lease, ms' },
  how:
    'kill -9 at a random moment between two renewals; from there until ListTasks of the survivor shows no task WORKING, asked every 20 ms. ' +
    'The survivor settles with `onLost: "fail"`, a hundred turns a commit.',
  limit:
    'The count of silence: it begins at the last renewal the survivor saw, up to a quarter of the lease before the kill and seen up to a tick ' +
    'later, and its end is noticed within one more tick (500 ms each at this lease). Settling 500 turns is five commits.',
  measure,
};
