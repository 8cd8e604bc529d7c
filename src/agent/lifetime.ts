import type { Signal } from '../ground/signal.ts';
import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import type { TaskLog } from '../log/task-log.ts';
import type { ReplicaOperations } from '../operations/operations.ts';
import { unavailable } from '../protocol/errors.ts';
import type { TurnRunner } from '../turn/runner.ts';

/** What a replica starts and stops. */
export interface LifetimeParts {
  readonly log: TaskLog;
  readonly turns: TurnRunner;
  readonly operations: ReplicaOperations;
  readonly clock: Clock;
  readonly drainMs: number;
  /** Says once, at the start, what an operator must know. */
  readonly announce: () => void;
}

/** Before the end of `drainMs` what still runs has to be settled and what is still open to be answered. */
const SETTLE_MS = 2_000;
/** How long calls that were told to end may take to say their last. */
const LAST_WORDS_MS = 1_000;

/** From the start of a replica to the end of its drain, each of which happens once however often it is asked for. */
export class Lifetime {
  readonly #parts: LifetimeParts;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isStarted = false;

  constructor(parts: LifetimeParts) {
    this.#parts = parts;
  }

  /** Started, and not closing. */
  get isAlive(): boolean {
    return this.#isStarted && this.#closing === undefined;
  }

  /** It may get requests: alive, and in contact with its store. */
  get isReady(): boolean {
    return this.isAlive && this.#parts.turns.isReady;
  }

  /** What every operation waits for: nothing, once the replica runs. */
  ready(): Promise<void> | undefined {
    return this.#isStarted ? undefined : this.start();
  }

  /** A start that failed (the store was away, or lacks a table) may be tried again. */
  start(): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(unavailable('This agent was closed.'));
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #start(): Promise<void> {
    const { log, turns } = this.#parts;
    await log.start();
    await turns.start();
    this.#isStarted = true;
    this.#parts.announce();
  }

  async #close(): Promise<void> {
    const { log, turns, operations } = this.#parts;
    await this.#starting?.catch(() => undefined); // whoever asked for the start has been told
    try {
      if (this.#isStarted) await this.#drain();
    } finally {
      operations.close();
      await turns.stop();
      await log.stop();
    }
    this.#isStarted = false; // whoever comes now is told that the agent was closed
  }

  /**
   * SIGTERM as the design has it: first no new turns; then time for what is under way, because callers that are cut do not come back by
   * themselves; then streams close without an end event, blocked sends answer with the present task, and turns are settled by `onLost`.
   */
  async #drain(): Promise<void> {
    const { turns, operations, clock, drainMs } = this.#parts;
    turns.beginDrain();
    await within(clock, Math.max(0, drainMs - SETTLE_MS), (signal) => Promise.all([turns.drained(signal), operations.untilIdle(signal)]));
    operations.close();
    await Promise.all([turns.settle(), within(clock, LAST_WORDS_MS, (signal) => operations.untilIdle(signal))]);
  }
}

/** Waits for work that ends when its signal fires, which it does after `ms`. */
async function within(clock: Clock, ms: number, work: (signal: Signal) => Promise<unknown>): Promise<void> {
  const late = new AbortController();
  const done = new AbortController();
  void sleep(clock, ms, done.signal).then(() => late.abort());
  try {
    await work(late.signal);
  } finally {
    done.abort();
  }
}
