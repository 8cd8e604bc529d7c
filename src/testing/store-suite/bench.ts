import assert from 'node:assert/strict';
import type { Clock } from '../../ground/clock.ts';
import { sleep, systemClock } from '../../ground/clock.ts';
import { silentLogger } from '../../ground/logger.ts';
import { systemRandom } from '../../ground/random.ts';
import type { EntryRow, NewEntry, Scope } from '../../log/entry.ts';
import type { AcceptAsk, AcceptResult, AppendResult, Store, StoreSource, TaskRow, TickAsk, TurnLimits } from '../../log/store.ts';
import { checkLog } from './check-log.ts';

/** The scope of the suite's tasks. */
export const scope: Scope = { agent: 'suite', tenant: '', owner: 'ada' };

/** Limits that no case meets by chance. */
export const limits: TurnLimits = {
  onLost: 'fail',
  triesMax: 3,
  queueMs: 3_600_000,
  pausedTtlMs: 3_600_000,
  retentionMs: 3_600_000,
  entriesMax: 100_000,
  bytesMax: 67_108_864,
};

/** How long a case waits for what must come. */
const UNTIL_MS = 10_000;

/** A status that a turn writes. */
export const status = (state: NonNullable<NewEntry['state']>, body = '{}'): NewEntry => ({ kind: 'status', state, body });

/** A chunk that a turn writes. */
export const chunk = (text: string): NewEntry => ({
  kind: 'artifact',
  body: JSON.stringify({ artifact: { artifactId: 'out', parts: [{ text }] } }),
});

/** A wall clock that a case moves; timers are the machine's. A store with a clock of its own may ignore it. */
class SteppedClock implements Clock {
  #offset = 0;

  monotonic(): number {
    return systemClock.monotonic();
  }

  wall(): number {
    return 1_800_000_000_000 + this.#offset;
  }

  after(ms: number, task: () => void): ReturnType<Clock['after']> {
    return systemClock.after(ms, task);
  }

  pass(ms: number): void {
    this.#offset += ms;
  }
}

/** Two stores on one fresh set of data, as two replicas have them, and the words a case is written in. */
export class StoreBench {
  readonly a: Store;
  readonly b: Store;
  readonly #clock: SteppedClock;
  readonly #tasks = new Set<string>();
  #count = 0;

  private constructor(a: Store, b: Store, clock: SteppedClock) {
    this.a = a;
    this.b = b;
    this.#clock = clock;
  }

  static async open(source: StoreSource): Promise<StoreBench> {
    const clock = new SteppedClock();
    const parts = { clock, random: systemRandom, logger: silentLogger };
    const [a, b] = [source.open(parts).store, source.open(parts).store];
    await a.start();
    await b.start();
    await a.join({ replica: 'A' });
    await b.join({ replica: 'B' });
    return new StoreBench(a, b, clock);
  }

