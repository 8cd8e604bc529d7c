import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memory } from '../../src/agent/memory.ts';
import { sqlite } from '../../src/agent/sqlite.ts';
import type { Clock } from '../../src/ground/clock.ts';
import { systemClock } from '../../src/ground/clock.ts';
import type { LogFields, Logger } from '../../src/ground/logger.ts';
import type { Random } from '../../src/ground/random.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { Caller, Entry, MessageBody } from '../../src/log/entry.ts';
import type { AcceptResult, CancelResult, Store, StoreSource, TaskRow, WhileWorking } from '../../src/log/store.ts';
import { StoreError } from '../../src/log/store.ts';
import { TaskLog } from '../../src/log/task-log.ts';
import { textOf } from '../../src/protocol/parts.ts';
import type { Struct, Task, TaskState } from '../../src/protocol/types.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { TurnOptions } from '../../src/turn/options.ts';
import { turnLimits, turnSettings } from '../../src/turn/options.ts';
import { TurnRunner } from '../../src/turn/runner.ts';
import type { Run } from '../../src/turn/turn.ts';

/** What the link between one replica and the store does to the calls of that replica. */
export class Link {
  /** `cut`: every call fails at once, nothing done. `hang`: no call ever answers, nothing done: a stopped process as others see it. */
  mode: 'up' | 'cut' | 'hang' | 'read-only' = 'up';
  /** Calls of a verb that are done and then answered with a broken connection. */
  readonly lostAcks: string[] = [];
  /** Calls of a verb that fail with nothing done. */
  readonly lostCalls: string[] = [];
  /** Names of the verbs called so far. */
  readonly calls: string[] = [];
  /** For how long after its failure a call is done all the same; undefined: it is done, or not, as the rest of the link says. */
  late: (verb: string) => number | undefined = () => undefined;
  /** Runs before each call of a verb, and may hold it back or throw. */
  before: (verb: string, ask: unknown) => Promise<void> | void = () => {};
  /** Runs behind each call of a verb, before its answer arrives. */
  after: (verb: string, ask: unknown) => Promise<void> | void = () => {};
  #release: (() => void)[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets go what hangs: each call fails then, for a link that was down that long is gone. */
  mend(): void {
    this.mode = 'up';
    for (const release of this.#release.splice(0)) release();
  }

  over(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        const call = member.bind(target) as (ask: unknown) => Promise<unknown>; // every method of a store is one
        if (name === 'start' || name === 'stop' || typeof name !== 'string') return call;
        return (ask: unknown) => this.#carry(name, ask, call);
      },
    });
  }

  async #carry(verb: string, ask: unknown, call: (ask: unknown) => Promise<unknown>): Promise<unknown> {
    this.calls.push(verb);
    await this.before(verb, ask);
    if (this.mode === 'hang') {
      await new Promise<void>((resolve) => this.#release.push(resolve));
      throw lost(true);
    }
    const lateMs = this.late(verb);
    if (lateMs !== undefined) {
      this.#clock.after(lateMs, () => void call(ask).catch(() => {})); // nobody waits for it any more
      throw lost(true);
    }
    if (this.mode === 'cut' || takeFrom(this.lostCalls, verb)) throw lost(false);
    if (this.mode === 'read-only' && isWrite(verb, ask)) throw lost(false);
    const result = await call(ask);
    await this.after(verb, ask);
    if (takeFrom(this.lostAcks, verb)) throw lost(true);
    return result;
  }
}

const lost = (isUnknown: boolean): StoreError => new StoreError('unavailable', 'the link is down', { isUnknown });

function takeFrom(list: string[], name: string): boolean {
  const index = list.indexOf(name);
  if (index >= 0) list.splice(index, 1);
  return index >= 0;
}

function isWrite(verb: string, ask: unknown): boolean {
  if (verb === 'tick') return typeof ask === 'object' && ask !== null && 'own' in ask && ask.own !== 'look';
  return !['read', 'entries', 'list'].includes(verb);
}

/** A logger that keeps its lines. */
export class Lines implements Logger {
  readonly lines: { readonly level: string; readonly event: string; readonly fields: LogFields }[] = [];
  debug(event: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'debug', event, fields });
  }
  info(event: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'info', event, fields });
  }
  warn(event: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warn', event, fields });
  }
  error(event: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'error', event, fields });
  }
  of(event: string): readonly LogFields[] {
    return this.lines.filter((line) => line.event === event).map(({ fields }) => fields);
  }
}

