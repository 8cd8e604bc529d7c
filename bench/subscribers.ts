import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { startTask } from './calls.ts';
import { rounded } from './figures.ts';
import type { Bench, BenchOptions, Effort, Figures } from './figures.ts';
import type { Gauge } from './gauge.ts';
import { Caller } from './load.ts';
import { printHottest } from './profile.ts';
import { Program } from './programs.ts';
import { subscribeAll } from './subscribers-client.ts';
import type { Subscriber } from './subscribers-client.ts';

interface Plan {
  readonly idle: number;
  /** Those of the peer, whose server takes ten times as long to get them. */
  readonly peerIdle: number;
  /** Streams that are opened and closed before anything is measured. */
  readonly warm: number;
  /** A whole number of heartbeats, so that every stream gets as many. */
  readonly windowMs: number;
  readonly live: number;
  readonly chunks: number;
}

const plans: Readonly<Record<Effort, Plan>> = {
  full: { idle: 5_000, peerIdle: 5_000, warm: 500, windowMs: 60_000, live: 500, chunks: 100 },
  quick: { idle: 5_000, peerIdle: 2_000, warm: 500, windowMs: 15_000, live: 500, chunks: 100 },
  smoke: { idle: 100, peerIdle: 100, warm: 20, windowMs: 1_000, live: 20, chunks: 20 },
};

/** Sends under way at once while tasks are made. */
const CALLERS = 16;

/** What was opened gets so long to come to rest. */
const SETTLE_MS = 1_500;

/** All events have to be there by then. */
const LIVE_MS_MAX = 60_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for the work, but not longer. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** A server in a process of its own. */
interface Server {
  readonly url: string;
  readonly program: Program;
}

async function start(name: string, args: readonly string[], nodeArgs: readonly string[] = []): Promise<Server> {
  const program = new Program(name, args, ['--expose-gc', ...nodeArgs]);
  const { url } = (await program.next('url')) as { url: string }; // its ready line
  return { url, program };
}

async function gauge({ program }: Server): Promise<Gauge> {
  program.tell('gauge');
  return (await program.next('heapBytes')) as unknown as Gauge; // the line that gauge.ts prints
}

async function queriesOf({ program }: Server): Promise<number> {
  program.tell('queries');
  return ((await program.next('queries')) as { queries: number }).queries; // the line that subscribed-server.ts prints
}

/** Starts tasks and gives their ids. */
async function makeTasks(url: string, count: number, text: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let left = count;
  const one = async (): Promise<void> => {
    const caller = new Caller(url);
    while (left-- > 0) ids.push((await startTask(caller, text)).id);
    caller.close();
  };
  await Promise.all(Array.from({ length: CALLERS }, one));
  return ids;
}

interface Cost {
  readonly heapBytes: number;
  readonly rssBytes: number;
}

interface Watched {
  readonly server: Server;
  readonly subscribers: readonly Subscriber[];
  readonly each: Cost;
}

/**
 * Subscribes to every task and tells what a subscriber costs: the tasks are there before, and so is the code that a first few streams have
 * warmed.
 */
async function watchAll(server: Server, ids: readonly string[], warm: number): Promise<Watched> {
  const first = await subscribeAll(server.url, ids.slice(0, warm));
  await Promise.all(first.map((subscriber) => subscriber.close()));
  await sleep(SETTLE_MS);
  const before = await gauge(server);
  const subscribers = await subscribeAll(server.url, ids);
  await sleep(SETTLE_MS);
  const after = await gauge(server);
  // of few streams nothing may be seen; a ratio needs something
  const each = (bytes: keyof Cost): number => Math.max(1, (after[bytes] - before[bytes]) / ids.length);
  return { server, subscribers, each: { heapBytes: each('heapBytes'), rssBytes: each('rssBytes') } };
}

/** What a stream of the peer costs. Its tasks have to be at work: for others its stream ends at once. */
async function measurePeer({ peerIdle, warm }: Plan): Promise<Cost> {
  const server = await start('peer-server', ['memory', 'asked']);
  const { subscribers, each } = await watchAll(server, await makeTasks(server.url, peerIdle, 'rest'), warm);
  await Promise.all(subscribers.map((subscriber) => subscriber.close()));
  await server.program.stop();
  return each;
}

interface IdleCost {
  readonly idlePercent: number;
  readonly barePercent: number;
  readonly queriesPerSecond: number;
}

/** What idle streams cost over the same time: ours, and those of a bare server that writes the same heartbeats. */
async function measureIdle(ours: Watched, bare: Watched, windowMs: number): Promise<IdleCost> {
  const servers = [ours.server, bare.server];
  const queriesBefore = await queriesOf(ours.server);
  const before = await Promise.all(servers.map(gauge));
  const since = performance.now();
  await sleep(windowMs);
  const tookMs = performance.now() - since;
  const after = await Promise.all(servers.map(gauge));
  const queries = (await queriesOf(ours.server)) - queriesBefore;
  const percent = (index: number): number =>
    (100 * ((after[index]?.cpuMs ?? Number.NaN) - (before[index]?.collectedMs ?? Number.NaN))) / tookMs;
  return { idlePercent: percent(0), barePercent: percent(1), queriesPerSecond: (queries * 1_000) / tookMs };
}

interface Live {
  readonly missed: number;
  readonly tookMs: number;
}

