import type { EntryRow, Scope } from '../log/entry.ts';
import type { KeyRecord } from '../log/rules/accept.ts';
import type { Change } from '../log/rules/change.ts';
import { isDue } from '../log/rules/change.ts';
import { isPurgeable } from '../log/rules/settle.ts';
import type { TaskRow } from '../log/store.ts';
import { isTerminal } from '../protocol/states.ts';
import { Heap } from './heap.ts';

/** What a message came under. */
interface Key {
  readonly name: string;
  readonly record: KeyRecord;
}

/** A task as memory keeps it, with its neighbours in the list of its scope. */
export class MemoryTask {
  row: TaskRow;
  /** Order of creation: decides between turns queued at the same millisecond, as a table's number does. */
  readonly no: number;
  readonly entries: EntryRow[] = [];
  /** The scope's list: a task stays in its scope. */
  readonly list: ScopeList;
  newer: MemoryTask | undefined;
  older: MemoryTask | undefined;
  /** The key of the message that opened the task; most tasks have no other, so a map is made for those that do. */
  #firstKey: Key | undefined;
  #otherKeys: Map<string, KeyRecord> | undefined;

  constructor(row: TaskRow, no: number, list: ScopeList) {
    this.row = row;
    this.no = no;
    this.list = list;
  }

  keyRecord(name: string): KeyRecord | undefined {
    return this.#firstKey?.name === name ? this.#firstKey.record : this.#otherKeys?.get(name);
  }

  addKey(key: Key): void {
    if (this.#firstKey === undefined) this.#firstKey = key;
    else (this.#otherKeys ??= new Map()).set(key.name, key.record);
  }
}

/** The tasks of one scope, newest status first, then by id: the order of ListTasks (LIST-03, AMB-11). */
export interface ScopeList {
  readonly name: string;
  newest: MemoryTask | undefined;
  size: number;
}

const scopeName = ({ agent, tenant, owner }: Scope): string => JSON.stringify([agent, tenant, owner]);

const isNewer = (one: TaskRow, other: TaskRow): boolean =>
  one.statusAt > other.statusAt || (one.statusAt === other.statusAt && one.id > other.id);

/** All tasks of a memory store, with the orders in which the verbs look for them: no verb walks over all tasks. */
export class MemoryTasks {
  readonly #tasks = new Map<string, MemoryTask>();
  readonly #lists = new Map<string, ScopeList>();
  readonly #queues = new Map<string, Heap<MemoryTask>>();
  readonly #held = new Map<string, Set<MemoryTask>>();
  /** Queued and paused turns by the time the clock settles them. */
  readonly #settling = new Heap<MemoryTask>(isDueBefore);
  /** Ended tasks by the end of their retention. */
  readonly #retained = new Heap<MemoryTask>(isDueBefore);
  #lastNo = 0;
  #bytes = 0;

  /** What all of it roughly costs. */
  get bytes(): number {
    return this.#bytes;
  }

  get(id: string): MemoryTask | undefined {
    return this.#tasks.get(id);
  }

  list(scope: Scope): ScopeList | undefined {
    return this.#lists.get(scopeName(scope));
  }

  queue(agent: string): Heap<MemoryTask> | undefined {
    return this.#queues.get(agent);
  }

  heldBy(replica: string): Iterable<MemoryTask> {
    return this.#held.get(replica) ?? [];
  }

  holders(): Iterable<string> {
    return this.#held.keys();
  }

  /** Queued and paused turns past their time, the longest overdue first. */
  overdue(limit: number, now: number): readonly MemoryTask[] {
    return this.#settling.select(limit, ({ row }) => (isDue(row, now) ? 'take' : 'stop'));
  }

  /** Ended tasks past their retention, the oldest first. */
  expired(limit: number, now: number): readonly MemoryTask[] {
    return this.#retained.select(limit, ({ row }) => (isPurgeable(row, now) ? 'take' : 'stop'));
  }

  /** Writes a change: row, entries and key together, in one turn of the loop. */
  write({ row, entries }: Change, key?: Key): void {
    const known = this.#tasks.get(row.id);
    const task = known ?? this.#create(row);
    const isMoved = known === undefined || known.row.statusAt !== row.statusAt;
    if (known !== undefined) this.#leave(known);
    if (known !== undefined && isMoved) this.#unlink(known);
    this.#bytes += sizeOf(row) - (known === undefined ? 0 : sizeOf(known.row));
    task.row = row;
    for (const entry of entries) task.entries.push(entry);
    if (key !== undefined) task.addKey(key);
    this.#enter(task);
    if (isMoved) this.#link(task);
  }

  remove(task: MemoryTask): void {
    this.#leave(task);
    this.#unlink(task);
    this.#bytes -= sizeOf(task.row);
    this.#tasks.delete(task.row.id);
    if (task.list.size === 0) this.#lists.delete(task.list.name);
  }

  #create(row: TaskRow): MemoryTask {
    this.#lastNo += 1;
    const task = new MemoryTask(row, this.#lastNo, this.#listOf(row));
    this.#tasks.set(row.id, task);
    return task;
  }

  #listOf(scope: Scope): ScopeList {
    const name = scopeName(scope);
    const known = this.#lists.get(name);
    if (known !== undefined) return known;
    const list: ScopeList = { name, newest: undefined, size: 0 };
    this.#lists.set(name, list);
    return list;
  }

  /** Takes the task out of the orders its row stands in; `#enter` puts it where the new row belongs. */
  #leave(task: MemoryTask): void {
    const { row } = task;
    if (row.dueAt !== undefined) this.#dues(row).remove(task);
    if (row.phase === 'queued') this.#queues.get(row.agent)?.remove(task);
    if (row.holder !== undefined) this.#letGo(row.holder, task);
  }

