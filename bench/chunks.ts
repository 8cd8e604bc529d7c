import { median, rounded } from './figures.ts';
import type { Bench, BenchOptions, Effort, Figures } from './figures.ts';
import { rawRowsPerSecond } from './raw-rows.ts';
import { startServer } from './server.ts';
import type { RunningServer } from './server.ts';
import { readStream } from './stream.ts';
import { CHUNK, sendRequest } from './words.ts';

interface Plan {
  readonly chunks: number;
  readonly rounds: number;
  /** Chunks of the run beside the peer, whose cost grows with the square of it. */
  readonly peerChunks: number;
}

const plans: Readonly<Record<Effort, Plan>> = {
  full: { chunks: 10_000, rounds: 5, peerChunks: 2_000 },
  quick: { chunks: 10_000, rounds: 3, peerChunks: 1_000 },
  smoke: { chunks: 2_000, rounds: 1, peerChunks: 50 },
};

interface StreamFigures {
  readonly perSecond: number;
  readonly totalS: number;
  readonly lastOverSecond: number;
}

async function streamOnce({ url }: RunningServer, chunks: number): Promise<StreamFigures> {
  const { chunkMs, totalMs } = await readStream(url, sendRequest('SendStreamingMessage', `chunks ${chunks}`), CHUNK);
  if (chunkMs.length !== chunks) throw new Error(`bench: ${chunks} chunks were expected, ${chunkMs.length} came`);
  const took = (from: number, to: number): number => (chunkMs[to - 1] ?? Number.NaN) - (chunkMs[from - 1] ?? Number.NaN);
  return {
    perSecond: (chunks * 1_000) / totalMs,
    totalS: totalMs / 1_000,
    lastOverSecond: took(chunks - 1_000, chunks) / took(1_000, 2_000),
  };
}

async function measure({ effort, isProfiled }: BenchOptions): Promise<Figures> {
  const plan = plans[effort];
  const chorus = await startServer({ side: 'chorus', store: 'sqlite', isProfiled });
  const peer = await startServer({ side: 'peer', store: 'sqlite' });
  await streamOnce(chorus, 1_000); // warm both: the first stream runs code that is not compiled yet
  await streamOnce(peer, 50);
  const [raw, ours, beside]: [number[], StreamFigures[], number[]] = [[], [], []];
  for (let round = 0; round < plan.rounds; round++) {
    raw.push(rawRowsPerSecond(plan.chunks));
    const figures = await streamOnce(chorus, plan.chunks);
    ours.push(figures);
    beside.push((await streamOnce(chorus, plan.peerChunks)).perSecond);
    console.log(
      `raw ${rounded(raw.at(-1) ?? 0)} rows/s, ours ${rounded(figures.perSecond)} chunks/s, last/second ${rounded(figures.lastOverSecond)}`,
    );
  }
  const theirs = (await streamOnce(peer, plan.peerChunks)).perSecond;
  console.log(`peer, ${plan.peerChunks} chunks: ${rounded(theirs)} chunks/s`);
  await Promise.all([chorus.stop(), peer.stop()]);
  const perSecond = median(ours.map((figures) => figures.perSecond));
  return {
    chorus: rounded(median(beside)),
    peer: rounded(theirs),
    ratio: rounded(median(beside) / theirs),
    unit: 'chunks/s',
    overRaw: rounded(perSecond / median(raw)),
    totalS: rounded(median(ours.map((figures) => figures.totalS))),
    lastOverSecond: rounded(median(ours.map((figures) => figures.lastOverSecond))),
    rawPerSecond: rounded(median(raw)),
    perSecond: rounded(perSecond),
    chunks: plan.chunks,
    peerChunks: plan.peerChunks,
  };
}

/** One task streams chunks of 1 KB, each its own entry and event, over SSE from SQLite: against raw inserts, and against the peer. */
export const chunks: Bench = {
  title: 'one task streams 10,000 chunks of 1 KB over SSE from SQLite',
  marks: [
    { name: 'overRaw', what: 'rate over that of raw batched inserts of the same bytes', bound: { atLeast: 0.15 } },
    { name: 'lastOverSecond', what: 'the last 1,000 chunks against the second 1,000', bound: { atMost: 1.2 } },
    { name: 'ratio', what: 'rate over that of the peer, which is quadratic', bound: { atLeast: 100 }, quickBound: { atLeast: 50 } },
  ],
  reported: {
    totalS: 'seconds for all chunks',
    perSecond: 'chunks a second',
    rawPerSecond: 'raw rows a second',
    peerChunks: 'chunks of the run beside the peer',
  },
  how:
    'The server is a process of its own with `synchronous = FULL`; each chunk is its own entry and its own event, none joined, and the reader ' +
    'checks every one. Raw: 100 rows of 1 KB a transaction into a table with the two indexes any such log needs. The peer stores through Kysely on libsql.',
  limit:
    'Processor time of one thread: a chunk is written as JSON, inserted, parsed for its followers, and printed. The disk waits for nobody: ' +
    'what comes during a commit goes with the next.',
  measure,
};
