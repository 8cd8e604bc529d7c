import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../src/ground/logger.ts';
import type { Logger } from '../../src/ground/logger.ts';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { NewEntry } from '../../src/log/entry.ts';
import type { Store, StoreSource, TaskRow } from '../../src/log/store.ts';
import { TaskLog } from '../../src/log/task-log.ts';
import { memory } from '../../src/agent/memory.ts';
import { sqlite } from '../../src/agent/sqlite.ts';
import type { Call, StreamItem } from '../../src/operations/call.ts';
import { createOperations } from '../../src/operations/operations.ts';
import type { ReplicaOperations } from '../../src/operations/operations.ts';
import type { AgentCapabilities, Json, SendMessageRequest, SendMessageResponse, Task, TaskState } from '../../src/protocol/types.ts';
import { turnSettings } from '../../src/turn/options.ts';
import type { TurnOptions } from '../../src/turn/options.ts';
import type { Reply } from '../../src/turn/turn.ts';

/** The stores that tests of several replicas run on. */
export const kinds = ['memory', 'sqlite'] as const;

export interface StageOptions {
  /** Memory unless told otherwise. */
  readonly kind?: (typeof kinds)[number];
  readonly replicas?: number;
  readonly turns?: TurnOptions;
  readonly blockingMs?: number;
  readonly streamUntil?: 'answered' | 'ended';
  readonly capabilities?: AgentCapabilities;
  readonly reply?: Reply;
  readonly logger?: Logger;
  /** Puts something between the log and the store of replica `index`. */
  readonly between?: (store: Store, index: number) => Store;
}

/** One replica without a turn runner: the test itself says what the agent does. */
export class StageReplica {
  readonly id: string;
  readonly log: TaskLog;
  readonly operations: ReplicaOperations;
  /** What a runner would be told. */
  readonly turns: {
    readonly replica: string;
    canStart: boolean;
    queued: number;
    reserve(): Disposable | undefined;
    offer(row: TaskRow): void;
  };
  readonly offered: TaskRow[] = [];

  constructor(index: number, source: StoreSource, options: StageOptions) {
    this.id = `replica-${index}`;
    const logger = options.logger ?? silentLogger;
    const { store, wake } = source.open({ clock: systemClock, random: systemRandom, logger });
    this.log = new TaskLog({ store: options.between?.(store, index) ?? store, wake, logger });
    this.turns = {
      replica: this.id,
      canStart: true,
      queued: 0,
      reserve() {
        return this.canStart ? { [Symbol.dispose]() {} } : undefined;
      },
      offer: (row) => this.offered.push(row),
    };
    this.operations = createOperations({
      agent: 'Stage',
      capabilities: options.capabilities ?? { streaming: true },
      log: this.log,
      turns: this.turns,
      settings: turnSettings(options.turns ?? {}),
      ...(options.blockingMs === undefined ? {} : { blockingMs: options.blockingMs }),
      ...(options.streamUntil === undefined ? {} : { streamUntil: options.streamUntil }),
      ...(options.reply ? { reply: options.reply } : {}),
      clock: systemClock,
      random: systemRandom,
      logger,
    });
  }

  /** Plays the agent of an open turn of this task, as a runner would: appends under the row's fence. */
  async actor(taskId: string): Promise<Actor> {
    const row = await this.log.row(taskId);
    if (!row) throw new Error(`no task ${taskId}`);
    return new Actor(this.log, row);
  }
}

/** The agent's side of one run, in the hands of a test. */
export class Actor {
  readonly #log: TaskLog;
  readonly #row: TaskRow;
  #ordinal: number;

  constructor(log: TaskLog, row: TaskRow) {
    this.#log = log;
    this.#row = row;
    this.#ordinal = row.ordinal;
  }

  async append(...entries: NewEntry[]): Promise<string> {
    const result = await this.#log.append({ taskId: this.#row.id, fence: this.#row.fence, from: this.#ordinal + 1, entries });
    if (result.kind === 'applied') this.#ordinal += entries.length;
    return result.kind;
  }