export interface StageOptions {
  readonly run: Run;
  readonly source?: StoreSource;
  readonly replicas?: number;
  readonly turns?: TurnOptions;
  /** Options of single replicas, over `turns`. */
  readonly turnsOf?: (index: number) => TurnOptions;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Takes the hints away from all replicas: what a wake that is lost or cannot be proven leaves. */
  readonly isWakeless?: boolean;
}

export interface SendOptions {
  readonly at?: number;
  readonly taskId?: string;
  readonly key?: string;
  readonly owner?: string;
  readonly caller?: Caller;
  readonly metadata?: Struct;
  readonly referenceTaskIds?: readonly string[];
  readonly whileWorking?: WhileWorking;
  /** Whether the replica may take the turn itself; as it thinks when absent. */
  readonly canStart?: boolean;
  /** The answer of the accept is lost: nobody hands the grant over. */
  readonly isAnswerLost?: boolean;
}

/** One replica: a log and a runner over a link that a test can break. */
export class StageReplica {
  readonly link: Link;
  readonly log: TaskLog;
  readonly runner: TurnRunner;
  readonly lines: Lines = new Lines();
  readonly turns: TurnOptions;

  constructor(options: StageOptions, { source, clock, index }: { source: StoreSource; clock: Clock; index: number }) {
    const { random = systemRandom } = options;
    this.link = new Link(clock);
    this.turns = { ...options.turns, ...options.turnsOf?.(index) };
    const { store, wake } = source.open({ clock, random, logger: this.lines });
    const quiet = { reach: wake.reach, isProven: false, notify() {}, listen() {}, async start() {}, async stop() {} };
    this.log = new TaskLog({ store: this.link.over(store), wake: options.isWakeless ? quiet : wake, logger: this.lines });
    this.runner = new TurnRunner({
      log: this.log,
      agent: 'Stage',
      run: options.run,
      settings: turnSettings(this.turns),
      clock,
      random,
      logger: this.lines,
    });
  }
}

/** Several replicas over one store, driven as the operations drive them. */
export class Stage implements AsyncDisposable {
  readonly replicas: readonly StageReplica[];
  readonly clock: Clock;
  readonly #random: Random;
  /** The store as nobody's replica: what really stands there. */
  readonly #log: TaskLog;

  private constructor(options: StageOptions) {
    const source = options.source ?? memory();
    this.clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    const parts = { source, clock: this.clock };
    this.replicas = Array.from({ length: options.replicas ?? 1 }, (_, index) => new StageReplica(options, { ...parts, index }));
    const logger = new Lines();
    this.#log = new TaskLog({ ...source.open({ clock: this.clock, random: systemRandom, logger }), logger });
  }

  static async open(options: StageOptions): Promise<Stage> {
    const stage = new Stage(options);
    await stage.#log.start();
    for (const { log, runner } of stage.replicas) {
      await log.start();
      await runner.start();
    }
    return stage;
  }

  replica(index = 0): StageReplica {
    const replica = this.replicas[index];
    if (!replica) throw new Error(`no replica ${index}`);
    return replica;
  }

  /** Accepts a message at one replica and hands the turn over, as the operations do. */
  async accept(text: string, options: SendOptions = {}): Promise<AcceptResult> {
    const { log, runner, turns } = this.replica(options.at);
    const body: MessageBody = {
      message: {
        messageId: this.#random.uuid(),
        role: 'ROLE_USER',
        parts: [{ text }],
        ...(options.referenceTaskIds ? { referenceTaskIds: options.referenceTaskIds } : {}),
      },
      caller: options.caller ?? {},
      ...(options.metadata ? { metadata: options.metadata } : {}),
    };
    const settings = turnSettings(turns);
    using slot = options.canStart === undefined ? runner.reserve() : undefined;
    const result = await log.accept({
      scope: { agent: 'Stage', tenant: '', owner: options.owner ?? '' },
      taskId: options.taskId ?? this.#random.uuid(),
      isNew: options.taskId === undefined,
      ...(options.taskId === undefined ? { contextId: 'context' } : {}),
      key: options.key ?? this.#random.uuid(),
      digest: 'digest',
      body: JSON.stringify(body),
      replica: runner.replica,
      canStart: options.canStart ?? slot !== undefined,
      whileWorking: options.whileWorking ?? settings.whileWorking,
      limits: turnLimits(settings),
    });
    if (result.kind === 'accepted' && !options.isAnswerLost) runner.offer(result.row);
    return result;
  }

  /** The same, for messages that must be accepted; gives the task's id. */
  async send(text: string, options: SendOptions = {}): Promise<string> {
    const result = await this.accept(text, options);
    if (result.kind !== 'accepted') throw new Error(`the message was not accepted: ${result.kind}`);
    return result.row.id;
  }

