import { median, quantile, rounded } from './figures.ts';
import type { Bench, BenchOptions, Effort, Figures } from './figures.ts';
import { mixedLoad } from './mixed-load.ts';
import { Fleet } from './replica.ts';
import type { Replica } from './replica.ts';

interface Plan {
  readonly rounds: number;
  readonly windowMs: number;
  readonly warmMs: number;
}

const plans: Readonly<Record<Effort, Plan>> = {
  full: { rounds: 7, windowMs: 6_000, warmMs: 4_000 },
  quick: { rounds: 3, windowMs: 3_000, warmMs: 3_000 },
  smoke: { rounds: 1, windowMs: 300, warmMs: 100 },
};

const USERS = 32;
const SIZES = [1, 2, 4] as const;

interface Contender {
  readonly size: (typeof SIZES)[number];
  readonly fleet: Fleet;
  readonly urls: readonly string[];
  readonly perSecond: number[];
  readonly latenciesMs: number[];
}

async function open(size: (typeof SIZES)[number], isProfiled: boolean): Promise<Contender> {
  const fleet = new Fleet({ isProfiled });
  const replicas: Replica[] = [];
  while (replicas.length < size) replicas.push(await fleet.start());
  return { size, fleet, urls: replicas.map(({ url }) => url), perSecond: [], latenciesMs: [] };
}

async function loadOne({ size, urls, perSecond, latenciesMs }: Contender, windowMs: number): Promise<void> {
  const window = await mixedLoad(urls, { users: USERS, windowMs });
  perSecond.push(window.steps / window.seconds);
  latenciesMs.push(...window.latenciesMs);
  const p99Ms = quantile(window.latenciesMs, 0.99);
  console.log(`replicas: ${size} of them, ${rounded(window.steps / window.seconds)} steps/s, p99 ${rounded(p99Ms)} ms`);
}

async function measure({ effort, isProfiled }: BenchOptions): Promise<Figures> {
  const plan = plans[effort];
  const contenders: Contender[] = [];
  for (const size of SIZES) contenders.push(await open(size, isProfiled));
  for (const contender of contenders) await loadOne({ ...contender, perSecond: [], latenciesMs: [] }, plan.warmMs); // warm: not counted
  for (let round = 0; round < plan.rounds; round++) for (const contender of contenders) await loadOne(contender, plan.windowMs);
  await Promise.all(contenders.map(({ fleet }) => fleet.stop()));
  const of = (size: number): Contender | undefined => contenders.find((one) => one.size === size);
  const rate = (size: number): number => median(of(size)?.perSecond ?? []);
  const p99Ms = (size: number): number => rounded(quantile(of(size)?.latenciesMs ?? [], 0.99));
  return {
    chorus: rounded(rate(4)),
    unit: 'steps/s',
    fourOverOne: rounded(rate(4) / rate(1)),
    twoOverOne: rounded(rate(2) / rate(1)),
    one: rounded(rate(1)),
    two: rounded(rate(2)),
    four: rounded(rate(4)),
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
    p99MsOne: '99 % of the steps on one, ms',
    p99MsTwo: 'on two, ms',
    p99MsFour: 'on four, ms',
  },
  how:
    'Thirty-two users without pause, each request to the next replica. Of ten steps four send and get, two send and list, one sends, two stream five ' +
    'entries of 1 KB, one starts a silent turn and cancels it on the next replica. All three fleets run from the beginning, each on a file of its ' +
    'own, and are loaded in turns.',
  limit:
    'One writer at a time: the file has one lock, and each process waits for the disk by itself, so four of them make smaller groups than one. ' +
    'The users take a share of the same processors.',
  measure,
};
