import type { Signal } from '../ground/signal.ts';
import type { Logger } from '../ground/logger.ts';
import type { Service } from '../ground/service.ts';
import { isTerminal } from '../protocol/states.ts';
import type { Task } from '../protocol/types.ts';
import type { Entry, EntryKind, Scope } from './entry.ts';
import { type Cursor, Follower } from './follow.ts';
import { TaskFold } from './fold.ts';
import { Folds } from './folds.ts';
import { Latches, type Watched } from './latches.ts';
import { parseEntry } from './parse.ts';
import {
  type AcceptAsk,
  type AcceptResult,
  type AppendAsk,
  type AppendResult,
  BATCH_BYTES_MAX,
  BATCH_ENTRIES_MAX,
  type CancelAsk,
  type CancelResult,
  type ClaimAsk,
  type ListAsk,
  type ListResult,
  type ReleaseAsk,
  type ReleaseResult,
  type ResumeAsk,
  type ResumeResult,
  type Store,
  type TaskRow,
  type TickAsk,
  type TickResult,
} from './store.ts';
import { Tail } from './tail.ts';
import type { Hint, Wake } from './wake.ts';

/** What the turn runner wants to hear of hints; each is only a reason to look. */
export interface TurnListener {
  /** A turn may wait for a replica. */
  onQueued(): void;
  /** A fence may have risen, or an interrupt may be asked for. */
  onMoved(taskId: string): void;
  /** More may stand in the log of this task: a message for an open turn's inbox, perhaps. */
  onGrew(taskId: string, seq: number): void;
  onAny(): void;
}

/** A task as of one moment. */
export interface Snapshot {
  readonly row: TaskRow;
  /** The fold of all entries up to `row.seq`. */
  readonly task: Task;
}

/**
 * The log as the floors above see it: the store's verbs, each followed by its hints once its commit is known (P2), and the shared reads.
 * One per replica.
 */
export class TaskLog implements Service {
  readonly #store: Store;
  readonly #wake: Wake;
  readonly #logger: Logger;
  readonly #latches = new Latches();
  readonly #tail: Tail;
  readonly #folds: Folds;
  #listener: TurnListener | undefined;

  constructor({ store, wake, logger }: { readonly store: Store; readonly wake: Wake; readonly logger: Logger }) {
    this.#store = store;
    this.#wake = wake;
    this.#logger = logger;
    this.#tail = new Tail(store);
    this.#folds = new Folds(this.#tail);
  }

  async start(): Promise<void> {
    this.#wake.listen((hints) => this.#hear(hints));
    await this.#store.start();
    await this.#wake.start();
  }

  async stop(): Promise<void> {
    await this.#wake.stop();
    await this.#store.stop();
  }

  /** True while hints of other replicas are known to arrive. */
  get isWakeProven(): boolean {
    return this.#wake.isProven;
  }

  /** Sets the one listener of turn hints. */
  listen(listener: TurnListener): void {
    this.#listener = listener;
  }

  // -- verbs that write: hints go out after the acknowledgement, for what the row shows now --

  async accept(ask: AcceptAsk): Promise<AcceptResult> {
    const result = await this.#store.accept(ask);
    if (result.kind !== 'accepted' || result.isRepeat) return result;
    if (result.messageSeq === 1) this.#folds.forget(ask.taskId); // a key that outlived its purged task begins the log anew, under the same id
    if (result.written) this.#tail.offer(ask.taskId, result.written);
    this.#tell(result.row, result.row.isInterrupted ? 'moved' : 'grew');
    return result;
  }

