import { createInterface } from 'node:readline';

/** What a program tells of itself when it is asked. */
export interface Gauge {
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** Processor time since its start, before and after it collected its garbage for this answer. */
  readonly cpuMs: number;
  readonly collectedMs: number;
}

/** Node's collector, where the program was started with `--expose-gc`. */
const collect = (globalThis as { gc?: () => void }).gc; // as Node documents it

/** Twice: what the first run only found dead, the second one frees. */
async function settleHeap(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    collect?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function gauge(): Promise<Gauge> {
  const cpuMs = usedMs();
  await settleHeap();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, rssBytes: rss, cpuMs, collectedMs: usedMs() };
}

/**
 * Answers what comes on standard input, a line each: `gauge` with what the program uses, any other word by `others`. When the bench is gone, the
 * program goes too.
 */
export function answerQuestions(others: Readonly<Record<string, () => object>> = {}): void {
  const asked = createInterface({ input: process.stdin });
  asked.on('line', (word) => {
    if (word === 'gauge') void gauge().then((told) => console.log(JSON.stringify(told)));
    else console.log(JSON.stringify(others[word]?.() ?? {}));
  });
  asked.on('close', () => process.kill(process.pid, 'SIGKILL'));
}
