import { unavailable } from '../protocol/errors.ts';
import type { Call, StreamItem } from './call.ts';
import type { CallSettings } from './limits.ts';

/** What a call holds open while it is: a stream, or a send that was not answered yet. */
export type OpenKind = 'stream' | 'send';

/** Why a call stopped waiting: its caller left, this replica leaves, or the ceiling of blocking sends was reached. */
export type StopReason = 'gone' | 'closing' | 'ceiling';

/** The calls that hold something on this replica: counted against the limits, ended by the drain. */
export class OpenCalls {
  readonly #settings: CallSettings;
  readonly #open = new Set<OpenCall>();
  readonly #total: Record<OpenKind, number> = { stream: 0, send: 0 };
  readonly #byCaller: Record<OpenKind, Map<string, number>> = { stream: new Map(), send: new Map() };
  readonly #idle = new Set<() => void>();
  #isClosed = false;

  constructor(settings: CallSettings) {
    this.#settings = settings;
  }

  /** How many there are. */
  get count(): number {
    return this.#open.size;
  }

  /** Takes a place, or throws UNAVAILABLE: before anything of the call is stored, so that the caller may simply come again. */
  open(call: Call, kind: OpenKind): OpenCall {
    if (this.#isClosed) throw unavailable('This replica is shutting down. Try again: another one will answer.', 1_000);
    const caller = call.caller.name;
    this.#check(kind, caller);
    this.#count(kind, caller, 1);
    const open = new OpenCall(call.signal, () => {
      this.#open.delete(open);
      this.#count(kind, caller, -1);
      if (this.#open.size === 0) for (const tell of this.#idle) tell();
    });
    this.#open.add(open);
    if (call.signal.aborted) open.stop('gone');
    return open;
  }

  /** Resolves when no call is open, or the signal fires. */
  untilNone(signal: AbortSignal): Promise<void> {
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

  #check(kind: OpenKind, caller: string | undefined): void {
    const { streamsMax, streamsPerCallerMax, callsMax, callsPerCallerMax } = this.#settings;
    const [most, mostOfOne] = kind === 'stream' ? [streamsMax, streamsPerCallerMax] : [callsMax, callsPerCallerMax];
    const noun = kind === 'stream' ? 'open streams' : 'unanswered calls';
    if (this.#total[kind] >= most) throw unavailable(`This replica has as many ${noun} as it takes. Try again later.`);
    if (caller !== undefined && (this.#byCaller[kind].get(caller) ?? 0) >= mostOfOne)
      throw unavailable(`You have as many ${noun} here as one caller may have. Try again when one has ended.`);
  }

  #count(kind: OpenKind, caller: string | undefined, change: 1 | -1): void {
    this.#total[kind] += change;
    if (caller === undefined) return;
    const count = (this.#byCaller[kind].get(caller) ?? 0) + change;
    if (count === 0) this.#byCaller[kind].delete(caller);
    else this.#byCaller[kind].set(caller, count);
  }
}

/** One open call: its place is free again on every way out, also when its caller vanishes before a stream was ever read. */
export class OpenCall implements Disposable {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #free: () => void;
  readonly #leave = (): void => this.stop('gone');
  #isFree = false;
  /** Set once `signal` fired. */
  reason: StopReason | undefined;

  constructor(caller: AbortSignal, free: () => void) {
    this.#caller = caller;
    this.#free = free;
    caller.addEventListener('abort', this.#leave, { once: true });
  }

  /** Fires when the call shall stop waiting. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(reason: StopReason): void {
    this.reason ??= reason;
    this.#controller.abort();
    // nobody may be left to end it: a stream that was never read, or a reader that will not come back
    if (reason === 'gone') this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    if (this.#isFree) return;
    this.#isFree = true;
    this.#caller.removeEventListener('abort', this.#leave);
    this.#free();
  }

  /** Lets a stream keep this place for as long as it is read. */
  carry(items: AsyncGenerator<StreamItem>): AsyncIterable<StreamItem> {
    const iterator: AsyncIterator<StreamItem> = {
      next: async () => {
        try {
          const result = await items.next();
          if (result.done) this[Symbol.dispose]();
          return result;
        } catch (error) {
          this[Symbol.dispose]();
          throw error;
        }
      },
      return: async () => {
        this.stop('gone'); // a `next` may be waiting for the log: it must not hold up the one who leaves
        await items.return(undefined);
        return { done: true, value: undefined };
      },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }
}
