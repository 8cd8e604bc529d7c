import { assert, assertNever } from '../ground/assert.ts';
import { backoffMs } from '../ground/backoff.ts';
import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import { Deferred } from '../ground/deferred.ts';
import type { LogFields, Logger } from '../ground/logger.ts';
import { settled } from '../ground/settled.ts';
import { Stopper } from '../ground/signal.ts';
import type { Random } from '../ground/random.ts';
import type { NewEntry } from '../log/entry.ts';
import type { AppendResult, TaskRow } from '../log/store.ts';
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, StoreError } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';
import type { EngineFailureCode } from './failure.ts';
import { turnIsOver } from './failure.ts';
import { persist, STORE_BACKOFF } from './patience.ts';

/** Batches of one turn that may be under way: a streaming turn does not wait for each commit, and no turn fills the store's queue alone. */
export const FLIGHTS_MAX = 4;

/** How a run's words ended, as the store knows it. */
export type WriterEnd =
  /** The closing entry stands in the log; `failed` names the engine's reason if it had one. */
  | { readonly kind: 'closed'; readonly failed?: EngineFailureCode }
  /** The fence moved or the task ended by another hand. */
  | { readonly kind: 'lost'; readonly row?: TaskRow }
  /** Not even the failure could be written: somebody else has to settle the turn. */
  | { readonly kind: 'stuck' };

/** What a writer needs of its turn. */
export interface WriterParts {
  readonly log: TaskLog;
  readonly grant: TaskRow;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly run: WriterRun;
}

/** The run whose words a writer writes. */
export interface WriterRun {
  /** Identity of the run, for log lines. */
  readonly names: LogFields;
  /** The entry that ends the turn FAILED. */
  failureEntry(code: EngineFailureCode): NewEntry;
  /** The row as an answer of the store showed it. */
  onRow(row: TaskRow): void;
  onEnd(end: WriterEnd): void;
}

interface Pending {
  readonly entry: NewEntry;
  readonly ordinal: number;
  /** Only of the last entry of a call: the call is answered when that one is. */
  call: Deferred<void> | undefined;
}

/** A stretch of pending entries that goes to the store in one call. */
interface Batch {
  readonly from: number;
  readonly to: number;
  readonly entries: readonly NewEntry[];
}

type Answer = AppendResult | { readonly kind: 'unavailable' } | { readonly kind: 'unstorable' };

/**
 * The one writer of a run. Entries get ordinals in call order and keep them through every repeat ⚖, so that the store applies each exactly
 * once however often it is sent (P9). Up to FLIGHTS_MAX batches are under way; at the first answer other than "applied" the writer waits
 * until all are back, then asks again alone and in order: only that answer is believed. Nothing is said to be on the log before the store
 * has said so (P7: memory is never ahead of the store).
 */
