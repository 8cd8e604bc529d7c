import type { Logger } from '../ground/logger.ts';
import type { TaskRow } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';

/** Turns one claim asks for: enough to fill an empty replica in a few calls, few enough that idle neighbours get some of a burst. */
export const CLAIM_MAX = 16;

/** What claiming needs. */
export interface ClaimsParts {
  readonly log: TaskLog;
  readonly agent: string;
  readonly logger: Logger;
  readonly replica: () => string;
  /** How many more turns this replica may take; 0 while it drains, has no contact, or has too much runaway code. */
  readonly room: () => number;
  readonly onClaimed: (row: TaskRow) => void;
}

/**
 * Takes queued turns, oldest first, whenever there is room and reason to think that some wait. One claim at a time, for as many turns as are
 * thought to wait: what a claim under way will take is nothing that a new message would overtake, so one queued turn does not send all that
 * come after it through the queue as well.
 */
export class Claims {
  readonly #parts: ClaimsParts;
  /** Queued turns as far as is known: the last count, and a hint each since. */
  #known = 0;
  #hints = 0;
  /** Turns that the claim under way asks for. */
  #asked = 0;

  constructor(parts: ClaimsParts) {
    this.#parts = parts;
  }

  /** True when this replica knows of a queued turn that no claim of its own is about to take: a new message must not overtake it. */
  get isQueueKnown(): boolean {
    return this.#known > this.#asked;
  }

  /** Slots that the claim under way may fill. */
  get asked(): number {
    return this.#asked;
  }

  /** Number of hints so far: a look that is sent now counts these. */
  get hints(): number {
    return this.#hints;
  }

  /** A turn may wait. */
  hint(): void {
    this.#hints += 1;
    this.#known += 1;
    this.claim();
  }

  /** A look counted the queue; `hints` tells how many hints came before it was sent. */
  count(queued: number, hints: number): void {
    this.#known = queued + this.#hints - hints;
    this.claim();
  }

  /** Claims while there is room and reason; a no-op while a claim is under way, which looks again when it is done. */
  claim(): void {
    if (this.#asked > 0 || this.#known === 0 || this.#parts.room() === 0) return;
    this.#claimAll()
      // the outcome may be unknown: the next look finds what was granted, and the count
      .catch((error: unknown) => this.#parts.logger.debug('turn: a claim failed', { replica: this.#parts.replica(), error: String(error) }))
      .finally(() => (this.#asked = 0));
  }

  async #claimAll(): Promise<void> {
    const { log, agent, replica, room, onClaimed } = this.#parts;
    for (let free = room(); free > 0 && this.#known > 0; free = room()) {
      this.#asked = Math.min(free, CLAIM_MAX, this.#known);
      const { hints } = this;
      const rows = await log.claim({ agent, replica: replica(), limit: this.#asked });
      // fewer than asked for: the queue is empty but for what was hinted meanwhile; as many: there may be more, whatever was thought
      const isEmpty = rows.length < this.#asked;
      this.#known = isEmpty ? this.#hints - hints : Math.max(1, this.#known - rows.length);
      this.#asked = 0;
      for (const row of rows) onClaimed(row);
    }
  }
}
