import { A2AError } from '../protocol/errors.ts';

/** One event as text: an optional id and one line of JSON. `JSON.stringify` never writes a line break, so one `data:` line is enough. */
export function printEvent(json: string, id?: number): string {
  return id === undefined ? `data: ${json}\n\n` : `id: ${id}\ndata: ${json}\n\n`;
}

/** A comment that keeps proxies from cutting a quiet stream (AMB-13). */
export const HEARTBEAT = ':\n\n';

/** How often a heartbeat is due. */
export const HEARTBEAT_MS = 15_000;

/** Largest event our client takes, in characters (case 84). */
export const EVENT_LENGTH_MAX: number = 16 * 1024 * 1024;

/** An event of a stream. `id` is the last one the stream has named, which need not be on the event itself. */
export interface StreamEvent {
  readonly data: string;
  readonly id?: string;
  readonly event?: string;
}

/** A parser of `text/event-stream`: chunks in, whole events out. */
export interface EventParser {
  /** Events that end in this chunk. Throws once an event is larger than the limit; the stream is then of no more use. */
  push(chunk: Uint8Array): readonly StreamEvent[];
  /** Where to go on after a cut: the id of the last whole block. */
  readonly lastEventId: string | undefined;
  /** The server's wish for how long to wait before connecting again. */
  readonly retryMs: number | undefined;
}

const colon = 0x3a;
const carriageReturn = '\r';
const retryShape = /^\d{1,9}$/;

/**
 * A parser by the WHATWG rules: LF, CRLF and CR, chunks cut anywhere, comments, BOM, several data lines, an unfinished last event is dropped
 * (case 83). Ours and not `eventsource-parser`: its last release for Node 20 (3.1) keeps back an event that a lone CR ends until more arrives, so
 * that the last one of such a stream is never seen, and forgets ids between events. A line is kept in pieces until its end, so that an event
 * of 8 MB costs what its bytes cost (case 84).
 */
export function createEventParser(lengthMax: number = EVENT_LENGTH_MAX): EventParser {
  return new Parser(lengthMax);
}

class Parser implements EventParser {
  readonly #lengthMax: number;
  // strips a BOM at the start of the stream, replaces bad bytes, keeps a character that is cut in two
  readonly #utf8 = new TextDecoder();
  /** Pieces of a line that has not ended. */
  #pieces: string[] = [];
  /** Characters kept: of the unfinished line and of the data lines before it. */
  #length = 0;
  /** The chunk before ended with CR: an LF at the start of the next belongs to it. */
  #skipsLineFeed = false;
  #data: string[] = [];
  #event = '';
  #id: string | undefined;
  lastEventId: string | undefined;
  retryMs: number | undefined;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  push(chunk: Uint8Array): readonly StreamEvent[] {
    const text = this.#utf8.decode(chunk, { stream: true });
    const events: StreamEvent[] = [];
    let start = 0;
    if (this.#skipsLineFeed && text !== '') {
      if (text.startsWith('\n')) start = 1;
      this.#skipsLineFeed = false;
    }
    for (const [from, to, next] of linesOf(text, start)) {
      this.#endLine(text.slice(from, to), events);
      if (next === text.length && text.endsWith(carriageReturn)) this.#skipsLineFeed = true;
      start = next;
    }
    if (start < text.length) this.#keep(text.slice(start));
    return events;
  }

  #keep(piece: string): void {
    this.#pieces.push(piece);
    this.#grow(piece.length);
  }

  #grow(by: number): void {
    this.#length += by;
    if (this.#length <= this.#lengthMax) return;
    this.#pieces = [];
    this.#data = [];
    throw new A2AError('INVALID_AGENT_RESPONSE', `The agent sent an event of more than ${this.#lengthMax} characters.`);
  }

  #endLine(last: string, events: StreamEvent[]): void {
    let line = last;
    if (this.#pieces.length > 0) {
      const kept = this.#pieces.join('');
      this.#length -= kept.length;
      this.#pieces = [];
      line = kept + last;
    }
    if (line === '') this.#dispatch(events);
    else this.#field(line);
  }

  #field(line: string): void {
    if (line.charCodeAt(0) === colon) return; // a comment
    const at = line.indexOf(':');
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? '' : line.slice(line.startsWith(' ', at + 1) ? at + 2 : at + 1);
    switch (name) {
      case 'data':
        this.#data.push(value);
        this.#grow(value.length + 1); // + 1: so that empty lines without end have a limit as well
        return;
      case 'event':
        this.#event = value;
        return;
      case 'id':
        if (!value.includes('\0')) this.#id = value;
        return;
      case 'retry':
        if (retryShape.test(value)) this.retryMs = Number(value);
        return;
      default: // unknown names are ignored
    }
  }

  #dispatch(events: StreamEvent[]): void {
    this.lastEventId = this.#id;
    const event = this.#event;
    const [only] = this.#data;
    if (only !== undefined) {
      events.push({
        data: this.#data.length === 1 ? only : this.#data.join('\n'),
        ...(this.#id === undefined ? {} : { id: this.#id }),
        ...(event === '' ? {} : { event }),
      });
    }
    this.#data = [];
    this.#event = '';
    this.#length = 0;
  }
}

/** Where each finished line of a text starts and ends, and where the next one begins. */
function* linesOf(text: string, start: number): Generator<readonly [from: number, to: number, next: number]> {
  let from = start;
  let cr = text.indexOf(carriageReturn, from);
  let lf = text.indexOf('\n', from);
  while (cr >= 0 || lf >= 0) {
    const isCr = cr >= 0 && (lf < 0 || cr < lf);
    const to = isCr ? cr : lf;
    const next = isCr && lf === cr + 1 ? to + 2 : to + 1;
    yield [from, to, next];
    from = next;
    if (cr >= 0 && cr < from) cr = text.indexOf(carriageReturn, from);
    if (lf >= 0 && lf < from) lf = text.indexOf('\n', from);
  }
}

/**
 * The events of a body. Leaving the loop early ends the body's iterator, and with it the connection (case 85). An unfinished last event is not
 * delivered.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>, parser: EventParser = createEventParser()): AsyncGenerator<StreamEvent> {
  for await (const chunk of body) yield* parser.push(chunk);
}
