import type { Clock } from '../ground/clock.ts';
import type { EntryRow } from '../log/entry.ts';
import { decideAccept, isInScope } from '../log/rules/accept.ts';
import { decideAppend } from '../log/rules/append.ts';
import { isDue } from '../log/rules/change.ts';
import type { ReplicaRow } from '../log/rules/living.ts';
import { DEAD_KEPT_MS, declareDead, isDead, ownBeat } from '../log/rules/living.ts';
import type { Decision } from '../log/rules/settle.ts';
import { decideCancel, decideClaim, decideRelease, decideResume, decideSweep } from '../log/rules/settle.ts';
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, StoreError } from '../log/store.ts';
import type {
  AcceptAsk,
  AcceptResult,
  AppendAsk,
  AppendResult,
  CancelAsk,
  CancelResult,
  ClaimAsk,
  EntriesAsk,
  EntriesOfTask,
  ListAsk,
  ListResult,
  ReadAsk,
  ReleaseAsk,
  ReleaseResult,
  ResumeAsk,
  ResumeResult,
  Store,
  StoreParts,
  TaskRow,
  TickAsk,
  TickResult,
} from '../log/store.ts';
import { Budget } from './budget.ts';
import type { MemoryTask } from './memory-tasks.ts';
import { MemoryTasks } from './memory-tasks.ts';

/** What all replicas of one memory source share. It lives as long as the process. */
export interface MemoryData {
  readonly tasks: MemoryTasks;
  readonly replicas: Map<string, ReplicaRow>;
  readonly bytesMax: number;
}

/** Bytes of tasks that a memory source takes unless told otherwise: what a process of Node's usual size can carry beside its work. */
export const MEMORY_BYTES_MAX: number = 1_024 * 1_048_576;

/** The data of a new, empty memory source. */
export function memoryData(bytesMax: number = MEMORY_BYTES_MAX): MemoryData {
  return { tasks: new MemoryTasks(), replicas: new Map(), bytesMax };
}

/** A store over shared data in this process; every replica opens its own. */
export function openMemory(data: MemoryData, parts: Pick<StoreParts, 'clock'>): Store {
  return new MemoryStore(data, parts.clock);
}

/**
 * The contract over maps. A verb decides and writes in one turn of the loop, which is its lock; like a store elsewhere it answers later,
 * so code that works on it does not come to rely on an answer at once.
 */
class MemoryStore implements Store {
  readonly #tasks: MemoryTasks;
  readonly #replicas: Map<string, ReplicaRow>;
  readonly #bytesMax: number;
  readonly #clock: Clock;

