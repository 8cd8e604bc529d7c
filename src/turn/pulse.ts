import { backoffMs } from '../ground/backoff.ts';
import type { Clock, Timer } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { ReplicaBeat, TickAsk, TickResult } from '../log/store.ts';
import { StoreError } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';
import { Liveness } from './liveness.ts';
import type { TurnSettings } from './options.ts';
import { STORE_BACKOFF } from './patience.ts';

/** While the wake is proven the tick asks for grown tasks only so often: hints tell it sooner, and this is for the lost ones. */
const WATCHED_EVERY_MS = 5_000;

/** What the pulse of a replica needs, and whom it tells. */
export interface PulseParts {
  readonly log: TaskLog;
  readonly agent: string;
  readonly settings: TurnSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** True while any turn runs here. */
  readonly isRunning: () => boolean;
  /** A look is about to be sent; what it gives back is handed to `onLook` with the answer. */
  readonly onSend: () => (result: TickResult) => void;
  /** This incarnation was taken for dead: its turns are others' now. */
  readonly onDeath: () => void;
  /** No renew has come through for a lease. */
  readonly onSilence: () => void;
  /** Others were declared dead, or their turns wait to be settled. */
  readonly onSweepable: () => void;
}

/**
 * The life of a replica as the others see it: it joins under a random id, renews a counter, and looks at the store once per tick. A refused
 * renew ends the incarnation: the process goes on under a new id. It runs on the loop that runs the turns: a stuck loop must look dead.
 */
export class Pulse {
  readonly #parts: PulseParts;
  readonly #liveness: Liveness;
  #replica: string;
  #isJoined = false;
  #isStopped = false;
  #isLeaving = false;
  #loop: Promise<void> | undefined;
  #look = 0;
  /** When the last look that was answered was sent. */
  #contactAt = Number.NEGATIVE_INFINITY;
  /** When the last renew that came through was sent. */
  #beatAt = Number.NEGATIVE_INFINITY;
  #watchedAt = Number.NEGATIVE_INFINITY;
  #lastSentAt = Number.NEGATIVE_INFINITY;
  /** From when on the next look's time counts: the last one's start, or its failure. */
  #countsFrom = Number.NEGATIVE_INFINITY;
  #isHurried = false;
  #isOut = false;
  #suspects: readonly ReplicaBeat[] = [];
  #wakeUp: (() => void) | undefined;
  #silence: Timer | undefined;

  constructor(parts: PulseParts) {
    this.#parts = parts;
    this.#liveness = new Liveness(parts.settings);
    this.#replica = parts.random.uuid();
  }

  /** Id of the present incarnation. */
  get replica(): string {
    return this.#replica;
  }

  /** Number of the last look that was sent. */
  get look(): number {
    return this.#look;
  }

  /** Joined, and the last look was answered. */
  get isInContact(): boolean {
    return this.isLive && !this.#isOut;
  }

  /** Joined, and no look has failed for longer than a lease. */
  get isLive(): boolean {
    return this.#isJoined && !this.#isStopped && this.#parts.clock.monotonic() - this.#contactAt <= this.#parts.settings.leaseMs;
  }

