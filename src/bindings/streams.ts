import type { Clock, Timer } from '../ground/clock.ts';
import type { StreamItem } from '../operations/call.ts';
import type { StreamResponse } from '../protocol/types.ts';
import { mediaTypes } from '../wire/headers.ts';
import type { Hold } from './bytes.ts';
import { HEARTBEAT, HEARTBEAT_MS, printEvent } from '../wire/sse.ts';

/** Headers of a stream: no cache keeps it, no proxy collects it before passing it on (AMB-13). */
export const streamHeaders: Readonly<Record<string, string>> = {
  'content-type': mediaTypes.eventStream,
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** How a binding prints what a stream carries. */
export interface StreamPrinter {
  /** The JSON of one event, around the JSON of its item. */
  item(json: string): string;
  /** The JSON of the one event that tells an error, after which the stream closes (AMB-12). */
  error(thrown: unknown): string;
}

/** What a printed stream needs. */
export interface StreamParts {
  readonly clock: Clock;
  readonly printer: StreamPrinter;
  /** Called once, when the stream is over, however it ended. */
  readonly release: () => void;
  /** Counts a large event until its reader comes for the next one: only then has the socket taken it. */
  readonly hold: Hold;
}

/** The items as the text of Server-Sent Events: each with its cursor as `id:`, heartbeats while nothing happens. */
export function printStream(items: AsyncIterable<StreamItem>, parts: StreamParts): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => new PrintedStream(items[Symbol.asyncIterator](), parts) };
}

type Arrival =
  | { readonly kind: 'item'; readonly item: StreamItem }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly thrown: unknown };

type Printed = IteratorResult<string, undefined>;
type Answer = (printed: Printed | Promise<Printed>) => void;

const finished: IteratorReturnResult<undefined> = { done: true, value: undefined };
const heartbeat: Printed = { done: false, value: HEARTBEAT };

/**
 * Written out and not as a generator, because a heartbeat has to go out while the next item is awaited, because a stream that its reader
 * left is told so at once even then, and because a quiet one shall cost little: a function that waits costs half a kilobyte.
 */
class PrintedStream implements AsyncIterator<string, undefined> {
  readonly #items: AsyncIterator<StreamItem>;
  readonly #parts: StreamParts;
  #isOver = false;
  /** An item was asked for and has not been given out. */
  #isAsking = false;
  #arrival: Arrival | undefined;
  /** The reader that waits in `next`. */
  #reader: Answer | undefined;
  #timer: Timer | undefined;

  constructor(items: AsyncIterator<StreamItem>, parts: StreamParts) {
    this.#items = items;
    this.#parts = parts;
  }

  next(): Promise<Printed> {
    this.#parts.hold.release(); // the last one was taken
    if (this.#isOver) return Promise.resolve(finished);
    if (!this.#isAsking) this.#ask();
    if (this.#arrival) return Promise.resolve(this.#give(this.#arrival));
    this.#timer = this.#parts.clock.after(HEARTBEAT_MS, this.#beat);
    return new Promise((resolve) => (this.#reader = resolve));
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    if (this.#isOver) return finished;
    this.#end();
    this.#takeReader()?.(finished);
    await this.#items.return?.();
    return finished;
  }

  #ask(): void {
    this.#isAsking = true;
    this.#items.next().then(this.#onResult, this.#onError);
  }

  readonly #onResult = (result: IteratorResult<StreamItem, unknown>): void =>
    this.#arrive(result.done === true ? { kind: 'end' } : { kind: 'item', item: result.value });

  readonly #onError = (thrown: unknown): void => this.#arrive({ kind: 'error', thrown });

  readonly #beat = (): void => this.#takeReader()?.(heartbeat);

  #arrive(arrival: Arrival): void {
    const reader = this.#takeReader();
    if (!reader) {
      this.#arrival = arrival;
      return;
    }
    try {
      reader(this.#give(arrival));
    } catch (error) {
      reader(Promise.reject(error));
    }
  }

  /** Whoever takes the reader answers it: once, and no heartbeat is due any more. */
  #takeReader(): Answer | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
    return reader;
  }

  #give(arrival: Arrival): Printed {
    this.#arrival = undefined;
    this.#isAsking = false;
    return this.#print(arrival);
  }

  #print(arrival: Arrival): Printed {
    const { printer } = this.#parts;
    if (arrival.kind === 'item') return this.#printItem(arrival.item);
    this.#end();
    return arrival.kind === 'end' ? finished : { done: false, value: printEvent(printer.error(arrival.thrown)) };
  }

  #printItem({ item, seq }: StreamItem): Printed {
    const { printer, hold } = this.#parts;
    const value = printEvent(printer.item(jsonOf(item)), seq);
    try {
      hold.set(value.length);
      return { done: false, value };
    } catch (refusal) {
      this.#end();
      void this.#items.return?.().catch(() => {}); // it may wait for nothing any more, and what it says is of no interest
      return { done: false, value: printEvent(printer.error(refusal)) };
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#parts.hold.release();
    this.#parts.release();
  }
}

// the streams of a task on one replica share its items, so each is printed once for all of them
const printed = new WeakMap<StreamResponse, string>();

function jsonOf(item: StreamResponse): string {
  const known = printed.get(item);
  if (known !== undefined) return known;
  const json = JSON.stringify(item);
  printed.set(item, json);
  return json;
}
