import { countTasks, startTask } from './calls.ts';
import { nowMs, sleepMs } from './clocks.ts';
import { median, rounded } from './figures.ts';
import type { Bench, BenchOptions, Effort, Figures } from './figures.ts';
import { Caller } from './load.ts';
import { rawRowsPerSecond } from './raw-rows.ts';
import { Fleet } from './replica.ts';
import type { Replica } from './replica.ts';

interface Plan {
  readonly tasks: number;
  /** Entries of each task. */
  readonly chunks: number;
  readonly rounds: number;
}

const plans: Readonly<Record<Effort, Plan>> = {
  full: { tasks: 64, chunks: 500, rounds: 7 },
  quick: { tasks: 64, chunks: 300, rounds: 5 },
  smoke: { tasks: 16, chunks: 50, rounds: 1 },
};

const LOOK_EVERY_MS = 10;

/** Starts all tasks and waits until all are COMPLETED: entries per second. */
async function streamAll({ url }: Replica, { tasks, chunks }: Plan): Promise<number> {
  const callers = Array.from({ length: tasks }, () => new Caller(url));
  const [first] = callers;
  if (!first) throw new Error('bench: at least one task was expected');
  const before = await countTasks(first, 'TASK_STATE_COMPLETED');
  const begin = nowMs();
  await Promise.all(callers.map((caller) => startTask(caller, `chunks ${chunks}`)));
  while ((await countTasks(first, 'TASK_STATE_COMPLETED')) < before + tasks) await sleepMs(LOOK_EVERY_MS);
  const seconds = (nowMs() - begin) / 1_000;
  for (const caller of callers) caller.close();
  return (tasks * chunks) / seconds;
}

async function measure({ effort, isProfiled }: BenchOptions): Promise<Figures> {
  const plan = plans[effort];
  const fleet = new Fleet({ isProfiled });
  const replica = await fleet.start();
  await streamAll(replica, { ...plan, chunks: Math.ceil(plan.chunks / 4) }); // warm: not counted
  const [raw, ours]: [number[], number[]] = [[], []];
  for (let round = 0; round < plan.rounds; round++) {
    raw.push(rawRowsPerSecond(plan.tasks * plan.chunks));
    ours.push(await streamAll(replica, plan));
    console.log(`durable: ${rounded(ours.at(-1) ?? 0)} entries/s; raw: ${rounded(raw.at(-1) ?? 0)} rows/s`);
  }
  await fleet.stop();
  return {
    chorus: rounded(median(ours)),
    unit: 'entries/s',
    overRaw: rounded(median(ours) / median(raw)),
    perSecond: rounded(median(ours)),
    rawPerSecond: rounded(median(raw)),
    tasks: plan.tasks,
    chunks: plan.chunks,
  };
}

/** Many concurrent tasks, against raw inserts. */
export const durable: Bench = {
  title: '64 tasks stream at once into SQLite, 1 KB an entry and none joined',
  marks: [{ name: 'overRaw', what: 'rate over that of raw batched inserts of the same bytes', bound: { atLeast: 0.4 } }],
  reported: { perSecond: 'entries a second', rawPerSecond: 'raw rows a second', tasks: 'tasks at once', chunks: 'entries of each task' },
  how:
    'The replica is a process of its own with `synchronous = FULL`. The time runs from the first request until ListTasks shows the last task ' +
    'COMPLETED. Raw: 100 rows of 1 KB a transaction into a table with the two indexes any such log needs, in turns with ours.',
  limit:
    'Processor time of one thread: each entry is checked, written as JSON, decided on and inserted with eleven columns where the raw row has ' +
    'three. The disk is waited for no more often than by the raw program: a commit takes what all tasks brought meanwhile.',
  measure,
};
