import type { FSWatcher } from 'node:fs';
import { closeSync, openSync, utimesSync, watch } from 'node:fs';
import { setImmediate } from 'node:timers';
import type { Clock, Timer } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import { settled } from '../ground/settled.ts';
import type { Hint, Wake } from '../log/wake.ts';

/** What the doorbell of a SQLite file needs. */
export interface DoorbellParts {
  /** The doorbell: a file of its own beside the database, empty for ever. */
  readonly path: string;
  /** Tells what other processes have committed since the last call. It may throw while the database is away. */
  readonly feed: () => readonly Hint[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A wake for the processes that share one SQLite file. */
export function openDoorbell(parts: DoorbellParts): Wake {
  return new Doorbell(parts);
}

/** How long a self-test waits for its own touch. */
const PROOF_MS_MAX = 1_000;

/** How often it is made anew; any touch that arrives in between is proof as well. */
const PROOF_EVERY_MS = 30_000;

/** How often the feed is read while no touch is known to arrive. */
const POLL_MS = 250;

/**
 * A commit touches a file, and the machine tells all who watch it: a few microseconds for the writer, nothing at all while nobody writes.
 * The touch says nothing but "look": what is new is read from the file that has it.
 */
class Doorbell implements Wake {
  readonly reach = 'machine';
  readonly #parts: DoorbellParts;
  #listener: ((hints: readonly Hint[]) => void) | undefined;
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;
  #isRunning = false;
  #isProven = false;
  /** A touch is due when the code that runs has had its say; a look at the end of this turn of the loop. */
  #isTouching = false;
  #isLooking = false;
  #lastHeardAt = Number.NEGATIVE_INFINITY;
  #lastProofAt = Number.NEGATIVE_INFINITY;
  #onHeard: (() => void) | undefined;
  #hasWarned = false;

  constructor(parts: DoorbellParts) {
    this.#parts = parts;
  }

  get isProven(): boolean {
    return this.#isProven;
  }

  listen(listener: (hints: readonly Hint[]) => void): void {
    this.#listener = listener;
  }

  /** Resolves when the self-test has passed or failed: a replica that starts knows at once whether it has to poll. */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    await this.#prove();
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#isProven = false;
    this.#timer?.cancel();
    this.#unwatch();
    this.#onHeard?.();
  }

  notify(hints: readonly Hint[]): void {
    if (hints.length === 0 || this.#isTouching || !this.#isRunning) return;
    this.#isTouching = true;
    // once for all that a commit settles, and before the loop turns to sockets or to the next commit, which others may be waiting to write
    void settled.then(() => {
      this.#isTouching = false;
      if (this.#isRunning) this.#touch();
    });
  }

  /**
   * A touch that fails is a hint that is lost, and the next proof finds out why. At once and not through the thread pool: measured, that costs
   * the writer nine times as much, and the file lies beside a database that is committed to in the same way.
   */
  #touch(): void {
    const now = this.#parts.clock.wall() / 1_000;
    try {
      utimesSync(this.#parts.path, now, now);
    } catch {
      this.#watch(); // removed by somebody, perhaps
    }
  }

  /** Watches the file, made anew if somebody has removed it. */
  #watch(): void {
    this.#unwatch();
    try {
      closeSync(openSync(this.#parts.path, 'a')); // the watch needs something to watch
      const watcher = watch(this.#parts.path, { persistent: false });
      this.#watcher = watcher;
      watcher.on('change', (kind) => this.#hear(kind));
      watcher.on('error', (error) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  #unwatch(): void {
    this.#watcher?.removeAllListeners();
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #hear(kind: string): void {
    this.#lastHeardAt = this.#parts.clock.monotonic();
    this.#onHeard?.();
    // the name is gone: the watch would go on with a file that nobody touches any more
    if (kind === 'rename') this.#watch();
    this.#lookSoon();
  }

  /** One look for all touches of this turn of the loop, the own ones too: the feed knows what this process wrote. */
  #lookSoon(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => {
      this.#isLooking = false;
      if (this.#isRunning) this.#look();
    });
  }

  #look(): void {
    try {
      const hints = this.#parts.feed();
      if (hints.length > 0) this.#listener?.(hints);
    } catch (error) {
      // the tick reads the same database and tells its troubles; here only a hint is lost
      this.#parts.logger.debug('wake: the feed could not be read', { reason: String(error) });
    }
  }

  /** Touches the file and waits to hear of it. */
  async #prove(): Promise<void> {
    const since = this.#parts.clock.monotonic();
    this.#lastProofAt = since;
    if (this.#watcher === undefined) this.#watch();
    const isHeard = this.#watcher !== undefined && (await this.#hearsItself(since));
    if (!this.#isRunning) return;
    if (!isHeard) this.#fail(new Error('a touch was not heard'));
    this.#isProven = isHeard;
  }

  #hearsItself(since: number): Promise<boolean> {
    const watcher = this.#watcher;
    watcher?.ref(); // a program that only starts an agent must not end while it waits for this
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        watcher?.unref();
        this.#onHeard = undefined;
        resolve(this.#lastHeardAt >= since);
      };
      const timer = this.#parts.clock.after(PROOF_MS_MAX, done);
      this.#onHeard = done;
      this.#touch();
    });
  }

  /** Without a doorbell the replica polls; that is slower, not wrong. It is said once. */
  #fail(error: unknown): void {
    this.#isProven = false;
    this.#unwatch();
    const { logger, path } = this.#parts;
    const level = this.#hasWarned ? 'debug' : 'warn';
    this.#hasWarned = true;
    logger[level]('wake: the doorbell file cannot be watched, so changes of other processes are polled for', {
      path,
      reason: String(error),
    });
  }

  #schedule(): void {
    if (!this.#isRunning) return;
    this.#timer?.cancel(); // a check that was under way when the wake was stopped and started again
    this.#timer = this.#parts.clock.after(this.#isProven ? PROOF_EVERY_MS : POLL_MS, () => void this.#check());
  }

  async #check(): Promise<void> {
    const sureAt = Math.max(this.#lastHeardAt, this.#lastProofAt);
    if (!this.#isProven) this.#look();
    if (this.#parts.clock.monotonic() - sureAt >= PROOF_EVERY_MS) await this.#prove();
    this.#schedule();
  }
}
