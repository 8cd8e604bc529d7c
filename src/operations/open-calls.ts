import type { Signal } from '../ground/signal.ts';
import { Stopper } from '../ground/signal.ts';
import { unavailable } from '../protocol/errors.ts';
import type { Call } from './call.ts';

/** Why a call stopped waiting: its caller left, this replica leaves, or the ceiling of blocking sends was reached. */
export type StopReason = 'gone' | 'closing' | 'ceiling';

/** The streams and unanswered sends of this replica: what a drain waits for, and ends in the end. */
export class OpenCalls {
  readonly #open = new Set<OpenCall>();
  readonly #idle = new Set<() => void>();
  #isClosed = false;

  /** How many there are. */
  get count(): number {
    return this.#open.size;
  }

  /** Registers a call. While the replica shuts down it is UNAVAILABLE instead, before anything of it is stored. */
  open(call: Call): OpenCall {
    if (this.#isClosed) throw unavailable('This replica is shutting down. Try again: another one will answer.', 1_000);
    const open = new OpenCall(call.signal, this);
    this.#open.add(open);
    if (call.signal.aborted) open.stop('gone');
    return open;
  }

  /** It is open no more. */
  forget(open: OpenCall): void {
    if (this.#open.delete(open) && this.#open.size === 0) for (const tell of this.#idle) tell();
  }

  /** Resolves when no call is open, or the signal fires. */
  untilNone(signal: Signal): Promise<void> {
    if (this.#open.size === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#idle.delete(done);
        resolve();
      };
      this.#idle.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Ends the waiting of all that are open and lets no more in: streams end without an end event, sends answer the present task. */
  close(): void {
    this.#isClosed = true;
    for (const open of this.#open) open.stop('closing');
  }
}

/** One open call. It is off the list on every way out, also when its caller vanishes before a stream was ever read. */
export class OpenCall implements Disposable {
  readonly #stopper = new Stopper();
  readonly #caller: Signal;
  readonly #owner: OpenCalls;
  readonly #leave = (): void => this.stop('gone');
  #reason: StopReason | undefined;

  constructor(caller: Signal, owner: OpenCalls) {
    this.#caller = caller;
    this.#owner = owner;
    caller.addEventListener('abort', this.#leave, { once: true });
  }

  /** Fires when the call shall stop waiting. */
  get signal(): Signal {
    return this.#stopper;
  }

  /** Why, once it fired. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  stop(reason: StopReason): void {
    this.#reason ??= reason;
    this.#stopper.abort();
    // nobody may be left to end it: a stream that was never read, or a reader that will not come back
    if (reason === 'gone') this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#caller.removeEventListener('abort', this.#leave);
    this.#owner.forget(this);
  }
}