  async cancel(taskId: string, at = 0): Promise<CancelResult> {
    return this.replica(at).log.cancel({ scope: { agent: 'Stage', tenant: '', owner: '' }, taskId, body: '{}' });
  }

  async row(taskId: string): Promise<TaskRow> {
    const row = await this.#log.row(taskId);
    if (!row) throw new Error(`no task ${taskId}`);
    return row;
  }

  async task(taskId: string): Promise<Task> {
    const found = await this.#log.read(taskId);
    if (!found) throw new Error(`no task ${taskId}`);
    return found.task;
  }

  async isGone(taskId: string): Promise<boolean> {
    return (await this.#log.row(taskId)) === undefined;
  }

  async entries(taskId: string): Promise<readonly Entry[]> {
    const all: Entry[] = [];
    for (let batch = await this.#log.entriesAfter(taskId, 0); batch.length > 0; batch = await this.#log.entriesAfter(taskId, all.length)) {
      all.push(...batch);
    }
    return all;
  }

  /** The log in short: `said:text`, `WORKING`, `WORKING:words`, `id:text`, `id+text`, `id+text.`, `taken:2`, `closed`. */
  async gist(taskId: string): Promise<readonly string[]> {
    return (await this.entries(taskId)).map(gistOf);
  }

  state(taskId: string): Promise<TaskState> {
    return this.row(taskId).then((row) => row.state);
  }

  /** Waits until the task stands in this state. */
  async reached(taskId: string, state: TaskState): Promise<Task> {
    await this.until(async () => (await this.state(taskId)) === state, `${taskId} reaches ${state}`);
    return this.task(taskId);
  }

  /** Waits for a condition, with a deadline; on a virtual clock by moving it on. */
  async until(condition: () => boolean | Promise<boolean>, what: string, ms = 15_000): Promise<void> {
    const end = this.clock.monotonic() + ms;
    while (!(await condition())) {
      if (this.clock.monotonic() > end) throw new Error(`not within ${ms} ms: ${what}`);
      await this.pass(5);
    }
  }

  /** Lets time pass: on a virtual clock none of it is real. */
  async pass(ms: number): Promise<void> {
    if (this.clock instanceof VirtualClock) await this.clock.advance(ms);
    else await new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Lets time pass until the work is done. */
  async during(work: Promise<unknown>): Promise<void> {
    const state = { isDone: false };
    const done = work.finally(() => (state.isDone = true));
    while (!state.isDone) await this.pass(5);
    await done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { link } of this.replicas) link.mend();
    await this.during(Promise.all(this.replicas.map(({ runner }) => runner.stop())));
    for (const { log } of this.replicas) await log.stop();
    await this.#log.stop();
  }
}

function gistOf(entry: Entry): string {
  switch (entry.kind) {
    case 'message':
      return `said:${textOf(entry.message)}`;
    case 'status': {
      const words = entry.message ? `:${textOf(entry.message)}` : '';
      return `${entry.state.slice('TASK_STATE_'.length)}${words}`;
    }
    case 'artifact':
      return `${entry.artifact.artifactId}${entry.append ? '+' : ':'}${textOf(entry.artifact.parts)}${entry.lastChunk ? '.' : ''}`;
    case 'taken':
      return `taken:${entry.messages.join(',')}`;
    default:
      return entry.kind;
  }
}

/** What stands under `chorus/error` of a task. */
export function errorOf({ metadata }: Task): Struct {
  const error = metadata?.['chorus/error'];
  if (typeof error !== 'object' || error === null || Array.isArray(error)) throw new Error('the task carries no error');
  return error as Struct; // an object that is neither null nor an array
}

/** What no type allows, and untyped code gives all the same. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what the place wants
export function untyped<T>(value: unknown): T {
  return value as T; // it is not: that is the point
}

/** A promise with its ends in hand. */
export function gate<T = void>(): { readonly promise: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => (open = resolve));
  return { promise, open };
}

/** The stores that the same behaviour is shown on. */
export const sources: readonly { readonly name: string; readonly make: () => StoreSource & { readonly remove: () => void } }[] = [
  { name: 'memory', make: () => ({ ...memory(), remove: () => {} }) },
  {
    name: 'sqlite',
    make: () => {
      const dir = mkdtempSync(join(tmpdir(), 'chorus-turn-'));
      return { ...sqlite(join(dir, 'tasks.db')), remove: () => rmSync(dir, { recursive: true, force: true }) };
    },
  },
];

/** The A2AError code of a promise that must fail, or what it gave. */
export async function codeOf(work: PromiseLike<unknown>): Promise<string> {
  try {
    return `no error: ${JSON.stringify(await work)}`;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : `not an A2AError: ${String(error)}`;
  }
}