  constructor({ tasks, replicas, bytesMax }: MemoryData, clock: Clock) {
    this.#tasks = tasks;
    this.#replicas = replicas;
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async join({ replica }: { readonly replica: string }): Promise<void> {
    if (!this.#replicas.has(replica)) this.#replicas.set(replica, { replica, beat: 0 });
  }

  async accept(ask: AcceptAsk): Promise<AcceptResult> {
    const task = this.#tasks.get(ask.taskId);
    const { result, change } = decideAccept(task?.row, task?.keyRecord(ask.key), ask, this.#clock.wall());
    if (change !== undefined) {
      this.#checkRoom(ask);
      this.#tasks.write(change, { name: ask.key, record: change.key });
    }
    return result;
  }

  async append(ask: AppendAsk): Promise<AppendResult> {
    return this.#carryOut(decideAppend(this.#tasks.get(ask.taskId)?.row, ask, this.#clock.wall()));
  }

  async cancel(ask: CancelAsk): Promise<CancelResult> {
    return this.#carryOut(decideCancel(this.#tasks.get(ask.taskId)?.row, ask, this.#clock.wall()));
  }

  async release(ask: ReleaseAsk): Promise<ReleaseResult> {
    return this.#carryOut(decideRelease(this.#tasks.get(ask.taskId)?.row, ask, this.#clock.wall()));
  }

  async resume(ask: ResumeAsk): Promise<ResumeResult> {
    return this.#carryOut(decideResume(this.#tasks.get(ask.taskId)?.row, ask, this.#clock.wall()));
  }

  async claim(ask: ClaimAsk): Promise<readonly TaskRow[]> {
    const now = this.#clock.wall();
    const claimed: TaskRow[] = [];
    // those past their time are the sweep's, and must not keep the others from being claimed
    const queue = this.#tasks.queue(ask.agent)?.select(ask.limit, ({ row }) => (isDue(row, now) ? 'skip' : 'take'));
    for (const { row } of queue ?? []) {
      const change = decideClaim(row, ask.replica, now);
      if (change === undefined) continue;
      this.#tasks.write(change);
      claimed.push(change.row);
    }
    return claimed;
  }

  async sweep({ limit }: { readonly limit: number }): Promise<readonly TaskRow[]> {
    const now = this.#clock.wall();
    const swept: TaskRow[] = [];
    for (const { task, isHolderDead } of this.#sweepable(limit, now)) {
      const change = decideSweep(task.row, isHolderDead, now);
      if (change === undefined) continue;
      this.#tasks.write(change);
      swept.push(change.row);
    }
    return swept;
  }

  async tick(ask: TickAsk): Promise<TickResult> {
    const now = this.#clock.wall();
    this.#beat(ask, now);
    const queue = this.#tasks.queue(ask.agent);
    const oldestQueuedAt = queue?.first?.row.queuedAt;
    return {
      isAlive: !isDead(this.#replicas.get(ask.replica)),
      beats: this.#beatsOfOthers(ask.replica),
      held: [...this.#tasks.heldBy(ask.replica)].toSorted(byNumber).map(({ row }) => row),
      queued: queue?.size ?? 0,
      ...(oldestQueuedAt === undefined ? {} : { oldestQueuedAt }),
      hasSweepable: this.#sweepable(1, now).length > 0,
      ...this.#watched(ask.watched),
    };
  }

  async read({ scope, taskId, after }: ReadAsk): Promise<{ readonly row: TaskRow; readonly rows: readonly EntryRow[] } | undefined> {
    const task = this.#tasks.get(taskId);
    if (task === undefined || (scope !== undefined && !isInScope(task.row, scope))) return undefined;
    const budget = new Budget({ entriesMax: BATCH_ENTRIES_MAX, bytesMax: BATCH_BYTES_MAX });
    return { row: task.row, rows: budget.take(above(task, { after, most: budget.entriesLeft })) ?? [] };
  }

  async entries(ask: EntriesAsk): Promise<readonly EntriesOfTask[]> {
    const budget = new Budget(ask);
    const answers: EntriesOfTask[] = [];
    for (const { taskId, after, upTo } of ask.wants) {
      if (budget.isSpent) break;
      const task = this.#tasks.get(taskId);
      const rows = task === undefined ? [] : budget.take(above(task, { after, upTo, kinds: ask.kinds, most: budget.entriesLeft }));
      if (rows === undefined) break;
      answers.push({ taskId, rows, isGone: task === undefined });
    }
    return answers;
  }

  async list(ask: ListAsk): Promise<ListResult> {
    const list = this.#tasks.list(ask.scope);
    const rows: TaskRow[] = [];
    let total = 0;
    const isFiltered = ask.contextId !== undefined || ask.state !== undefined || ask.statusAtMin !== undefined;
    for (let task = list?.newest; task !== undefined; task = task.older) {
      if (!isFiltered && rows.length >= ask.limit) break;
      const { row } = task;
      if (row.statusAt < (ask.statusAtMin ?? -Infinity)) break;
      if ((ask.contextId ?? row.contextId) !== row.contextId || (ask.state ?? row.state) !== row.state) continue;
      total += 1;
      if (rows.length < ask.limit && isAfter(row, ask.after)) rows.push(row);
    }
    return { rows, total: isFiltered ? total : (list?.size ?? 0) };
  }

  async purge({ limit }: { readonly limit: number }): Promise<readonly string[]> {
    const now = this.#clock.wall();
    const expired = this.#tasks.expired(limit, now);
    for (const task of expired) this.#tasks.remove(task);
    for (const { replica, diedAt } of this.#replicas.values())
      if (diedAt !== undefined && diedAt + DEAD_KEPT_MS <= now && !hasAny(this.#tasks.heldBy(replica))) this.#replicas.delete(replica);
    return expired.map(({ row }) => row.id);
  }

  /** As a disk that is full: nothing new is taken until a purge has made room. What runs may end, and tasks have limits of their own. */
  #checkRoom({ body }: AcceptAsk): void {
    if (this.#tasks.bytes + body.length <= this.#bytesMax) return;
    throw new StoreError('unavailable', `The memory store is full (${this.#bytesMax} bytes): ended tasks make room when they are purged.`);
  }

  #carryOut<Result>({ result, change }: Decision<Result>): Result {
    if (change !== undefined) this.#tasks.write(change);
    return result;
  }

  /** First the own beat: a replica that is told it is dead has no say about others. */
  #beat({ replica, own, suspects }: TickAsk, now: number): void {
    const mine = ownBeat(this.#replicas.get(replica), own, now);
    if (mine !== undefined) this.#replicas.set(replica, mine);
    if (isDead(this.#replicas.get(replica))) return;
    for (const seen of suspects) {
      const dead = declareDead(this.#replicas.get(seen.replica), seen, now);
      if (dead !== undefined) this.#replicas.set(seen.replica, dead);
    }
  }

  #beatsOfOthers(me: string): TickResult['beats'] {
    const others: { replica: string; beat: number }[] = [];
    for (const { replica, beat, diedAt } of this.#replicas.values())
      if (replica !== me && diedAt === undefined) others.push({ replica, beat });
    return others;
  }

  #sweepable(limit: number, now: number): readonly { readonly task: MemoryTask; readonly isHolderDead: boolean }[] {
    const dead = [...this.#tasks.holders()].filter((holder) => isDead(this.#replicas.get(holder)));
    const orphans = dead.flatMap((holder) => [...this.#tasks.heldBy(holder)]).toSorted(byNumber);
    const found = orphans.slice(0, limit).map((task) => ({ task, isHolderDead: true }));
    const overdue = this.#tasks.overdue(limit - found.length, now).map((task) => ({ task, isHolderDead: false }));
    return [...found, ...overdue];
  }

  #watched(watched: TickAsk['watched']): Pick<TickResult, 'grown' | 'gone'> {
    const grown: { taskId: string; seq: number }[] = [];
    const gone: string[] = [];
    for (const { taskId, seq } of watched) {
      const task = this.#tasks.get(taskId);
      if (task === undefined) gone.push(taskId);
      else if (task.row.seq > seq) grown.push({ taskId, seq: task.row.seq });
    }
    return { grown, gone };
  }
}

interface Range {
  readonly after: number;
  readonly upTo?: number | undefined;
  readonly kinds?: readonly string[] | undefined;
  /** No more than so many are wanted. */
  readonly most: number;
}

/** Entries are dense, so an entry's place in the array is its seq. */
function above({ entries }: MemoryTask, { after, upTo = Infinity, kinds, most }: Range): Iterable<EntryRow> {
  const from = Math.max(0, after);
  if (kinds !== undefined) return ofKinds(entries.slice(from, upTo), kinds);
  return entries.slice(from, Math.min(from + most, upTo));
}

function ofKinds(entries: readonly EntryRow[], kinds: readonly string[]): readonly EntryRow[] {
  return entries.filter(({ kind }) => kinds.includes(kind));
}

const byNumber = (one: MemoryTask, other: MemoryTask): number => one.no - other.no;

function isAfter(row: TaskRow, cursor: ListAsk['after']): boolean {
  if (cursor === undefined) return true;
  return row.statusAt < cursor.statusAt || (row.statusAt === cursor.statusAt && row.id < cursor.id);
}

function hasAny(items: Iterable<unknown>): boolean {
  for (const _ of items) return true;
  return false;
}