  /** Joins and starts to tick. Throws when the store cannot be reached for a lease. */
  async start(): Promise<void> {
    if (this.#loop || this.#isStopped) return;
    await this.#joinWithin(this.#parts.settings.leaseMs);
    this.#loop = this.#run();
  }

  /** Looks as soon as the look under way is done. */
  hurry(): void {
    this.#isHurried = true;
    this.#wakeUp?.();
  }

  /** Marks this incarnation dead, so that nobody waits a lease for it, and stops. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    const { log, agent } = this.#parts;
    if (this.#isJoined) await log.tick({ agent, replica: this.#replica, own: 'leave', suspects: [] }, []);
  }

  /** Stops ticking; resolves when the look under way is done. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#silence?.cancel();
    this.#wakeUp?.();
    await this.#loop;
  }

  // -- joining --

  async #joinWithin(ms: number): Promise<void> {
    const { clock, log, logger } = this.#parts;
    const startedAt = clock.monotonic();
    for (let attempt = 0; !this.#isJoined && !this.#isStopped; attempt++) {
      this.#replica = this.#parts.random.uuid(); // a join of unknown outcome leaves an id that never beats and holds nothing
      try {
        await log.join(this.#replica);
        this.#isJoined = true;
        this.#contactAt = clock.monotonic();
        this.#renewed(this.#contactAt);
        logger.info('replica: joined', { replica: this.#replica });
      } catch (error) {
        const mayPass = error instanceof StoreError && error.kind === 'unavailable';
        if (!mayPass || clock.monotonic() - startedAt >= ms) throw error;
        await this.#rest(backoffMs(STORE_BACKOFF, attempt, this.#parts.random));
      }
    }
  }

  #die(): void {
    const { logger, onDeath } = this.#parts;
    this.#isJoined = false;
    this.#silence?.cancel();
    this.#suspects = [];
    this.#liveness.reset();
    logger.warn('replica: taken for dead, joins again under a new id', { replica: this.#replica });
    onDeath();
  }

  // -- ticking --

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const dueInMs = this.#dueInMs();
      if (dueInMs > 0) {
        await this.#pause(dueInMs);
        continue;
      }
      await this.#tick();
    }
  }

  /** Nothing polls where a wake can tell; where none can, watched tasks and running turns are looked at every `pollMs`. */
  #dueInMs(): number {
    if (this.#isHurried) return 0;
    const { log, settings, clock, isRunning } = this.#parts;
    const { tickMs, pollMs } = settings;
    const sinceMs = clock.monotonic() - this.#countsFrom;
    if (log.isWakeProven) return tickMs - sinceMs;
    if (log.isWatching || isRunning()) return Math.min(tickMs, pollMs) - sinceMs;
    // somebody may begin to watch meanwhile: look again soon whether a look is due
    return sinceMs >= tickMs ? 0 : Math.min(tickMs - sinceMs, pollMs);
  }

  /** Until `ms` have passed, or something is to be done sooner. */
  async #pause(ms: number): Promise<void> {
    if (!this.#isHurried) await this.#rest(ms);
  }

  async #rest(ms: number): Promise<void> {
    if (this.#isStopped) return;
    await new Promise<void>((resolve) => {
      const timer = this.#parts.clock.after(ms, resolve);
      this.#wakeUp = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wakeUp = undefined;
  }

  async #tick(): Promise<void> {
    try {
      if (this.#isJoined) await this.#lookOnce();
      else await this.#joinWithin(0);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #lookOnce(): Promise<void> {
    const { log, clock, agent, onSend } = this.#parts;
    const sentAt = clock.monotonic();
    this.#reportLateness(sentAt);
    this.#lastSentAt = sentAt;
    this.#countsFrom = sentAt;
    this.#isHurried = false; // before the look: a hint during it is kept
    this.#look += 1;
    const own: TickAsk['own'] = sentAt - this.#beatAt >= this.#parts.settings.leaseMs / 4 ? 'renew' : 'look';
    const onLook = onSend();
    const suspects = this.#suspects;
    const replica = this.#replica;
    let result: TickResult;
    try {
      result = await log.tick({ agent, replica, own, suspects }, this.#watched(sentAt));
    } catch (error) {
      // whoever cannot renew cannot judge: perhaps nobody can ⚖
      if (own === 'renew') this.#liveness.reset();
      throw error;
    }
    if (this.#isLeaving) return;
    this.#inContact(sentAt);
    if (!result.isAlive) return this.#die();
    if (own === 'renew') this.#renewed(sentAt);
    onLook(result);
    this.#judge(result, sentAt, suspects.length > 0);
  }

  #watched(now: number): ReturnType<TaskLog['watched']> {
    const { log } = this.#parts;
    if (log.isWakeProven && now - this.#watchedAt < WATCHED_EVERY_MS) return [];
    this.#watchedAt = now;
    return log.watched();
  }

  /** Suspects go out with the next look, which does not wait for its time: a death is to be settled within lease + 1.5 s (P6). */
  #judge(result: TickResult, sentAt: number, haveJudged: boolean): void {
    const receivedAt = this.#parts.clock.monotonic();
    this.#suspects = this.#liveness.look(result.beats, { sentAt, receivedAt });
    if (this.#suspects.length > 0) {
      this.#parts.logger.info('replica: others are silent', { replica: this.#replica, count: this.#suspects.length });
      if (!haveJudged) this.#isHurried = true;
    }
    if (result.hasSweepable || haveJudged) this.#parts.onSweepable();
  }

  #renewed(sentAt: number): void {
    const { clock, settings, onSilence } = this.#parts;
    this.#beatAt = sentAt;
    this.#silence?.cancel();
    this.#silence = clock.after(sentAt + settings.leaseMs - clock.monotonic(), onSilence);
  }

  #inContact(sentAt: number): void {
    this.#contactAt = sentAt;
    if (!this.#isOut) return;
    this.#isOut = false;
    this.#parts.logger.info('replica: the store answers again', { replica: this.#replica });
  }

  #failed(error: unknown): void {
    const { clock, logger } = this.#parts;
    this.#countsFrom = clock.monotonic(); // a store that fails at once is not asked at once again
    this.#isHurried = false;
    if (this.#isOut) return;
    this.#isOut = true;
    const needsPerson = !(error instanceof StoreError) || error.kind === 'misconfigured';
    logger[needsPerson ? 'error' : 'warn']('replica: the store does not answer', {
      replica: this.#replica,
      error: error instanceof Error ? error.message : String(error),
    });
  }

  /** Whoever watches from outside can tell a slow settlement from a slow machine: `voidMs` is what no count of silence holds any more. */
  #reportLateness(sentAt: number): void {
    const { settings, logger } = this.#parts;
    const lateMs = Math.round(sentAt - this.#lastSentAt - settings.tickMs);
    if (!Number.isFinite(lateMs) || lateMs <= settings.tickMs) return;
    logger.warn('replica: late tick', { replica: this.#replica, lateMs, voidMs: Math.round(this.#liveness.countedMs(sentAt)) });
  }
}
