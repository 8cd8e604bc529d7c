import type { Logger } from '../ground/logger.ts';
import type { TaskRow } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';

/** Turns one claim asks for: enough to fill an empty replica in a few calls, few enough that idle neighbours get some of a burst. */
const CLAIM_MAX = 16;

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

/** Takes queued turns, oldest first, whenever there is room and reason to think that some wait. One claim at a time. */
export class Claims {
  readonly #parts: ClaimsParts;
  /** Queued turns as far as is known. */
  #known = 0;
  /** A hint said that a turn was queued, and no look has shown the count since. */
  #isHinted = false;
  #hints = 0;
  #isClaiming = false;

  constructor(parts: ClaimsParts) {
    this.#parts = parts;
  }

  /** True when this replica knows of a queued turn: a new message must not overtake it. */
  get isQueueKnown(): boolean {
    return this.#known > 0 || this.#isHinted;
  }

  /** Number of hints so far: a look that is sent now knows of these. */
  get hints(): number {
    return this.#hints;
  }

  /** A turn may wait. */
  hint(): void {
    this.#hints += 1;
    this.#isHinted = true;
    this.claim();
  }

  /** A look counted the queue; `hints` tells how many hints came before it was sent. */
  count(queued: number, hints: number): void {
    this.#known = queued;
    if (hints === this.#hints) this.#isHinted = false;
    this.claim();
  }

  /** Claims while there is room and reason; a no-op while a claim is under way, which looks again when it is done. */
  claim(): void {
    if (this.#isClaiming || this.#parts.room() === 0 || !this.isQueueKnown) return;
    this.#isClaiming = true;
    this.#claimAll()
      // the outcome may be unknown: the next look finds what was granted, and the count
      .catch((error: unknown) => this.#parts.logger.debug('turn: a claim failed', { replica: this.#parts.replica(), error: String(error) }))
      .finally(() => (this.#isClaiming = false));
  }

  async #claimAll(): Promise<void> {
    const { log, agent, replica, room, onClaimed } = this.#parts;
    for (let limit = room(); limit > 0 && this.isQueueKnown; limit = room()) {
      const wanted = Math.min(limit, CLAIM_MAX);
      this.#isHinted = false; // before the call: a hint during it is kept
      const rows = await log.claim({ agent, replica: replica(), limit: wanted });
      this.#known = rows.length < wanted ? 0 : Math.max(0, this.#known - rows.length);
      for (const row of rows) onClaimed(row);
    }
  }
}