  #enter(task: MemoryTask): void {
    const { row } = task;
    if (row.dueAt !== undefined) this.#dues(row).add(task);
    if (row.phase === 'queued') this.#queueOf(row.agent).add(task);
    if (row.holder !== undefined) this.#hold(row.holder, task);
  }

  #dues(row: TaskRow): Heap<MemoryTask> {
    return isTerminal(row.state) ? this.#retained : this.#settling;
  }

  #queueOf(agent: string): Heap<MemoryTask> {
    const queue = this.#queues.get(agent) ?? new Heap<MemoryTask>(isQueuedBefore);
    this.#queues.set(agent, queue);
    return queue;
  }

  #hold(holder: string, task: MemoryTask): void {
    const held = this.#held.get(holder) ?? new Set();
    this.#held.set(holder, held.add(task));
  }

  #letGo(holder: string, task: MemoryTask): void {
    const held = this.#held.get(holder);
    held?.delete(task);
    if (held?.size === 0) this.#held.delete(holder);
  }

  /** A changed status is nearly always the newest: the walk from the front is short, where a sorted tree would cost each change O(log n). */
  #link(task: MemoryTask): void {
    const { list } = task;
    let newer: MemoryTask | undefined;
    let older = list.newest;
    for (; older !== undefined && isNewer(older.row, task.row); older = older.older) newer = older;
    task.newer = newer;
    task.older = older;
    if (older !== undefined) older.newer = task;
    if (newer === undefined) list.newest = task;
    else newer.older = task;
    list.size += 1;
  }

  #unlink(task: MemoryTask): void {
    const { list } = task;
    if (task.newer === undefined) list.newest = task.older;
    else task.newer.older = task.older;
    if (task.older !== undefined) task.older.newer = task.newer;
    task.newer = undefined;
    task.older = undefined;
    list.size -= 1;
  }
}

/** Bytes of a task and of an entry beside their bodies, as measured: small ones must not look free (P11). */
const TASK_BYTES = 2_048;
const ENTRY_BYTES = 256;

function sizeOf({ seq, bytes }: TaskRow): number {
  return TASK_BYTES + seq * ENTRY_BYTES + bytes;
}

function isDueBefore(one: MemoryTask, other: MemoryTask): boolean {
  return (one.row.dueAt ?? 0) < (other.row.dueAt ?? 0) || (one.row.dueAt === other.row.dueAt && one.no < other.no);
}

function isQueuedBefore(one: MemoryTask, other: MemoryTask): boolean {
  return (one.row.queuedAt ?? 0) < (other.row.queuedAt ?? 0) || (one.row.queuedAt === other.row.queuedAt && one.no < other.no);
}
