import { isPlainObject } from '../protocol/json.ts';
import { mediaTypes } from '../wire/headers.ts';
import { readAnswer } from '../wire/reader.ts';
import type { EventParser } from '../wire/sse.ts';
import { createEventParser, readEvents } from '../wire/sse.ts';
import { parseEvent, readJson } from './body.ts';
import type { Deadline } from './deadline.ts';
import { readBody } from './http.ts';
import type { Question, StreamItem } from './question.ts';
import { failureOf } from './question.ts';
import { errorOf, noAnswer } from './trouble.ts';

/** What a connection is made of. */
export interface ConnectionParts {
  readonly question: Question;
  readonly send: (signal: AbortSignal) => Promise<Response>;
  /** Begins to watch over the silence. */
  readonly watch: () => Deadline;
  readonly answerBytesMax: number;
  readonly origin: string;
}

const payloads = ['task', 'message', 'statusUpdate', 'artifactUpdate', 'status_update', 'artifact_update'] as const;

/** One stream over one connection: from its request to its end, clean or not. */
export class Connection {
  readonly #parts: ConnectionParts;
  #parser: EventParser | undefined;
  #watch: Deadline | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** True once the agent has answered with a stream. */
  get isOpen(): boolean {
    return this.#parser !== undefined;
  }

  /** How long the server asked to wait before connecting again. */
  get retryMs(): number | undefined {
    return this.#parser?.retryMs;
  }

  /** Gives the rest of the stream only so long to end by itself: an ended one leaves its connection to the next call. */
  hurry(ms: number): void {
    this.#watch?.last(ms);
  }

  /**
   * The items, as they come. Ends when the server ends the stream; throws what the agent answers instead of a stream or inside it (AMB-12), and
   * UNAVAILABLE if the connection breaks. Leaving the loop closes the connection (case 85).
   */
  async *items(): AsyncGenerator<StreamItem> {
    const watch = this.#parts.watch();
    this.#watch = watch;
    try {
      const response = await this.#parts.send(watch.signal);
      if (isEventStream(response)) yield* this.#events(response, watch);
      else yield* this.#single(response, watch);
    } finally {
      watch.abort(noAnswer('The stream was closed.'));
    }
  }

  async *#events(response: Response, watch: Deadline): AsyncGenerator<StreamItem> {
    const { answerBytesMax, question } = this.#parts;
    const parser = createEventParser(answerBytesMax);
    this.#parser = parser;
    const body = readBody(response, { watch, bytesMax: Infinity });
    let before: { readonly id?: string; readonly data: string } | undefined;
    for await (const event of readEvents(body, parser)) {
      // an event without an id of its own has the one before it: only with the same content it is the same event once more
      const isRepeat = event.id !== undefined && event.id === before?.id && event.data === before.data;
      before = event;
      if (isRepeat || event.data === '') continue;
      const item = question.readEvent(parseEvent(event.data));
      if (!isKnown(item)) continue;
      const { length } = event.data;
      yield { ...(event.id === undefined ? {} : { id: event.id }), item: readAnswer('StreamResponse', item), length };
    }
    if (response.status >= 400) throw errorOf({ status: response.status });
  }

  /** An error, most often; some servers answer a streaming call with one plain result (RPC-12). */
  async *#single(response: Response, watch: Deadline): AsyncGenerator<StreamItem> {
    const { answerBytesMax: bytesMax, question, origin } = this.#parts;
    const body = await readJson(response, { watch, bytesMax });
    const { status, headers } = response;
    if (status >= 400) throw failureOf(question, { status, body, retryAfter: headers.get('retry-after') });
    if (body === undefined) throw noAnswer(`${origin} answered with an empty body instead of a stream.`);
    yield { item: readAnswer('StreamResponse', question.readEvent(body)) };
  }
}

function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.trim().toLowerCase().startsWith(mediaTypes.eventStream) ?? false;
}

/** A later version may send other items: they are passed over (JSON-18). What is no object at all is left for the reader to refuse. */
function isKnown(item: unknown): boolean {
  return !isPlainObject(item) || payloads.some((name) => item[name] !== undefined && item[name] !== null);
}
