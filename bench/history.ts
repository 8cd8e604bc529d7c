import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createAgent } from '../src/index.ts';
import type { Agent } from '../src/index.ts';
import { sqlite } from '../src/sqlite.ts';
import { exchangeOf, jsonHeaders } from './exchange.ts';
import { median, rounded } from './figures.ts';
import type { Bench, BenchOptions, Effort, Figures } from './figures.ts';
import { ANSWER, CHUNK } from './words.ts';

interface Plan {
  /** Tasks of the one owner who has nearly all. */
  readonly many: number;
  readonly few: number;
  /** Entries of the long task. */
  readonly entries: number;
  readonly calls: number;
  readonly longCalls: number;
  readonly colds: number;
}

const plans: Readonly<Record<Effort, Plan>> = {
  full: { many: 99_000, few: 1_000, entries: 10_000, calls: 400, longCalls: 15, colds: 5 },
  quick: { many: 19_000, few: 1_000, entries: 10_000, calls: 200, longCalls: 9, colds: 3 },
  smoke: { many: 900, few: 100, entries: 300, calls: 20, longCalls: 3, colds: 1 },
};

const SENDS_AT_ONCE = 500;

/** Whose tasks they are. */
type Owner = 'many' | 'few' | 'long';

function openAgent(file: string): Agent {
  return createAgent({
    card: { name: 'Bench', description: 'Answers at once, or writes much.', version: '1.0.0' },
    store: sqlite(file),
    identify: (request) => ({ name: request.header('x-caller') ?? '' }),
    concurrency: SENDS_AT_ONCE,
    async run(turn) {
      const count = Number(/^chunks (\d+)$/.exec(turn.text)?.[1] ?? 0);
      if (count === 0) return ANSWER;
      const out = turn.artifact('out');
      await Promise.all(Array.from({ length: count }, (_, index) => out.append(CHUNK, { isLast: index === count - 1 })));
      return undefined;
    },
    logger: { debug() {}, info() {}, warn: console.error, error: console.error },
  });
}

/** Asks the agent in this process, without a socket: the whole way from the bytes of the request to the text of the answer. */
async function ask(agent: Agent, owner: Owner, method: string, params: object): Promise<string> {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  const reply = await agent.handle(exchangeOf(body, { ...jsonHeaders, 'x-caller': owner }));
  const text = typeof reply.body === 'string' ? reply.body : '';
  reply.onSent?.(); // as a mount does: until then the bytes of a large answer are counted as not taken
  if (!text.startsWith('{"jsonrpc":"2.0","id":1,"result"')) throw new Error(`bench: ${method} failed: ${text.slice(0, 500)}`);
  return text;
}

interface SentTask {
  readonly result: { readonly task: { readonly id: string } };
}

async function send(agent: Agent, owner: Owner, text: string): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  const { result } = JSON.parse(await ask(agent, owner, 'SendMessage', { message })) as SentTask; // a send of ours gives a task
  return result.task.id;
}

/** Tasks of both owners, spread through each other as they would be: a page of one touches rows all over the file. */
async function fill(agent: Agent, { many, few }: { readonly many: number; readonly few: number }): Promise<void> {
  const all = many + few;
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < all) {
      const index = next++;
      const owner = Math.floor(((index + 1) * few) / all) > Math.floor((index * few) / all) ? 'few' : 'many';
      await send(agent, owner, `question ${index}`);
    }
  };
  await Promise.all(Array.from({ length: SENDS_AT_ONCE }, one));
}

interface Timed<T> {
  /** As a caller sees it. */
  readonly ms: number;
  /** Processor time alone: what ratios are made of, because other processes do not count. */
  readonly cpuMs: number;
  readonly value: T;
}

/** Once around the loop first, as between two requests from a socket: a chain of reads alone would keep the replica's ticks out. */
async function timed<T>(work: () => Promise<T> | T): Promise<Timed<T>> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  const [begin, before] = [performance.now(), process.cpuUsage()];
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - begin, cpuMs: (user + system) / 1_000, value };
}

interface ListAnswer {
  readonly result: { readonly tasks: readonly { readonly id: string }[]; readonly totalSize: number };
}

interface Page extends Timed<string> {
  readonly ids: readonly string[];
}

async function page(agent: Agent, owner: Owner, total: number): Promise<Page> {
  const answer = await timed(() => ask(agent, owner, 'ListTasks', {}));
  const { tasks, totalSize } = (JSON.parse(answer.value) as ListAnswer).result; // checked below
  if (totalSize !== total || tasks.length !== 50)
    throw new Error(`bench: 50 of ${total} were expected, ${tasks.length} of ${totalSize} came`);
  return { ...answer, ids: tasks.map(({ id }) => id) };
}

interface PageTimes {
  readonly overAlone: number;
  readonly fewMs: number;
  readonly manyMs: number;
  readonly getMs: number;
}

const cpuOf = (all: readonly Timed<unknown>[]): number => median(all.map(({ cpuMs }) => cpuMs));
const msOf = (all: readonly Timed<unknown>[]): number => median(all.map(({ ms }) => ms));

/** Calls before those that count. */
const WARM_CALLS = 20;

