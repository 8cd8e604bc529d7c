import { createAgent } from '../src/index.ts';
import type { Agent } from '../src/index.ts';
import { parseRequest } from '../src/wire/json-rpc.ts';
import { readMessage } from '../src/wire/reader.ts';
import { exchangeOf } from './exchange.ts';
import { median, rounded } from './figures.ts';
import type { Bench, BenchOptions, Effort, Figures } from './figures.ts';
import { ANSWER, sendRequest } from './words.ts';

interface Plan {
  readonly rounds: number;
  readonly reads: number;
  readonly sends: number;
  readonly largeReads: number;
}

const plans: Readonly<Record<Effort, Plan>> = {
  full: { rounds: 15, reads: 20_000, sends: 4_000, largeReads: 1_000 },
  quick: { rounds: 9, reads: 10_000, sends: 2_000, largeReads: 500 },
  smoke: { rounds: 2, reads: 1_000, sends: 200, largeReads: 50 },
};

/** Sends under way at once, as in `send`. */
const CALLERS = 64;

const LARGE_BYTES = 31 * 1_024;

/** Rows as tools give them: objects of a few members, numbers, short texts and lists. */
function largeData(): object {
  const rows: object[] = [];
  for (let index = 0, length = 0; length < LARGE_BYTES; index++) {
    const row = { id: index, name: `item ${index}`, price: index * 1.25, isOpen: index % 3 === 0, tags: ['red', 'blue'], note: null };
    length += JSON.stringify(row).length + 1;
    rows.push(row);
  }
  return { rows };
}

function largeRequest(): string {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ data: largeData() }] };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } });
}

/** What the JSON-RPC binding does with a body before the operation is called. */
function read(body: Uint8Array): unknown {
  const request = parseRequest(body);
  if (request.kind === 'refused') throw request.error;
  return readMessage('SendMessageRequest', request.params);
}

/** Microseconds of processor time that one of many takes: threads of the collector count too, other processes do not. */
function cost(count: number, work: () => unknown): number {
  const before = process.cpuUsage();
  for (let index = 0; index < count; index++) work();
  return usedSince(before, count);
}

function usedSince(before: NodeJS.CpuUsage, count: number): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

async function costOfSend(agent: Agent, count: number): Promise<number> {
  const bodies = Array.from({ length: count }, () => Buffer.from(sendRequest('SendMessage', 'hi')));
  const before = process.cpuUsage();
  const one = async (): Promise<void> => {
    for (let body = bodies.pop(); body; body = bodies.pop()) {
      const reply = await agent.handle(exchangeOf(body));
      if (typeof reply.body !== 'string' || !reply.body.includes('TASK_STATE_COMPLETED'))
        throw new Error(`bench: a completed task was expected, this came: ${JSON.stringify(reply).slice(0, 500)}`);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, one));
  return usedSince(before, count);
}

async function measure({ effort }: BenchOptions): Promise<Figures> {
  const plan = plans[effort];
  const small = Buffer.from(sendRequest('SendMessage', 'hi'));
  const largeText = largeRequest();
  const large = Buffer.from(largeText);
  const agent = createAgent({ card: { name: 'Bench', description: 'Answers at once.', version: '1.0.0' }, run: () => ANSWER });
  await agent.start();
  const all: Record<'reading' | 'sending' | 'readingLarge' | 'parsingLarge', number[]> = {
    reading: [],
    sending: [],
    readingLarge: [],
    parsingLarge: [],
  };
  for (let round = -1; round < plan.rounds; round++) {
    const figures = {
      reading: cost(plan.reads, () => read(small)),
      sending: await costOfSend(agent, plan.sends),
      readingLarge: cost(plan.largeReads, () => read(large)),
      parsingLarge: cost(plan.largeReads, () => JSON.parse(largeText)),
    };
    if (round < 0) continue; // warm: the first round runs code that is not compiled yet
    for (const key of ['reading', 'sending', 'readingLarge', 'parsingLarge'] as const) all[key].push(figures[key]);
    console.log(
      `read ${rounded(figures.reading)} µs, send ${rounded(figures.sending)} µs; ${large.length} bytes: read ${rounded(figures.readingLarge)} µs, JSON.parse ${rounded(figures.parsingLarge)} µs`,
    );
  }
  await agent.close();
  return {
    chorus: rounded(median(all.reading)),
    unit: 'µs/message',
    shareOfSend: rounded(median(all.reading) / median(all.sending)),
    overJsonParse: rounded(median(all.readingLarge) / median(all.parsingLarge)),
    sendUs: rounded(median(all.sending)),
    largeUs: rounded(median(all.readingLarge)),
    largeParseUs: rounded(median(all.parsingLarge)),
  };
}

/** What it costs to read an inbound message: against the whole of a send, and for a large one against the engine's own parser. */
export const parse: Bench = {
  title: 'reading an inbound message',
  marks: [
    { name: 'shareOfSend', what: 'share of a blocking send in memory', bound: { atMost: 0.1 } },
    { name: 'overJsonParse', what: 'a 31 KB data part against JSON.parse alone', bound: { atMost: 2 } },
  ],
  reported: {
    sendUs: 'µs of processor time of a send, without HTTP',
    largeUs: 'µs to read the message of 31 KB',
    largeParseUs: 'µs of JSON.parse for it',
  },
  how:
    'In one process, in processor time. Reading is all that happens between the bytes of a body and the checked request: UTF-8, nesting, ' +
    'JSON, the envelope, every field by the table of the protocol. A send is the whole way through the router with 64 under way at once, ' +
    'without HTTP, which would make the share a fifth of what it is.',
  limit:
    'JSON.parse, which has most of the large message; of the rest, half is looking through all strings for what a store or UTF-8 cannot ' +
    'hold (U+0000, half surrogate pairs).',
  measure,
};