  /** Checks all logs of the case against the invariants, then closes. */
  async close({ isFailed }: { readonly isFailed: boolean }): Promise<void> {
    try {
      if (!isFailed) for (const id of this.#tasks) await this.#check(id);
    } finally {
      await this.a.stop();
      await this.b.stop();
    }
  }

  /** Moves the clock. Stores with a clock of their own need real time as well: follow it with `until`. */
  pass(ms: number): void {
    this.#clock.pass(ms);
  }

  /** Asks until there is an answer. */
  async until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    const end = systemClock.monotonic() + UNTIL_MS;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      assert.ok(systemClock.monotonic() < end, `waited ${UNTIL_MS} ms for ${what}`);
      await sleep(systemClock, 5);
    }
  }

  /** What a replica asks to accept; `over` says what matters. */
  ask(over: Partial<AcceptAsk> = {}): AcceptAsk {
    this.#count += 1;
    const taskId = over.taskId ?? `task-${this.#count}`;
    this.#tasks.add(taskId);
    const isNew = over.isNew ?? over.taskId === undefined;
    return {
      scope,
      taskId,
      isNew,
      ...(isNew ? { contextId: 'context' } : {}),
      key: `key-${this.#count}`,
      digest: 'digest',
      body: JSON.stringify({ message: { messageId: `message-${this.#count}` }, caller: {} }),
      replica: 'A',
      canStart: true,
      whileWorking: 'refuse',
      limits,
      ...over,
    };
  }

  /** Accepts, and the case fails if it is refused. */
  async accept(over: Partial<AcceptAsk> = {}, store: Store = this.a): Promise<Extract<AcceptResult, { kind: 'accepted' }>> {
    const result = await store.accept(this.ask(over));
    assert.equal(result.kind, 'accepted');
    assert.ok(result.kind === 'accepted');
    return result;
  }

  /** A task whose turn A holds. */
  async working(over: Partial<AcceptAsk> = {}): Promise<TaskRow> {
    return (await this.accept(over)).row;
  }

  /** A task whose turn waits for a replica. */
  async queued(over: Partial<AcceptAsk> = {}): Promise<TaskRow> {
    return (await this.accept({ canStart: false, ...over })).row;
  }

  /** A task whose newest turn ended like this. */
  async ended(state: NonNullable<NewEntry['state']>, over: Partial<AcceptAsk> = {}): Promise<TaskRow> {
    return this.append(await this.working(over), [status(state)]);
  }

  /** Appends what comes next under the row's fence, and the case fails if it is refused. */
  async append(row: TaskRow, entries: readonly NewEntry[], store: Store = this.a): Promise<TaskRow> {
    const result = await this.tryAppend(row, entries, store);
    assert.ok(result.kind === 'applied', `applied, not ${result.kind}`);
    return result.row;
  }

  tryAppend(row: TaskRow, entries: readonly NewEntry[], store: Store = this.a): Promise<AppendResult> {
    return store.append({ taskId: row.id, fence: row.fence, from: row.ordinal + 1, entries });
  }

  /** Lets messages wait at a task that works; gives their seqs. */
  async wait(taskId: string, count: number, over: Partial<AcceptAsk> = {}): Promise<readonly number[]> {
    const seqs: number[] = [];
    for (let index = 0; index < count; index += 1)
      seqs.push((await this.accept({ taskId, isNew: false, whileWorking: 'enqueue', ...over })).messageSeq);
    return seqs;
  }

  /** The row as it stands now. */
  async row(taskId: string, store: Store = this.b): Promise<TaskRow> {
    const found = await store.read({ taskId, after: 0 });
    assert.ok(found !== undefined, `task ${taskId} is there`);
    return found.row;
  }

  /** The whole log. */
  async log(taskId: string, store: Store = this.b): Promise<readonly EntryRow[]> {
    const rows: EntryRow[] = [];
    for (;;) {
      const [answer] = await store.entries({ wants: [{ taskId, after: rows.at(-1)?.seq ?? 0 }], entriesMax: 100, bytesMax: 1_000_000 });
      if (answer === undefined || answer.rows.length === 0) return rows;
      rows.push(...answer.rows);
    }
  }

  /** The log in short: kinds, and for statuses the state without its prefix. */
  async words(taskId: string): Promise<readonly string[]> {
    return (await this.log(taskId)).map(({ kind, state }) => state?.replace('TASK_STATE_', '') ?? kind);
  }

  /** What a tick of A asks for, if nothing is said. */
  tickAsk(over: Partial<TickAsk> = {}): TickAsk {
    return { agent: scope.agent, replica: 'A', own: 'look', suspects: [], watched: [], ...over };
  }

  /** Ends the incarnation A as its peers see it: the turns it holds are orphans. */
  async kill(replica: string): Promise<void> {
    await this.b.tick(this.tickAsk({ replica, own: 'leave' }));
  }

  async #check(id: string): Promise<void> {
    const found = await this.b.read({ taskId: id, after: 0 });
    if (found !== undefined) checkLog(found.row, await this.log(id));
  }
}