export class Writer {
  readonly #parts: WriterParts;
  readonly #stopped = new Stopper();
  /** What is not yet known to be applied, in order of ordinals. */
  readonly #pending: Pending[] = [];
  #pendingBytes = 0;
  #lastOrdinal: number;
  #sentTo: number;
  #seq: number;
  #flights = 0;
  #isPumping = false;
  #isTroubled = false;
  #isMending = false;
  /** Some call's outcome was unknown: a refusal may only mean that it was applied ⚖. */
  #isDoubtful = false;
  #isClosed = false;
  #isOver = false;
  #failed: EngineFailureCode | undefined;
  #isMisconfigured = false;
  /** Settles with the last entry that was queued; never fails. */
  #said: Promise<void> = Promise.resolve();
  #waiters: (() => void)[] = [];

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#lastOrdinal = parts.grant.ordinal;
    this.#sentTo = parts.grant.ordinal;
    this.#seq = parts.grant.seq;
  }

  /** True when nothing more is taken: the closing entry is queued, or the turn is over. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** True when one more entry would have to wait for a commit. */
  get isBusy(): boolean {
    return this.#isTroubled || this.#flights >= FLIGHTS_MAX;
  }

  /** Ordinal of the last entry that was queued. */
  get lastOrdinal(): number {
    return this.#lastOrdinal;
  }

  /** Queues entries behind all that was said before; resolves when they are on the log. */
  say(entries: readonly NewEntry[]): Promise<void> {
    if (this.#isClosed) return Promise.reject(turnIsOver());
    if (this.#isOverfull(entries)) {
      this.fail('LIMIT');
      return Promise.reject(turnIsOver());
    }
    return this.#queue(entries);
  }

  /** Queues the last words, the last of which closes the turn; nothing is taken after them. What became of them, `onEnd` tells. */
  end(entries: readonly NewEntry[]): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    void this.#queue(entries);
  }

  /** Ends the turn FAILED behind all that was said before (P7). */
  fail(code: EngineFailureCode): void {
    if (this.#isClosed) return;
    this.#failed = code;
    this.end([this.#parts.run.failureEntry(code)]);
  }

  /** The fence is known to have moved, or counts as moved: what is not on the log yet is refused. */
  stop(): void {
    this.#finish(undefined);
  }

  /** Resolves when an entry would not have to wait for a commit, or when nothing more is taken. */
  async whenFree(): Promise<void> {
    while (this.isBusy && !this.#isOver) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Resolves when all that was said so far is on the log, or refused. */
  whenSaid(): Promise<void> {
    return this.#said;
  }

  // -- the queue --

  #queue(entries: readonly NewEntry[]): Promise<void> {
    let last: Pending | undefined;
    for (const entry of entries) {
      last = { entry, ordinal: ++this.#lastOrdinal, call: undefined };
      this.#pending.push(last);
      this.#pendingBytes += entry.body.length;
    }
    if (!last) return this.#said;
    last.call = new Deferred();
    const { promise } = last.call;
    this.#said = promise.catch(() => {}); // a verb that nobody awaits must not end the process when its turn is canceled
    this.#pumpSoon();
    return promise;
  }

  /** What waits is bounded by what the task may hold at all: the store would refuse the rest anyway (P11). */
  #isOverfull(entries: readonly NewEntry[]): boolean {
    const { entriesMax, bytesMax } = this.#parts.grant.limits;
    let bytes = this.#pendingBytes;
    for (const entry of entries) bytes += entry.body.length;
    return this.#pending.length + entries.length > entriesMax || bytes > bytesMax;
  }

  /** After the present code has had its say: what it says together goes together. */
  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    void settled.then(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (!this.#isOver && this.#isTroubled) {
      if (this.#flights === 0 && !this.#isMending) this.#mend().catch((error: unknown) => this.#break(error));
    } else if (!this.#isOver) {
      while (this.#flights < FLIGHTS_MAX) {
        const batch = this.#cut(this.#sentTo, BATCH_ENTRIES_MAX);
        if (!batch) break;
        void this.#fly(batch);
      }
    }
    this.#wakeWaiters();
  }

  /** The next stretch above an ordinal; undefined if there is nothing. */
  #cut(after: number, entriesMax: number): Batch | undefined {
    const first = this.#pending[0];
    if (!first) return undefined;
    const entries: NewEntry[] = [];
    let bytes = 0;
    for (let i = after + 1 - first.ordinal; i < this.#pending.length && entries.length < entriesMax; i++) {
      const entry = this.#pending[i]?.entry;
      if (!entry || (entries.length > 0 && bytes + entry.body.length > BATCH_BYTES_MAX)) break;
      entries.push(entry);
      bytes += entry.body.length;
    }
    return entries.length > 0 ? { from: after + 1, to: after + entries.length, entries } : undefined;
  }

  async #fly(batch: Batch): Promise<void> {
    this.#flights += 1;
    this.#sentTo = batch.to;
    const answer = await this.#send(batch);
    this.#flights -= 1;
    if (answer.kind === 'applied') this.#applied(batch.to, answer.row);
    else this.#isTroubled = true;
    this.#pump();
  }

  async #send({ from, entries }: Batch): Promise<Answer> {
    const { log, grant } = this.#parts;
    try {
      return await log.append({ taskId: grant.id, fence: grant.fence, from, entries });
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'unstorable') return { kind: 'unstorable' };
      this.#isDoubtful ||= !(error instanceof StoreError) || error.isUnknown;
      this.#complain(error);
      return { kind: 'unavailable' };
    }
  }

  /** An outage is the ticks' to report; what needs a person, or is no error of a store at all, is said once per turn. */
  #complain(error: unknown): void {
    if (error instanceof StoreError && error.kind === 'unavailable') return;
    if (this.#isMisconfigured) return;
    this.#isMisconfigured = true;
    const { logger, run } = this.#parts;
    logger.error('turn: the store cannot be written, writes wait', {
      ...run.names,
      error: error instanceof Error ? error.message : typeof error,
    });
  }

  #applied(to: number, row: TaskRow): void {
    if (this.#isOver) return;
    const first = this.#pending[0];
    const count = first ? to + 1 - first.ordinal : 0;
    if (count <= 0) return; // a later batch's answer was here first and has said it already
    if (row.fence === this.#parts.grant.fence) this.#seq = row.seq;
    this.#release(count);
    this.#parts.run.onRow(row);
    this.#finishIfSaid();
  }

  /** The first of what is pending stands on the log. */
  #release(count: number): void {
    for (const { entry, call } of this.#pending.splice(0, count)) {
      this.#pendingBytes -= entry.body.length;
      call?.resolve();
    }
  }

  #finishIfSaid(): void {
    if (!this.#isClosed || this.#pending.length > 0) return;
    this.#finish(this.#failed ? { kind: 'closed', failed: this.#failed } : { kind: 'closed' });
  }

  // -- trouble: one call at a time, in order, until an outcome is known --

  async #mend(): Promise<void> {
    this.#isMending = true;
    let isolatedTo = 0;
    for (let attempt = 0; !this.#isOver && this.#isTroubled;) {
      const first = this.#pending[0];
      if (!first) break;
      const isIsolated = first.ordinal <= isolatedTo;
      const batch = this.#cut(first.ordinal - 1, isIsolated ? 1 : BATCH_ENTRIES_MAX);
      assert(batch, 'turn: what is pending can be sent');
      const answer = await this.#send(batch);
      if (this.#isOver) break;
      if (answer.kind === 'unavailable') {
        await sleep(this.#parts.clock, backoffMs(STORE_BACKOFF, attempt++, this.#parts.random), this.#stopped);
        continue;
      }
      attempt = 0;
      if (answer.kind === 'applied') {
        this.#sentTo = batch.to;
        this.#applied(batch.to, answer.row);
        this.#isTroubled = batch.to < isolatedTo;
      } else if ((answer.kind === 'limit' || answer.kind === 'unstorable') && batch.entries.length > 1) {
        isolatedTo = batch.to; // one of them is the culprit: what stands before it is kept
      } else await this.#refused(answer);
    }
    this.#isMending = false;
    this.#isTroubled = false;
    this.#pump();
  }

  /** A refusal of a single stretch, asked alone and in order: this is what became of the turn. */
  async #refused(answer: Exclude<Answer, { kind: 'applied' | 'unavailable' }>): Promise<void> {
    switch (answer.kind) {
      case 'limit':
        return this.#replaceRest('LIMIT');
      case 'unstorable':
        return this.#replaceRest('UNSTORABLE');
      case 'gap': {
        // the store has lost what it had acknowledged: there is nothing a writer can mend
        this.#parts.logger.error('turn: the store lost acknowledged entries', this.#parts.run.names);
        this.#finish({ kind: 'stuck' });
        return;
      }
      case 'terminal':
      case 'fenced': {
        if (this.#isDoubtful) await this.#lookForOwn();
        if (!this.#isOver) this.#finish({ kind: 'lost', ...(answer.row ? { row: answer.row } : {}) });
        return;
      }
      default:
        assertNever(answer);
    }
  }

  /** The culprit and what follows it give way to FAILED, under the culprit's ordinal: it was refused for good, so the number is free. */
  #replaceRest(code: EngineFailureCode): void {
    const wasFailure = this.#failed !== undefined && this.#pending.length === 1;
    if (wasFailure) {
      this.#parts.logger.error('turn: the failure of a turn could not be stored', { ...this.#parts.run.names, code });
      this.#finish({ kind: 'stuck' });
      return;
    }
    this.#parts.logger.warn('turn: an entry was refused for good, the turn fails', { ...this.#parts.run.names, code });
    const dropped = this.#pending.splice(0);
    this.#pendingBytes = 0;
    this.#lastOrdinal -= dropped.length;
    this.#sentTo = this.#lastOrdinal;
    this.#isClosed = false;
    this.fail(code);
    for (const { call } of dropped) call?.reject(turnIsOver());
  }

  /** After an unknown outcome "fenced" and "terminal" say nothing ⚖: what stands in the log under our fence was applied. */
  async #lookForOwn(): Promise<void> {
    const { log, grant, clock, random } = this.#parts;
    let applied = 0;
    for (let after = this.#seq; ;) {
      const entries = await persist(() => log.entriesAfter(grant.id, after), { clock, random, signal: this.#stopped });
      const last = entries?.at(-1);
      if (!entries || !last) break;
      for (const { fence, ordinal } of entries) if (fence === grant.fence && ordinal !== undefined) applied = Math.max(applied, ordinal);
      after = last.seq;
    }
    const first = this.#pending[0];
    if (this.#isOver || !first || applied < first.ordinal) return;
    this.#release(applied + 1 - first.ordinal);
    this.#finishIfSaid();
  }

  // -- the end --

  #finish(end: WriterEnd | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isClosed = true;
    this.#stopped.abort();
    for (const { call } of this.#pending.splice(0)) call?.reject(turnIsOver());
    this.#pendingBytes = 0;
    this.#wakeWaiters();
    if (end) this.#parts.run.onEnd(end);
  }

  /** A bug of ours or of the store: somebody else has to settle the turn. */
  #break(error: unknown): void {
    this.#complain(error);
    this.#finish({ kind: 'stuck' });
  }

  #wakeWaiters(): void {
    if (this.#waiters.length === 0) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}