  status(state: TaskState, text?: string, metadata?: Json): Promise<string> {
    const message = text === undefined ? {} : { message: { messageId: `m-${text}`, role: 'ROLE_AGENT', parts: [{ text }] } };
    return this.append({ kind: 'status', state, body: JSON.stringify({ ...message, ...(metadata ? { metadata } : {}) }) });
  }

  chunk(text: string, artifactId = 'out'): Promise<string> {
    return this.append({ kind: 'artifact', body: JSON.stringify({ artifact: { artifactId, parts: [{ text }] }, append: true }) });
  }

  take(...messages: number[]): Promise<string> {
    return this.append({ kind: 'taken', taken: messages, body: JSON.stringify({ messages }) });
  }
}

/** Several replicas over one source. */
export class Stage implements AsyncDisposable {
  readonly replicas: readonly StageReplica[];
  readonly #folder: string | undefined;

  private constructor(replicas: readonly StageReplica[], folder: string | undefined) {
    this.replicas = replicas;
    this.#folder = folder;
  }

  static async open(options: StageOptions = {}): Promise<Stage> {
    const folder = options.kind === 'sqlite' ? await mkdtemp(join(tmpdir(), 'chorus-stage-')) : undefined;
    const source = folder === undefined ? memory() : sqlite(join(folder, 'tasks.db'));
    const replicas = Array.from({ length: options.replicas ?? 1 }, (_, index) => new StageReplica(index, source, options));
    const stage = new Stage(replicas, folder);
    for (const { log, id } of stage.replicas) {
      await log.start();
      await log.join(id);
    }
    return stage;
  }

  replica(index = 0): StageReplica {
    const replica = this.replicas[index];
    if (!replica) throw new Error(`no replica ${index}`);
    return replica;
  }

  get operations(): ReplicaOperations {
    return this.replica().operations;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { operations, log } of this.replicas) {
      operations.close();
      await log.stop();
    }
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}

let messages = 0;

/** A call of the anonymous caller, unless told otherwise. */
export function callOf(details: Partial<Call> = {}): Call {
  return { caller: {}, tenant: '', signal: new AbortController().signal, extensions: [], ...details };
}

/** A request with one text. */
export function say(text: string, more: Partial<SendMessageRequest['message']> = {}): SendMessageRequest {
  messages += 1;
  return { message: { messageId: `message-${messages}`, role: 'ROLE_USER', parts: [{ text }], ...more } };
}

/** The same, not waiting for the end. */
export function sayAndGo(text: string, more: Partial<SendMessageRequest['message']> = {}): SendMessageRequest {
  return { ...say(text, more), configuration: { returnImmediately: true } };
}

/** The task of an answer that must be one. */
export function taskOf(answer: SendMessageResponse): Task {
  if ('task' in answer) return answer.task;
  throw new Error('a task was expected, a message came');
}

/** Reads a stream in the hands of a test, one item at a time. */
export class Reader {
  readonly items: StreamItem[] = [];
  readonly #iterator: AsyncIterator<StreamItem>;

  constructor(stream: AsyncIterable<StreamItem>) {
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  async next(): Promise<StreamItem | undefined> {
    const result = await this.#iterator.next();
    if (result.done) return undefined;
    this.items.push(result.value);
    return result.value;
  }

  async rest(): Promise<readonly StreamItem[]> {
    while (await this.next());
    return this.items;
  }

  async leave(): Promise<void> {
    await this.#iterator.return?.();
  }
}

/** What a stream showed, in short: `task:WORKING`, `status:COMPLETED`, `chunk:text`, `message`. */
export function gist({ item }: StreamItem): string {
  if ('task' in item) return `task:${item.task.status.state.slice(11)}`;
  if ('statusUpdate' in item) return `status:${item.statusUpdate.status.state.slice(11)}`;
  if ('artifactUpdate' in item)
    return `chunk:${item.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')}`;
  return 'message';
}

/** The A2AError code of a promise that must fail, or what it gave. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    return `no error: ${JSON.stringify(await work)}`;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : `not an A2AError: ${String(error)}`;
  }
}

/** Waits for a condition, with a deadline. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, ms = 15_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
