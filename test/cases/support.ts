import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Json, Message, Part, StreamResponse, Task, TaskState } from '../../src/protocol/types.ts';
import { isTerminal } from '../../src/protocol/states.ts';
import { Rig } from '../../src/testing/rig.ts';
import type { RigOptions } from '../../src/testing/rig.ts';
import { findDriver } from '../../src/stores/sqlite-driver.ts';
import type { SqlDatabase } from '../../src/stores/sqlite-driver.ts';
import type { OperationName } from '../../src/wire/operations.ts';
import { events } from '../bindings/callers.ts';
import type { Answered, Asking, RawCaller, Told, Wanted } from '../bindings/callers.ts';
import { eventually, pause } from '../replicas/support.ts';

export { callers } from '../bindings/callers.ts';
export { eventually, pause, rounds } from '../replicas/support.ts';

/** An agent answered with an error: what it said is in `told`. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly told: Told;
  readonly status: number;

  constructor({ status }: Answered, told: Told) {
    super(`${told.reason}: ${told.message}`);
    this.told = told;
    this.status = status;
  }
}

/** What a send says beside its text. */
export interface Words {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly messageId?: string;
  readonly parts?: readonly Part[];
  readonly referenceTaskIds?: readonly string[];
  readonly configuration?: Readonly<Record<string, Json>>;
  readonly key?: string;
}

/** One event of a stream: its id, and the item or the error it tells. */
export interface Seen {
  readonly id: number | undefined;
  readonly item?: StreamResponse;
  readonly error?: Told;
}

/** Somebody at the wire: one binding, one caller, and either all replicas in turns or one of them. It repeats and hides nothing. */
export class Stranger {
  readonly #raw: RawCaller;
  readonly #rig: () => Rig;
  readonly #caller: string | undefined;
  readonly #index: number | undefined;
  static #next = 0;

  constructor(
    raw: RawCaller,
    rig: () => Rig,
    { caller, index }: { readonly caller?: string | undefined; readonly index?: number | undefined } = {},
  ) {
    this.#raw = raw;
    this.#rig = rig;
    this.#caller = caller;
    this.#index = index;
  }

