import { unavailable } from '../protocol/errors.ts';

/** When a caller may try again: most such code ends by itself. */
const RETRY_MS = 5_000;

/**
 * Codes of `reply` that were told to stop and go on all the same. Each holds what it holds, and nobody can end it, so there is a limit to
 * them, as there is to turns whose code ignores its signal.
 */
export class LateReplies {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** UNAVAILABLE while there are too many. */
  check(): void {
    if (this.#count > this.#most) throw unavailable('Too many answers of this replica hang; try again.', RETRY_MS);
  }

  /** Counts a code until it ends. */
  add(code: Promise<unknown>): void {
    this.#count += 1;
    const ended = (): void => void (this.#count -= 1);
    code.then(ended, ended);
  }
}
