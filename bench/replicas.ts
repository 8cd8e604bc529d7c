import { nowMs } from './clocks.ts';
import { median, quantile, rounded } from './figures.ts';
import type { Bench, BenchOptions, Effort, Figures } from './figures.ts';
import { mixedLoad } from './mixed-load.ts';
import { Fleet } from './replica.ts';
import type { Replica } from './replica.ts';

interface Plan {
  readonly rounds: number;
  readonly windowMs: number;
  /** Steps that each process does before anything is counted: as many in each, or one would still run code that is not compiled. */
  readonly warmSteps: number;
  /** The most that may take, for each process: a slow disk shall not make a quick run long. */
  readonly warmMsMax: number;
}

const plans: Readonly<Record<Effort, Plan>> = {
  full: { rounds: 7, windowMs: 6_000, warmSteps: 6_000, warmMsMax: 8_000 },
  quick: { rounds: 3, windowMs: 2_000, warmSteps: 2_500, warmMsMax: 2_500 },
  smoke: { rounds: 1, windowMs: 300, warmSteps: 20, warmMsMax: 500 },
};

const USERS = 32;
const SIZES = [1, 2, 4] as const;

interface Contender {
  readonly size: (typeof SIZES)[number];
  readonly fleet: Fleet;
  readonly urls: readonly string[];
  readonly perSecond: number[];
  readonly latenciesMs: number[];
  /** Processor time of the replicas for a step. */
  readonly cpuMs: number[];
}

async function open(size: (typeof SIZES)[number], isProfiled: boolean): Promise<Contender> {
  const fleet = new Fleet({ isProfiled });
  const replicas: Replica[] = [];
  while (replicas.length < size) replicas.push(await fleet.start());
  return { size, fleet, urls: replicas.map(({ url }) => url), perSecond: [], latenciesMs: [], cpuMs: [] };
}

const WARM_WINDOW_MS = 250;

async function warm({ size, urls }: Contender, { warmSteps, warmMsMax }: Plan): Promise<void> {
  const endMs = nowMs() + warmMsMax * size;
  for (let left = warmSteps * size; left > 0 && nowMs() < endMs;)
    left -= (await mixedLoad(urls, { users: USERS, windowMs: WARM_WINDOW_MS })).steps;
}

async function loadOne({ size, fleet, urls, perSecond, latenciesMs, cpuMs }: Contender, windowMs: number): Promise<void> {
  const before = await fleet.cpuMs();
  const window = await mixedLoad(urls, { users: USERS, windowMs });
  perSecond.push(window.steps / window.seconds);
  latenciesMs.push(...window.latenciesMs);
  cpuMs.push(((await fleet.cpuMs()) - before) / window.steps);
  const p99Ms = quantile(window.latenciesMs, 0.99);
  console.log(
    `replicas: ${size} of them, ${rounded(window.steps / window.seconds)} steps/s, p99 ${rounded(p99Ms)} ms, ${rounded(cpuMs.at(-1) ?? 0)} ms of CPU a step`,
  );
}

async function measure({ effort, isProfiled }: BenchOptions): Promise<Figures> {
  const plan = plans[effort];
  const contenders: Contender[] = [];
  for (const size of SIZES) contenders.push(await open(size, isProfiled));
  for (const contender of contenders) await warm(contender, plan);
  for (let round = 0; round < plan.rounds; round++) for (const contender of contenders) await loadOne(contender, plan.windowMs);
  await Promise.all(contenders.map(({ fleet }) => fleet.stop()));
  const of = (size: number): Contender | undefined => contenders.find((one) => one.size === size);
  const rate = (size: number): number => median(of(size)?.perSecond ?? []);
  const p99Ms = (size: number): number => rounded(quantile(of(size)?.latenciesMs ?? [], 0.99));
  const cpuMs = (size: number): number => rounded(median(of(size)?.cpuMs ?? []));
  return {
    chorus: rounded(rate(4)),
    unit: 'steps/s',
    fourOverOne: rounded(rate(4) / rate(1)),
    twoOverOne: rounded(rate(2) / rate(1)),
    one: rounded(rate(1)),
    two: rounded(rate(2)),
    four: rounded(rate(4)),
    cpuMsOne: cpuMs(1),
    cpuMsTwo: cpuMs(2),
    cpuMsFour: cpuMs(4),
    p99MsOne: p99Ms(1),
    p99MsTwo: p99Ms(2),
    p99MsFour: p99Ms(4),
  };
}

/** What more processes over one file cost. */
export const replicas: Bench = {
  title: 'the same mixed load on 1, 2 and 4 processes over one SQLite file',
  marks: [{ name: 'fourOverOne', what: 'throughput on four over that on one', bound: { atLeast: 0.8 } }],
  reported: {
    twoOverOne: 'throughput on two over that on one',
    one: 'steps a second on one',
    two: 'on two',
    four: 'on four',
    cpuMsOne: 'processor time of the replicas for a step on one, ms',
    cpuMsTwo: 'on two, ms',
    cpuMsFour: 'on four, ms',
    p99MsOne: '99 % of the steps on one, ms',
    p99MsTwo: 'on two, ms',
    p99MsFour: 'on four, ms',
  },
  how:
    'Thirty-two users without pause, each request to the next replica. Of ten steps four send and get, two send and list, one sends, two stream five ' +
    'entries of 1 KB, one starts a silent turn and cancels it on the next replica. All three fleets run from the beginning, each on a file of its ' +
    'own, is warmed until each process has done as many steps, and is loaded in turns.',
  limit:
    'One writer at a time: the file has one lock, and each process waits for the disk by itself, so four of them make smaller groups than one; ' +
    'a process forgets the pages it has read whenever another one writes. On two cores four processes and the users also take turns at the processors.',
  measure,
};