  /** The same one, who asks that replica only. */
  at(index: number): Stranger {
    return new Stranger(this.#raw, this.#rig, { caller: this.#caller, index });
  }

  /** The same, with the name of a caller. */
  as(caller: string): Stranger {
    return new Stranger(this.#raw, this.#rig, { caller, index: this.#index });
  }

  /** Where the next question goes. */
  get url(): string {
    const { living, replicas } = this.#rig();
    const replica = this.#index === undefined ? living[Stranger.#next++ % living.length] : replicas[this.#index];
    if (!replica) throw new Error('no replica lives');
    return replica.url;
  }

  /** The bare response. */
  fetch(operation: OperationName, request: Wanted, { headers, signal }: Asking = {}): Promise<Response> {
    const named = this.#caller === undefined ? {} : { authorization: `Bearer ${this.#caller}` };
    return this.#raw.fetch(this.url, operation, request, { headers: { ...named, ...headers }, ...(signal ? { signal } : {}) });
  }

  /** What came back, result or error. */
  async answer(operation: OperationName, request: Wanted, asking?: Asking): Promise<Answered> {
    return this.#raw.read(await this.fetch(operation, request, asking));
  }

  /** The result; an error is thrown as Refused. */
  async ask<Result = Readonly<Record<string, unknown>>>(operation: OperationName, request: Wanted, asking?: Asking): Promise<Result> {
    const answered = await this.answer(operation, request, asking);
    if (answered.error) throw new Refused(answered, answered.error);
    return answered.result as Result; // the agent's word: what is in it is what the tests look at
  }

  /** Sends a message and gives the answer as it came. */
  sendRaw(text: string, words: Words = {}): Promise<{ readonly task?: Task; readonly message?: Message }> {
    return this.ask('SendMessage', sendRequest(text, words), keyed(words));
  }

  /** Sends a message that must lead to a task. */
  async send(text: string, words: Words = {}): Promise<Task> {
    const { task } = await this.sendRaw(text, words);
    if (!task) throw new Error('A task was expected, a message came.');
    return task;
  }

  /** Sends without waiting for the end. */
  start(text: string, words: Words = {}): Promise<Task> {
    return this.send(text, { ...words, configuration: { ...words.configuration, returnImmediately: true } });
  }

  get(id: string, more: Wanted = {}): Promise<Task> {
    return this.ask<Task>('GetTask', { id, ...more });
  }

  cancel(id: string): Promise<Task> {
    return this.ask<Task>('CancelTask', { id });
  }

  /** Items of a send; an error before the first is thrown as Refused. */
  stream(text: string, words: Words & { readonly signal?: AbortSignal } = {}): AsyncGenerator<Seen> {
    return this.items('SendStreamingMessage', sendRequest(text, words), {
      ...keyed(words),
      ...(words.signal ? { signal: words.signal } : {}),
    });
  }

  /** Items of a subscription, from a cursor on if one is given. */
  subscribe(id: string, after?: number | string): AsyncGenerator<Seen> {
    return this.items('SubscribeToTask', { id }, after === undefined ? {} : { headers: { 'last-event-id': String(after) } });
  }

  /** Whatever a streaming operation tells, to its end; leaving the loop cuts the connection. */
  async *items(operation: OperationName, request: Wanted, asking: Asking = {}): AsyncGenerator<Seen> {
    const cut = new AbortController();
    asking.signal?.addEventListener('abort', () => cut.abort(), { once: true });
    const response = await this.fetch(operation, request, { ...asking, signal: cut.signal });
    try {
      if (response.headers.get('content-type') !== 'text/event-stream') {
        const answered = await this.#raw.read(response);
        if (answered.error) throw new Refused(answered, answered.error);
        throw new Error(`a stream was expected, ${JSON.stringify(answered.result)} came`);
      }
      for await (const { id, data } of events(response)) {
        if (data === undefined) continue; // a heartbeat
        const { result, error } = this.#raw.readEvent(data);
        const seq = id === undefined ? undefined : Number(id);
        yield error ? { id: seq, error } : { id: seq, item: result as StreamResponse }; // the agent's word, as above
      }
    } finally {
      cut.abort();
    }
  }
}

/** The body of a send. */
export function sendRequest(
  text: string,
  { configuration, key: _key, parts = [{ text }], messageId = crypto.randomUUID(), ...words }: Words = {},
): Wanted {
  const { taskId, contextId, referenceTaskIds } = words;
  const message = {
    messageId,
    role: 'ROLE_USER',
    parts,
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(referenceTaskIds === undefined ? {} : { referenceTaskIds }),
  };
  return { message: message as unknown as Json, ...(configuration ? { configuration } : {}) }; // a message is JSON
}

function keyed({ key }: Words): Asking {
  return key === undefined ? {} : { headers: { 'idempotency-key': key } };
}

/** The replicas of one file of tests. */
export interface CaseStage {
  readonly rig: Rig;
  /** Somebody who speaks that binding. */
  by(raw: RawCaller): Stranger;
}

/** The agent of these tests: the scripted one with a few words more. */
export const casesAgent: string = fileURLToPath(new URL('agent.ts', import.meta.url));

/** Starts replicas before the tests of a file and ends them behind; no replica may have met an unhandled rejection (case 30). */
export function stageOf(options: RigOptions = {}): CaseStage {
  let rig: Rig | undefined;
  const started = (): Rig => {
    if (!rig) throw new Error('the replicas are not there yet');
    return rig;
  };
  beforeAll(async () => {
    rig = await Rig.open({ replicas: 2, agent: casesAgent, ...options });
  });
  afterAll(async () => {
    const lines = rig?.replicas.flatMap(({ errors }) => errors) ?? [];
    await rig?.[Symbol.asyncDispose]();
    expect(lines.filter((line) => /unhandled|uncaught|ERR_UNHANDLED/i.test(line))).toEqual([]);
  });
  return {
    get rig() {
      return started();
    },
    by: (raw) => new Stranger(raw, started),
  };
}

/** All items of a stream, to its end or until there is enough. */
export async function collect(
  stream: AsyncIterable<Seen>,
  isEnough: (seen: Seen, all: readonly Seen[]) => boolean = () => false,
): Promise<Seen[]> {
  const all: Seen[] = [];
  for await (const seen of stream) {
    all.push(seen);
    if (isEnough(seen, all)) break;
  }
  return all;
}

/** A stream that is open: its first item is here, and `all` of its items when it has ended. */
export async function opened(stream: AsyncGenerator<Seen>): Promise<{ readonly all: Promise<Seen[]> }> {
  const first = await stream.next();
  const all = (async () => [...(first.done ? [] : [first.value]), ...(await collect(stream))])();
  all.catch(() => undefined); // whoever wants it meets its error there
  return { all };
}

/** So many times longer may everything take: how many processes wanted each core in the last minute. */
export function crowd(): number {
  return Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}

/** The state an item tells. */
export function stateOf({ item }: Seen): TaskState | undefined {
  if (!item) return undefined;
  return 'task' in item ? item.task.status.state : 'statusUpdate' in item ? item.statusUpdate.status.state : undefined;
}

/** The states that items told, in order. */
export function statesOf(items: readonly Seen[]): TaskState[] {
  return items.flatMap((seen) => stateOf(seen) ?? []);
}

/** The task in a stream's first item. */
export function taskIn(seen: Seen | undefined): Task {
  if (seen?.item === undefined || !('task' in seen.item)) throw new Error(`a Task was expected first, ${JSON.stringify(seen)} came`);
  return seen.item.task;
}

/** The texts of all artifacts' parts. */
export function textsIn(task: Task): string[] {
  return (task.artifacts ?? []).flatMap(({ parts }) => textsOfParts(parts));
}

/** The texts that the pieces of a stream told, in order; a snapshot counts with all it holds. */
export function textsOf(items: readonly Seen[]): string[] {
  return items.flatMap(({ item }) => {
    if (item && 'artifactUpdate' in item) return textsOfParts(item.artifactUpdate.artifact.parts);
    return item && 'task' in item ? textsIn(item.task) : [];
  });
}

function textsOfParts(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => ('text' in part ? [part.text] : []));
}

/** What `emit N` writes. */
export function chunks(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${from + index} `);
}

/** The data of an artifact's first part. */
export function dataOf(task: Task, name: string): Json | undefined {
  const part = task.artifacts?.find((artifact) => artifact.name === name)?.parts[0];
  return part && 'data' in part ? part.data : undefined;
}

/** Waits until a task has ended, and gives it. */
export function ended(who: Stranger, id: string, ms?: number): Promise<Task> {
  return standing(who, id, isTerminal, ms);
}

/** Waits until a task stands in a state, and gives it. */
export function standing(who: Stranger, id: string, state: TaskState | ((state: TaskState) => boolean), ms?: number): Promise<Task> {
  const isIt = typeof state === 'function' ? state : (found: TaskState): boolean => found === state;
  return eventually(
    `task ${id} to be ${typeof state === 'function' ? 'ended' : state}`,
    async () => {
      const task = await who.get(id);
      return isIt(task.status.state) && task;
    },
    ms,
  );
}

/** The error that a question is answered with. */
export async function refusalOf(asked: Promise<unknown>): Promise<Refused> {
  const outcome = await asked.then(
    (result) => ({ result }),
    (error: unknown) => error,
  );
  if (outcome instanceof Refused) return outcome;
  throw new Error(`a refusal was expected, ${JSON.stringify(outcome)} came`, { cause: outcome });
}

/**
 * Does something again and again, five times at most, until it took less than so many milliseconds: what is slow by itself is slow each time,
 * a machine that is busy for a moment only once.
 */
export async function inTime(ms: number, act: () => Promise<unknown>): Promise<void> {
  const took: number[] = [];
  do {
    const start = performance.now();
    await act();
    took.push(performance.now() - start);
  } while (took.length < 5 && Math.min(...took) >= ms);
  expect(Math.min(...took), `milliseconds of each try: ${took.map(Math.round).join(', ')}`).toBeLessThan(ms);
}

/** Lets the clock of all replicas go on: what is written from here on has a later time than all before. */
export async function nextMillisecond(): Promise<void> {
  for (const before = Date.now(); Date.now() <= before;) await pause(1);
}

/** The middle one, those that 90 and 99 of 100 are below, and the longest. */
export function percentilesOf(times: readonly number[]): {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly most: number;
} {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), most: at(1) };
}

/** Writes to the file behind the replicas' backs, as an operator or a purge may do, and gives the connection for more. */
export async function exec(store: string, sql: string): Promise<SqlDatabase> {
  const database = (await findDriver()).open(store);
  await eventually('the lock', () => {
    try {
      database.exec(sql);
      return true;
    } catch {
      return false; // a replica writes just now
    }
  });
  return database;
}
