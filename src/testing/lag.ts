import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';

/** Time in which nothing can be said about a replica: the machine, or the store, had no time for it. Epoch milliseconds. */
export interface LostTime {
  readonly from: number;
  readonly to: number;
  readonly why: 'loop' | 'tick' | 'write';
}

const BEAT_MS = 50;

/** Beats later than this were kept from the processor. Two busy cores give a few tens of milliseconds all the time. */
const LATE_MS = 150;

/** A small write that takes longer than this was kept from the store. */
const SLOW_WRITE_MS = 400;

/**
 * Records the time that a promise in milliseconds does not count (P6: "while a live replica can write and its ticks run on time"): beats
 * of the own loop that came late, late ticks that replicas told of, and small writes that took long.
 */
export class LagRecord {
  readonly #clock: Clock;
  readonly #lost: LostTime[] = [];
  readonly #stop = new AbortController();
  #beating: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** All lost time so far, in the order in which it was noticed. */
  get lost(): readonly LostTime[] {
    return this.#lost;
  }

  /** Starts to beat; `write` is a small write through any live replica, it may fail. */
  start(write?: () => Promise<unknown>): void {
    this.#beating ??= Promise.all([this.#beat(), ...(write ? [this.#probe(write)] : [])]).then(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#beating;
  }

  /** Notes lost time that ends now. */
  note(why: LostTime['why'], ms: number): void {
    const to = this.#clock.wall();
    this.#lost.push({ from: to - ms, to, why });
  }

  /** How much of the time between two moments counts. */
  fairMs(from: number, to: number): number {
    return to - from - overlap(this.#lost, from, to);
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stop;
    for (let last = this.#clock.monotonic(); !signal.aborted;) {
      await sleep(this.#clock, BEAT_MS, signal);
      const now = this.#clock.monotonic();
      const lateMs = now - last - BEAT_MS;
      if (lateMs > LATE_MS) this.note('loop', lateMs);
      last = now;
    }
  }

  async #probe(write: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const start = this.#clock.monotonic();
      await write().catch(() => undefined); // a replica died under it: how long it took is all that counts
      const tookMs = this.#clock.monotonic() - start;
      if (tookMs > SLOW_WRITE_MS) this.note('write', tookMs);
      await sleep(this.#clock, 5 * BEAT_MS, signal);
    }
  }
}

/** How much of [from, to] is covered by at least one of the spans. */
function overlap(spans: readonly LostTime[], from: number, to: number): number {
  let covered = 0;
  let reached = from;
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const start = Math.max(span.from, reached);
    const end = Math.min(span.to, to);
    if (end <= start) continue;
    covered += end - start;
    reached = end;
  }
  return covered;
}