  async append(ask: AppendAsk): Promise<AppendResult> {
    const result = await this.#store.append(ask);
    if (result.kind !== 'applied') return result;
    // what nobody follows here is not worth its parsing: whoever comes later reads it from the store
    if (result.written && this.#latches.isFollowed(ask.taskId)) this.#tail.offer(ask.taskId, result.written);
    this.#tell(result.row, 'grew');
    return result;
  }

  async cancel(ask: CancelAsk): Promise<CancelResult> {
    const result = await this.#store.cancel(ask);
    if (result.kind === 'canceled' && !result.isRepeat) this.#tell(result.row, 'moved');
    return result;
  }

  async release(ask: ReleaseAsk): Promise<ReleaseResult> {
    const result = await this.#store.release(ask);
    if (result.kind === 'released') this.#tell(result.row, 'moved');
    return result;
  }

  async resume(ask: ResumeAsk): Promise<ResumeResult> {
    const result = await this.#store.resume(ask);
    if (result.kind === 'resumed') this.#tell(result.row, 'grew');
    return result;
  }

  async claim(ask: ClaimAsk): Promise<readonly TaskRow[]> {
    const rows = await this.#store.claim(ask);
    for (const row of rows) this.#tell(row, 'grew');
    return rows;
  }

  async sweep(limit: number): Promise<readonly TaskRow[]> {
    const rows = await this.#store.sweep({ limit });
    for (const row of rows) this.#tell(row, 'moved');
    return rows;
  }

  async purge(limit: number): Promise<readonly string[]> {
    const ids = await this.#store.purge({ limit });
    // followers of a purged task end with one item (design section 5): let them look
    this.#emit(ids.map((taskId) => ({ kind: 'grew', taskId, seq: PURGED_SEQ })));
    return ids;
  }

  /** Enters a new incarnation. */
  join(replica: string): Promise<void> {
    return this.#store.join({ replica });
  }

  /** The replica's one periodic query; what it says of watched tasks goes to their followers here. */
  async tick(ask: Omit<TickAsk, 'watched'>, watched: readonly Watched[]): Promise<TickResult> {
    const result = await this.#store.tick({ ...ask, watched });
    for (const { taskId, seq } of result.grown) this.#latches.set(taskId, seq);
    for (const taskId of result.gone) this.#latches.set(taskId, PURGED_SEQ);
    return result;
  }

  /** Tasks that somebody here follows, for the tick. */
  watched(): readonly Watched[] {
    return this.#latches.watched();
  }

  /** True while somebody here follows anything. */
  get isWatching(): boolean {
    return this.#latches.isWatching;
  }

  // -- verbs that read --

  /** The task as it stands now; undefined for unknown, foreign and purged alike (P10). Without a scope only for the program itself. */
  async read(taskId: string, scope?: Scope): Promise<Snapshot | undefined> {
    const found = await this.#store.read({ taskId, after: this.#folds.reach(taskId), ...(scope ? { scope } : {}) });
    if (!found) return undefined;
    this.#folds.forgetAnother(found.row);
    this.#tail.offer(taskId, found.rows);
    const task = await this.#folds.foldTo(found.row, found.row.seq);
    return task && { row: found.row, task };
  }

  /** The row alone, for who goes on from a cursor and needs no fold; undefined as for `read`. */
  async row(taskId: string, scope?: Scope): Promise<TaskRow | undefined> {
    const found = await this.#store.read({ taskId, after: Number.MAX_SAFE_INTEGER, ...(scope ? { scope } : {}) });
    return found?.row;
  }

  /** The task exactly as of `seq`: what an answer shows that was decided by the commit of `seq`. */
  foldTo(row: Pick<TaskRow, 'id' | 'contextId'>, seq: number): Promise<Task | undefined> {
    return this.#folds.foldTo(row, seq);
  }

  /** The next entries above `after`, none if there are none yet. */
  async entriesAfter(taskId: string, after: number): Promise<readonly Entry[]> {
    return (await this.#tail.read(taskId, after)).entries;
  }

  /** Follows a log from a cursor on. */
  follow(from: Cursor, signal: Signal): Follower {
    return new Follower(from, { tail: this.#tail, latches: this.#latches, signal });
  }

  list(ask: ListAsk): Promise<ListResult> {
    return this.#store.list(ask);
  }

  /** Tasks without their artifacts, each as of its row: lists read messages and statuses only. Tasks purged meanwhile are left out. */
  async foldWithoutArtifacts(rows: readonly TaskRow[]): Promise<readonly Task[]> {
    const folds = new Map(rows.map((row) => [row.id, { row, fold: new TaskFold(row.id, row.contextId), after: 0 }]));
    for (let open = [...folds.values()]; open.length > 0;) open = await this.#readOn(open);
    return [...folds.values()].flatMap(({ fold }) => fold.task() ?? []);
  }

  /** One round of reads for tasks that are not read to their row yet; gives those that still are not. */
  async #readOn(open: readonly Reading[]): Promise<Reading[]> {
    const wants = open.map(({ row, after }) => ({ taskId: row.id, after, upTo: row.seq }));
    const answers = await this.#store.entries({ wants, kinds: LISTED, entriesMax: BATCH_ENTRIES_MAX, bytesMax: BATCH_BYTES_MAX });
    return open.filter((one, index) => {
      const answer = answers[index];
      if (!answer) return true;
      for (const row of answer.rows) one.fold.fold(parseEntry(one.row.id, row));
      one.after = answer.rows.at(-1)?.seq ?? one.row.seq;
      return answer.rows.length > 0 && one.after < one.row.seq;
    });
  }

  // -- hints --

  #tell(row: TaskRow, kind: 'grew' | 'moved'): void {
    const hints: Hint[] = [{ kind: 'grew', taskId: row.id, seq: row.seq }];
    if (kind === 'moved') hints.push({ kind: 'moved', taskId: row.id });
    if (row.phase === 'queued' && !isTerminal(row.state)) hints.push({ kind: 'queued' });
    this.#emit(hints);
  }

  /** One channel for all: the own followers hear what the other replicas hear, at the same moment, and then read the same log. */
  #emit(hints: readonly Hint[]): void {
    if (hints.length === 0) return;
    this.#hear(hints);
    this.#wake.notify(hints);
  }

  #hear(hints: readonly Hint[]): void {
    for (const hint of hints) this.#hearOne(hint);
  }

  #hearOne(hint: Hint): void {
    switch (hint.kind) {
      case 'grew':
        // every replica that hears of a purge lets go what it kept of the task; where none is heard the caches' own limits do (P11)
        if (hint.seq === PURGED_SEQ) this.#folds.forget(hint.taskId);
        this.#latches.set(hint.taskId, hint.seq);
        this.#listener?.onGrew(hint.taskId, hint.seq);
        return;
      case 'queued':
        this.#listener?.onQueued();
        return;
      case 'moved':
        this.#listener?.onMoved(hint.taskId);
        return;
      case 'any':
        this.#latches.setAll();
        this.#listener?.onAny();
        return;
      default:
        // a hint of a newer version on a shared bus: look at everything, it is only a hint
        this.#logger.debug('wake: unknown kind of hint');
        this.#latches.setAll();
        this.#listener?.onAny();
    }
  }
}

/** A task that is being read up to its row. */
interface Reading {
  readonly row: TaskRow;
  readonly fold: TaskFold;
  after: number;
}

/** What a purge says in place of a seq: no log reaches so far. */
const PURGED_SEQ = Number.MAX_SAFE_INTEGER;

/** A status may carry a message, and so may stand in the history. */
const LISTED: readonly EntryKind[] = ['message', 'status'];
