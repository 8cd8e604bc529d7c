import { assert } from '../ground/assert.ts';
import type { A2AError } from '../protocol/errors.ts';
import type { Message, StreamResponse, Task, TaskState } from '../protocol/types.ts';
import type { CallOptions, Calls } from './calls.ts';
import type { Deadline } from './deadline.ts';
import type { Patience } from './options.ts';
import { pause } from './retry.ts';
import type { Opening, Source } from './sources.ts';
import { lookAt, nextSource } from './sources.ts';
import { StreamView } from './stream-view.ts';
import { hasCode, isWorthAnotherTry, noAnswer } from './trouble.ts';

/**
 * The news of a task, item by item, over as many connections as it takes: none missing, none twice. Read it once, with `for await` or with
 * `result`; leaving the loop closes the connection and cancels nothing.
 */
export interface TaskStream extends AsyncIterable<StreamResponse> {
  /** The task as folded from what was read so far: deltas are added once, a `task` item replaces what was there (case 89). */
  readonly task: Task | undefined;
  /** The state in it, without the cost of building it. It may be one that this version does not know. */
  readonly state: TaskState | undefined;
  /** The agent's direct answer, if it made no task of the message (STRM-03). */
  readonly message: Message | undefined;
  /** Id of the last item read: `follow({ after })` goes on from there, in another process too. */
  readonly cursor: string | undefined;
  /** Reads to the end and gives what came of it. */
  result(): Promise<Task | Message>;
  /** Closes the connection; a loop that waits for the next item ends. */
  close(): Promise<void>;
}

/** How one connection went. */
type Outcome =
  | { readonly kind: 'over' }
  /** It ended too early. `isOpen`: the agent was there and had answered. `error`: what is told when there is no more patience. */
  | { readonly kind: 'cut'; readonly isOpen: boolean; readonly error: A2AError; readonly hintMs?: number | undefined };

/** How long an ended stream may take to close by itself: then its connection serves the next call. */
const LINGER_MS = 100;

/** What a stream is made of. */
export interface StreamParts {
  readonly calls: Calls;
  readonly canStream: boolean;
  readonly options: CallOptions;
}

/** A TaskStream that connects again by itself. */
export class ReconnectingStream implements TaskStream {
  readonly #opening: Opening;
  readonly #calls: Calls;
  readonly #canStream: boolean;
  readonly #options: CallOptions;
  readonly #view: StreamView;
  #deadline: Deadline | undefined;
  #news = 0;
  #isClosed = false;
  #isRead = false;

  constructor(opening: Opening, { calls, canStream, options }: StreamParts) {
    this.#opening = opening;
    this.#calls = calls;
    this.#canStream = canStream;
    this.#options = options;
    this.#view = new StreamView(opening, calls.settings.answerBytesMax);
  }

  get task(): Task | undefined {
    return this.#view.task;
  }

  get state(): TaskState | undefined {
    return this.#view.state;
  }

  get message(): Message | undefined {
    return this.#view.message;
  }

  get cursor(): string | undefined {
    return this.#view.cursor;
  }

  async result(): Promise<Task | Message> {
    for await (const item of this) void item; // the view keeps what counts
    const result = this.message ?? this.task;
    if (result === undefined) throw noAnswer('The stream was closed before anything came.');
    return result;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#deadline?.abort(noAnswer('The stream was closed.'));
    return Promise.resolve();
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamResponse, undefined> {
    assert(!this.#isRead, 'client: a stream is read once; open another one');
    this.#isRead = true;
    const items = this.#items();
    return {
      next: () => items.next(),
      // closed first: a generator that waits for its next item would not hear of it
      return: async () => {
        await this.close();
        return items.return(undefined);
      },
    };
  }

  async *#items(): AsyncGenerator<StreamResponse, undefined> {
    if (this.#isClosed) return undefined;
    const { timeoutMs = Infinity, signal } = this.#options;
    const deadline = this.#calls.deadline('The stream', timeoutMs, signal);
    this.#deadline = deadline;
    try {
      yield* this.#connections(deadline.signal);
    } catch (error) {
      if (!this.#isClosed) throw error;
    } finally {
      deadline.close();
    }
    return undefined;
  }

  async *#connections(signal: AbortSignal): AsyncGenerator<StreamResponse, undefined> {
    const { retry, reconnect, clock, random } = this.#calls.settings;
    let failures = 0; // in a row, without contact
    let quiet = 0; // connections in a row that brought no news
    for (;;) {
      const before = this.#news;
      const outcome = yield* this.#connect(signal);
      if (outcome.kind === 'over') return undefined;
      const isNews = this.#news > before;
      const hasBegun = this.#view.taskId !== undefined;
      // a send that brought nothing is done again, so it counts, even if there was contact: servers without keys would run it for ever
      failures = isNews || (outcome.isOpen && hasBegun) ? 0 : failures + 1;
      quiet = isNews ? 0 : quiet + 1;
      const patience = hasBegun ? reconnect : retry;
      if (failures > patience.tries) throw outcome.error;
      const isPoll = failures === 0 && quiet > 0;
      const [pace, tried] = isPoll ? [this.#poll(), quiet - 1] : [patience, Math.max(0, failures - 1)];
      await pause(tried, outcome.hintMs, { patience: pace, clock, random, signal });
      signal.throwIfAborted();
    }
  }

  /** The pace for a task that is there but has no news: of an agent that does not stream, or that closes streams early. */
  #poll(): Patience {
    const { pollMs } = this.#calls.settings;
    return { firstMs: pollMs, mostMs: pollMs * 10, tries: Infinity };
  }

  /** One try: a connection, and a look at the task if the connection is refused. */
  async *#connect(signal: AbortSignal): AsyncGenerator<StreamResponse, Outcome> {
    const { taskId, cursor } = this.#view;
    this.#view.connect();
    const source = await nextSource(this.#calls, { opening: this.#opening, taskId, after: cursor, canStream: this.#canStream, signal });
    try {
      return yield* this.#read(source, signal);
    } catch (error) {
      if (taskId === undefined || !isRefusal(error)) throw error;
      return yield* this.#read(lookAt(this.#calls, taskId, signal), signal);
    }
  }

  /** Hands out what is news of one source. */
  async *#read(source: Source, signal: AbortSignal): AsyncGenerator<StreamResponse, Outcome> {
    try {
      for await (const arrived of source.items()) {
        if (this.#view.isOver || !this.#view.take(arrived)) continue;
        this.#news += 1;
        yield arrived.item;
        if (this.#view.isOver) source.hurry(LINGER_MS);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (this.#view.isOver) return { kind: 'over' }; // it did not close in time
      if (!isWorthAnotherTry(error)) throw error;
      return { kind: 'cut', isOpen: source.isOpen, error, hintMs: error.retryAfterMs };
    }
    return this.#endOf(source);
  }

  #endOf(source: Source): Outcome {
    if (this.#view.mayEndHere) return { kind: 'over' };
    return { kind: 'cut', isOpen: source.isOpen, error: noAnswer('The stream ended before the task did.'), hintMs: source.retryMs };
  }
}

/**
 * How a subscription is refused to a task that has ended (SUB-03; TASK_NOT_FOUND by one server), and by an agent that does not stream: a look
 * at the task tells which.
 */
function isRefusal(error: unknown): boolean {
  return hasCode(error, 'UNSUPPORTED_OPERATION', 'METHOD_NOT_FOUND', 'TASK_NOT_FOUND');
}
