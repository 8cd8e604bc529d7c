import type { Clock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import { Stopper } from '../ground/signal.ts';
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, StoreError } from '../log/store.ts';
import { setImmediate } from 'node:timers';
import { LOCK_WAIT, patience } from './patience.ts';
import type { Patience } from './patience.ts';

/** What a verb brings into a group: how much it writes at most, and what it does inside the transaction. */
export interface Work<Session, Result> {
  readonly entries: number;
  readonly bytes: number;
  run(session: Session): Result;
}

/** What became of one member of a group that was committed. */
export type Outcome = { readonly kind: 'done'; readonly result: unknown } | { readonly kind: 'failed'; readonly error: unknown };

/** What a group needs of its store. */
export interface GroupParts<Session> {
  readonly clock: Clock;
  readonly random: Random;
  /** Runs all in one transaction and answers once its commit is known; an outcome for each, or it throws and nothing is written. */
  commit(members: readonly Work<Session, unknown>[]): readonly Outcome[];
  /** `busy` passes, `content` is one member's fault, `failed` is nobody's and hits all. */
  judge(error: unknown): 'busy' | 'content' | 'failed';
  toStoreError(error: unknown): StoreError;
  readonly busyMessage: string;
  /** Other processes have written since the last commit. */
  isContended(): boolean;
}

interface Member<Session> extends Work<Session, unknown> {
  readonly since: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** How long a verb waits for the lock before it says UNAVAILABLE. */
export const BUSY_MS_MAX = 5_000;

/** Bytes of bodies that may wait for a commit: a minute of a slow disk. Beyond it whoever brings more is told to come again. */
export const WAITING_BYTES_MAX: number = 64 * 1_048_576;

/**
 * Group commit: one commit, and so one wait for the disk, for all verbs that wait when the last one has returned. There is no timer: a
 * lone verb goes at the end of the present turn of the loop, and the more come, the larger the groups.
 */
export class Group<Session> {
  readonly #parts: GroupParts<Session>;
  #waiting: Member<Session>[] = [];
  #waitingBytes = 0;
  #draining: Promise<void> | undefined;
  /** Ends the wait for the lock that is under way. */
  #pause: Stopper | undefined;
  #isStopped = false;

  constructor(parts: GroupParts<Session>) {
    this.#parts = parts;
  }

  add<Result>(work: Work<Session, Result>): Promise<Result> {
    if (this.#isStopped) return Promise.reject(new StoreError('unavailable', 'The store is stopped.'));
    if (this.#isFull(work))
      return Promise.reject(new StoreError('unavailable', 'Too much waits for the disk already: nothing was written.'));
    return new Promise((resolve, reject) => {
      // the result of a member is what its own run gave
      const done = (result: unknown): void => resolve(result as Result);
      this.#waiting.push({ ...work, since: this.#parts.clock.monotonic(), resolve: done, reject });
      this.#waitingBytes += work.bytes;
      this.#draining ??= this.#drain();
    });
  }

  /** A disk that stands still must not fill the memory (P11). Verbs without a body pass: they are few, and who lives and who ends hangs on them. */
  #isFull({ bytes }: Work<Session, unknown>): boolean {
    return bytes > 0 && this.#waitingBytes > 0 && this.#waitingBytes + bytes > WAITING_BYTES_MAX;
  }

  /** Another process is heard to have committed: whoever waits for the lock finds it free now, sooner than by looking every few milliseconds. */
  nudge(): void {
    this.#pause?.abort();
  }

  /** Resolves when all that was added is settled. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // once around the loop: sockets are read between two commits, and what they bring joins the next one
      await new Promise<void>((resolve) => setImmediate(resolve));
      await this.#commit(this.#take());
      // who waits for the lock looks for it every few milliseconds: without a gap between two commits it would hardly ever find it free
      if (this.#waiting.length > 0 && this.#parts.isContended()) await this.#wait({ msMin: 0, msMax: 1 });
    }
    this.#draining = undefined;
  }

  #take(): readonly Member<Session>[] {
    let [count, entries, bytes] = [0, 0, 0];
    for (const member of this.#waiting) {
      entries += member.entries;
      bytes += member.bytes;
      if (count > 0 && (entries > BATCH_ENTRIES_MAX || bytes > BATCH_BYTES_MAX)) break;
      count += 1;
    }
    const taken = this.#waiting.splice(0, count);
    for (const member of taken) this.#waitingBytes -= member.bytes;
    return taken;
  }

  async #commit(members: readonly Member<Session>[]): Promise<void> {
    try {
      const outcomes = this.#parts.commit(members);
      members.forEach((member, index) => settle(member, outcomes[index]));
    } catch (error) {
      await this.#recover(members, error);
    }
  }

  async #recover(members: readonly Member<Session>[], error: unknown): Promise<void> {
    const judgement = this.#parts.judge(error);
    if (judgement === 'busy') {
      await this.#waitForLock(members);
    } else if (judgement === 'content' && members.length > 1) {
      // one bad task never fails its neighbours: alone, only the culprit fails again
      for (const member of members) await this.#commit([member]);
    } else {
      for (const member of members) member.reject(this.#parts.toStoreError(error));
    }
  }

  /** Nothing was written. The members go to the front again, but for those that have waited long enough. */
  async #waitForLock(members: readonly Member<Session>[]): Promise<void> {
    const { clock, busyMessage } = this.#parts;
    const isLate = (member: Member<Session>): boolean => clock.monotonic() - member.since >= BUSY_MS_MAX;
    for (const member of members) if (isLate(member)) member.reject(new StoreError('unavailable', busyMessage));
    const others = members.filter((member) => !isLate(member));
    for (const { bytes } of others) this.#waitingBytes += bytes;
    this.#waiting.unshift(...others);
    await this.#wait(LOCK_WAIT);
  }

  async #wait(limits: Pick<Patience, 'msMin' | 'msMax'>): Promise<void> {
    const { clock, random } = this.#parts;
    this.#pause = new Stopper();
    await patience({ clock, random, ...limits, signal: this.#pause });
    this.#pause = undefined;
  }
}

function settle<Session>(member: Member<Session>, outcome: Outcome | undefined): void {
  if (outcome?.kind === 'done') member.resolve(outcome.result);
  else member.reject(outcome?.error);
}