/** Pages of all kinds in turns, so that whatever disturbs one disturbs all. */
async function measurePages(large: Agent, small: Agent, { many, few, calls }: Plan): Promise<PageTimes> {
  const times = { fewOfMany: [] as Page[], fewAlone: [] as Page[], many: [] as Page[], get: [] as Timed<string>[] };
  for (let call = -WARM_CALLS; call < calls; call++) {
    const fewOfMany = await page(large, 'few', few);
    const fewAlone = await page(small, 'few', few);
    const manyOfMany = await page(large, 'many', many);
    const id = fewOfMany.ids[Math.abs(call) % fewOfMany.ids.length];
    const get = await timed(() => ask(large, 'few', 'GetTask', { id }));
    if (call < 0) continue;
    times.fewOfMany.push(fewOfMany);
    times.fewAlone.push(fewAlone);
    times.many.push(manyOfMany);
    times.get.push(get);
  }
  const overAlone = cpuOf(times.fewOfMany) / cpuOf(times.fewAlone);
  return { overAlone, fewMs: msOf(times.fewOfMany), manyMs: msOf(times.many), getMs: msOf(times.get) };
}

interface LongTimes {
  readonly overStringify: number;
  readonly warmMs: number;
}

// The length in bytes belongs to both, as a head needs it: JSON.stringify gives a large text in pieces, and only then does it become one.
const getLong = async (agent: Agent, id: string): Promise<number> => Buffer.byteLength(await ask(agent, 'long', 'GetTask', { id }));
const printLong = (task: unknown): number => Buffer.byteLength(JSON.stringify(task));

/** The long task again and again, in turns with printing its JSON and nothing else. */
async function measureLong(agent: Agent, id: string, calls: number): Promise<LongTimes> {
  const task: unknown = (JSON.parse(await ask(agent, 'long', 'GetTask', { id })) as { readonly result: unknown }).result; // any JSON
  const times = { warm: [] as Timed<number>[], stringify: [] as Timed<number>[] };
  for (let call = -3; call < calls; call++) {
    const warm = await timed(() => getLong(agent, id));
    const stringify = await timed(() => printLong(task));
    if (call < 0) continue;
    times.warm.push(warm);
    times.stringify.push(stringify);
  }
  return { overStringify: cpuOf(times.warm) / cpuOf(times.stringify), warmMs: msOf(times.warm) };
}

/** The first GetTask of a replica that has folded nothing yet: all entries are read from the file, which the system has in its memory. */
async function measureCold(file: string, id: string, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const agent = openAgent(file);
    await agent.start();
    times.push((await timed(() => getLong(agent, id))).ms);
    await agent.close();
  }
  return median(times);
}

async function measure({ effort }: BenchOptions): Promise<Figures> {
  const plan = plans[effort];
  const { many, few, entries } = plan;
  const folder = mkdtempSync(join(tmpdir(), 'chorus-bench-history-'));
  const file = join(folder, 'large.db');
  const [large, small] = [openAgent(file), openAgent(join(folder, 'small.db'))];
  try {
    await Promise.all([large.start(), small.start()]);
    const { ms: filledMs } = await timed(() => fill(large, { many, few }));
    await fill(small, { many: 0, few });
    const id = await send(large, 'long', `chunks ${entries}`);
    console.log(`filled with ${many + few} tasks in ${rounded(filledMs / 1_000)} s`);
    const pages = await measurePages(large, small, plan);
    const long = await measureLong(large, id, plan.longCalls);
    const coldMs = await measureCold(file, id, plan.colds);
    console.log(
      `a page of ${many}: ${rounded(pages.manyMs)} ms; the long task: cold ${rounded(coldMs)} ms, warm ${rounded(long.warmMs)} ms`,
    );
    return {
      chorus: rounded(pages.fewMs),
      unit: 'ms/page',
      pageOver1000: rounded(pages.overAlone),
      warmOverStringify: rounded(long.overStringify),
      pageOfAllMs: rounded(pages.manyMs),
      totalSize: many,
      getMs: rounded(pages.getMs),
      coldMs: rounded(coldMs),
      warmMs: rounded(long.warmMs),
    };
  } finally {
    await Promise.all([large.close(), small.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reading what happened long ago: pages of lists among many tasks, and a task of many entries. */
export const history: Bench = {
  title: 'pages and tasks among 100,000 tasks in SQLite',
  marks: [
    {
      name: 'pageOver1000',
      what: 'a page of a caller who owns 1,000 of 100,000 tasks against the same page in a store of 1,000',
      bound: { atMost: 1.5 },
    },
    { name: 'warmOverStringify', what: 'GetTask of a task of 10,000 entries, warm, against its JSON.stringify', bound: { atMost: 2 } },
  ],
  reported: {
    pageOfAllMs: 'ms for a page of 50 of the caller who owns all the others, with its exact `totalSize`',
    totalSize: 'that `totalSize`',
    getMs: 'ms for GetTask of a task of one answer',
    coldMs: 'ms for GetTask of the 10,000 entries (1 KB each) on a replica that has never read them',
    warmMs: 'the same once it has',
  },
  how:
    'Written through the agent itself, the tasks of the two callers spread through each other. Asked in one process, from the bytes of the ' +
    'request to the text of the answer, without HTTP; medians of calls in turns, ratios in processor time. A quick run has 20,000 tasks.',
  limit:
    'A page: two statements for each of its 50 tasks (its size, its messages), then their JSON. The caller who owns nearly all pays for ' +
    'counting: `totalSize` is counted in an index, because a counter row would be one that all writers wait for. A cold task: reading and ' +
    'folding its entries; a warm one: printing it.',
  measure,
};
