import { median, rounded } from './figures.ts';
import type { Bench, BenchOptions, Effort, Figures } from './figures.ts';
import { load } from './load.ts';
import { startServer } from './server.ts';
import type { RunningServer, Side } from './server.ts';
import { sendRequest } from './words.ts';

interface Plan {
  readonly rounds: number;
  readonly windowMs: number;
  readonly warmMs: number;
}

const plans: Readonly<Record<Effort, Plan>> = {
  full: { rounds: 5, windowMs: 6_000, warmMs: 4_000 },
  quick: { rounds: 3, windowMs: 2_000, warmMs: 2_500 },
  smoke: { rounds: 1, windowMs: 300, warmMs: 100 },
};

const CALLERS = 64;

interface Contender {
  readonly side: Side;
  readonly store: 'memory' | 'sqlite';
  readonly server: RunningServer;
  readonly perSecond: number[];
}

async function measureOne({ side, store, server, perSecond }: Contender, windowMs: number): Promise<void> {
  const body = (): string => sendRequest('SendMessage', 'hi');
  const window = await load({ url: server.url, callers: CALLERS, windowMs, body, expected: 'TASK_STATE_COMPLETED' });
  perSecond.push(window.answers / window.seconds);
  console.log(
    `${side} ${store}: ${rounded(window.answers / window.seconds)} answers/s, p50 ${rounded(window.p50Ms)} ms, p99 ${rounded(window.p99Ms)} ms`,
  );
}

async function measure({ effort, isProfiled }: BenchOptions): Promise<Figures> {
  const plan = plans[effort];
  const contenders: Contender[] = [];
  for (const store of ['sqlite', 'memory'] as const)
    for (const side of ['chorus', 'peer'] as const) {
      const server = await startServer({ side, store, isProfiled: isProfiled && side === 'chorus' });
      contenders.push({ side, store, server, perSecond: [] });
    }
  for (const contender of contenders) await measureOne({ ...contender, perSecond: [] }, plan.warmMs); // warm: not counted
  for (let round = 0; round < plan.rounds; round++) for (const contender of contenders) await measureOne(contender, plan.windowMs);
  for (const { server } of contenders) await server.stop();
  const rate = (side: Side, store: 'memory' | 'sqlite'): number =>
    median(contenders.find((one) => one.side === side && one.store === store)?.perSecond ?? []);
  const ratio = (store: 'memory' | 'sqlite'): number => rounded(rate('chorus', store) / rate('peer', store));
  return {
    chorus: rounded(rate('chorus', 'sqlite')),
    peer: rounded(rate('peer', 'sqlite')),
    ratio: ratio('sqlite'),
    unit: 'answers/s',
    ratioSqlite: ratio('sqlite'),
    ratioMemory: ratio('memory'),
    chorusMemory: rounded(rate('chorus', 'memory')),
    peerMemory: rounded(rate('peer', 'memory')),
  };
}

/** Blocking SendMessage over HTTP from 64 callers at once, an agent that answers at once: ours and the peer's, in SQLite and in memory. */
export const send: Bench = {
  title: 'blocking sends of 64 callers, an agent that answers at once',
  marks: [
    { name: 'ratioSqlite', what: 'answers a second over those of the peer, SQLite', bound: { atLeast: 5 } },
    { name: 'ratioMemory', what: 'the same in memory', bound: { atLeast: 2 } },
  ],
  reported: { chorusMemory: 'answers a second, memory', peerMemory: 'the same, the peer' },
  how:
    'Four servers, each a process of its own, asked in turns by 64 kept-alive connections without pause; every answer is checked. The callers ' +
    'are written on bare sockets, because an HTTP client costs as much as the server.',
  limit:
    "SQLite: one commit with `fsync` for all that wait, then processor time of one thread. Memory: processor time alone, half of it Node's own HTTP.",
  measure,
};
