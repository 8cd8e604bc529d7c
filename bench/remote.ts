import { startTask } from './calls.ts';
import { stampOf, nowMs } from './clocks.ts';
import { quantile, rounded } from './figures.ts';
import type { Bench, BenchOptions, Figures } from './figures.ts';
import { Floor } from './floor.ts';
import { overFloor, printRound, wayPlans } from './latencies.ts';
import { Caller } from './load.ts';
import { Fleet } from './replica.ts';
import type { Replica } from './replica.ts';
import { readEvents } from './stream.ts';
import { rpc } from './words.ts';

/** Events that are not counted: they run code that is not compiled yet. */
const WARM = 200;

interface Round {
  /** From before the agent's call to the event in a client of the other replica. */
  readonly eventMs: readonly number[];
  /** From before the agent's call until it was told that its entry is committed. */
  readonly commitMs: readonly number[];
}

async function ownEvents(writer: Replica, reader: Replica, count: number): Promise<Round> {
  const caller = new Caller(writer.url);
  const { id } = await startTask(caller, `stamps ${count}`);
  caller.close();
  const eventMs: number[] = [];
  await readEvents(reader.url, rpc('SubscribeToTask', { id }), ({ result }) => {
    const at = nowMs();
    const text = result?.artifactUpdate?.artifact.parts[0]?.text;
    if (text !== undefined) eventMs.push(at - stampOf(text));
    return result?.statusUpdate?.status.state === 'TASK_STATE_COMPLETED';
  });
  if (eventMs.length !== count) throw new Error(`bench: ${count} events were expected, ${eventMs.length} came`);
  const { commitMs } = (await writer.program.next('commitMs')) as { commitMs: readonly number[] }; // what the agent prints at its end
  return { eventMs, commitMs };
}

async function measure({ effort, isProfiled }: BenchOptions): Promise<Figures> {
  const { rounds, samples } = wayPlans[effort];
  const floor = new Floor();
  const fleet = new Fleet({ isProfiled });
  await floor.start();
  const writer = await fleet.start();
  const reader = await fleet.start();
  await floor.measure(Math.min(samples, WARM));
  await ownEvents(writer, reader, Math.min(samples, WARM));
  const [floorMs, eventMs, commitMs]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const bare = await floor.measure(samples);
    const ours = await ownEvents(writer, reader, samples);
    printRound('remote', ours.eventMs, bare);
    floorMs.push(...bare);
    eventMs.push(...ours.eventMs);
    commitMs.push(...ours.commitMs);
  }
  await Promise.all([floor.stop(), fleet.stop()]);
  return { ...overFloor(eventMs, floorMs), commitP50Ms: rounded(quantile(commitMs, 0.5)) };
}

/** From a commit on one replica to a client of another. */
export const remote: Bench = {
  title: 'commit on one replica → event on a stream of another, over one SQLite file',
  marks: [
    { name: 'p50OverFloor', what: 'the median over the floor’s', bound: { atMost: 2.5 } },
    { name: 'p99OverFloor', what: 'the 99th per cent over the floor’s', bound: { atMost: 4 } },
  ],
  reported: {
    p50Ms: 'median, ms',
    p99Ms: '99 %, ms',
    floorP50Ms: 'median of the floor, ms',
    floorP99Ms: '99 % of the floor, ms',
    commitP50Ms: 'median until the agent knows its entry committed, ms',
    samples: 'events',
  },
  how:
    'The floor is two bare processes: one commits a row of 1 KB with `synchronous = FULL` and touches a file, the other watches the file and ' +
    'reads the row. Both ways are counted from before the commit: the floor’s until the row is read, ours from the agent’s call until a client ' +
    'of the other replica, a third process, has the event. One event at a time with pauses by chance, on the machine’s monotonic clock, in turns.',
  limit:
    'The wait for the disk is in both. Ours adds the way through the writer of the turn, two turns of the loop, a read of the feed and of the entry, ' +
    'and the print to a socket that a third process reads.',
  measure,
};