/** Turns on one replica, a subscriber of each on another: every one has to get every chunk, in order, and the end. */
async function measureLive(worker: Server, watched: Server, { live, chunks }: Plan): Promise<Live> {
  const ids = await makeTasks(worker.url, live, `live ${chunks}`);
  const subscribers = await subscribeAll(watched.url, ids);
  const since = performance.now();
  worker.program.tell('go');
  await within(LIVE_MS_MAX, Promise.all(subscribers.map(({ over }) => over)));
  const tookMs = performance.now() - since;
  const seen = subscribers.map((subscriber) => subscriber.seen);
  const wrong = seen.filter(({ disorders, isOver, chunks: got }) => disorders > 0 || !isOver || got > chunks).length;
  if (wrong > 0) console.error(`bench: ${wrong} streams were out of order, too long, or never ended`);
  const missed = seen.reduce((sum, { chunks: got, disorders }) => sum + Math.max(0, chunks - got) + disorders, 0);
  await Promise.all(subscribers.map((subscriber) => subscriber.close()));
  return { missed, tookMs };
}

async function measure({ effort, isProfiled }: BenchOptions): Promise<Figures> {
  const plan = plans[effort];
  const folder = mkdtempSync(join(tmpdir(), 'chorus-bench-subscribers-'));
  const file = join(folder, 'tasks.db');
  const profile = isProfiled ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
  try {
    const peer = await measurePeer(plan);
    console.log(`peer: ${rounded(peer.heapBytes / 1_024)} KB of heap and ${rounded(peer.rssBytes / 1_024)} KB resident each`);
    const ours = await start('subscribed-server', [file, String(CALLERS)], profile);
    const ids = await makeTasks(ours.url, plan.idle, 'ask me');
    const bare = await start('bare-server', []);
    const [oursWatched, bareWatched] = [await watchAll(ours, ids, plan.warm), await watchAll(bare, ids, plan.warm)];
    const { heapBytes, rssBytes } = oursWatched.each;
    console.log(`ours: ${rounded(heapBytes / 1_024)} KB of heap and ${rounded(rssBytes / 1_024)} KB resident each`);
    const idle = await measureIdle(oursWatched, bareWatched, plan.windowMs);
    console.log(`idle: ours ${rounded(idle.idlePercent)} % of a core, bare ${rounded(idle.barePercent)} %`);
    const worker = await start('subscribed-server', [file, String(plan.live + CALLERS)]);
    const live = await measureLive(worker, ours, plan);
    console.log(`live: ${plan.live * plan.chunks} events in ${rounded(live.tookMs / 1_000)} s, ${live.missed} missed`);
    await Promise.all([...oursWatched.subscribers, ...bareWatched.subscribers].map((subscriber) => subscriber.close()));
    await Promise.all([worker, ours, bare].map(({ program }) => program.stop()));
    if (isProfiled) printHottest(folder);
    return {
      chorus: rounded(rssBytes / 1_024),
      peer: rounded(peer.rssBytes / 1_024),
      ratio: rounded(rssBytes / peer.rssBytes),
      unit: 'KB resident/subscriber',
      heapKb: rounded(heapBytes / 1_024),
      rssRatio: rounded(rssBytes / peer.rssBytes),
      idleOverBare: rounded(idle.idlePercent / idle.barePercent),
      queriesPerSecond: rounded(idle.queriesPerSecond),
      missed: live.missed,
      idlePercent: rounded(idle.idlePercent),
      barePercent: rounded(idle.barePercent),
      bareHeapKb: rounded(bareWatched.each.heapBytes / 1_024),
      peerHeapKb: rounded(peer.heapBytes / 1_024),
      eventsPerSecond: rounded((plan.live * plan.chunks * 1_000) / live.tookMs),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Many who watch: what a quiet stream costs, and that nobody misses anything on another replica than the one that works. */
export const subscribers: Bench = {
  title: '5,000 idle subscribers on one process, 500 live ones on another replica',
  marks: [
    { name: 'heapKb', what: 'KB of heap for an idle subscriber', bound: { atMost: 12 } },
    { name: 'rssRatio', what: 'resident memory for one, over that of the peer', bound: { atMost: 0.6 } },
    {
      name: 'idleOverBare',
      what: 'idle processor time over that of a bare `node:http` server with the same heartbeats',
      bound: { atMost: 2 },
    },
    { name: 'queriesPerSecond', what: 'calls of the store a second, for all of them', bound: { atMost: 3 } },
    { name: 'missed', what: 'events that 500 subscribers on another replica missed, of 50,000', bound: { atMost: 0 } },
  ],
  reported: {
    idlePercent: 'per cent of a core, 5,000 idle subscribers',
    barePercent: 'the same, the bare server',
    bareHeapKb: 'KB of heap for one, the bare server',
    peerHeapKb: 'the same, the peer',
    eventsPerSecond: 'events a second that reached the 500 live subscribers',
  },
  how:
    'Each subscriber has a task and a socket of its own. Memory is the difference between before and after, garbage collected each time; the ' +
    'tasks were made by the same process before, and a few streams opened and closed. Ours watch tasks that wait for their user, in SQLite; the peer’s are at work and silent, in its memory. ' +
    'Idle processor time is taken over whole heartbeats (15 s), ours and the bare server’s at the same moment. The live subscribers are on ' +
    'that same replica, beside the idle ones; another one runs their turns.',
  limit:
    'Memory: Node’s own HTTP has more than half of it (the bare server shows how much). Idle time: a timer and a write for each heartbeat; the ' +
    'tick of the replica is one query, however many watch.',
  measure,
};
