import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Reply } from '../bindings/exchange.ts';
import type { Clock } from '../ground/clock.ts';

/** How replies are printed. */
export interface PrintOptions {
  readonly clock: Clock;
  /** A socket that takes nothing for so long is destroyed. */
  readonly stallMs: number;
  /** The connection is not kept after this reply. */
  readonly isLast: boolean;
  /** A stream could not be printed, for a reason that is not the caller's. */
  readonly onTrouble: (response: ServerResponse, error: unknown) => void;
}

// A caller that is still sending when its answer is out (a body too large, or refused unread) would get a reset instead of the answer if
// the connection closed at once. So long, and so many bytes, are read and dropped first.
const LINGER_MS = 1_000;
export const LINGER_BYTES_MAX: number = 64 * 1024 * 1024;

// Enough to make a system call worth it; little enough that a reader which takes a kilobyte a second is never seen as one that takes nothing.
const PIECE_LENGTH_MAX = 64 * 1024;

/** Where a reply goes. */
interface Exit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly options: PrintOptions;
}

/**
 * Prints a reply to the socket; resolves when all is handed over, the caller is gone, or a stream has begun: nobody waits for the end of one,
 * for there are thousands of them (P11). Never rejects for what the caller does.
 */
export async function print(reply: Reply, request: IncomingMessage, response: ServerResponse, options: PrintOptions): Promise<void> {
  const { body = '', onSent } = reply;
  const exit = { request, response, options };
  const isGone = response.destroyed || response.writableEnded;
  if (!isGone && typeof body !== 'string') return printStream(reply, body, exit);
  try {
    if (typeof body === 'string') await (isGone ? undefined : printText(reply, body, exit));
    else await body[Symbol.asyncIterator]().return?.();
  } finally {
    onSent?.();
  }
}

async function printText(reply: Reply, body: string, exit: Exit): Promise<void> {
  const { request, response, options } = exit;
  const isUnread = !request.complete;
  writeHead(reply, response, options.isLast || isUnread);
  if (body.length > PIECE_LENGTH_MAX) {
    const pump = new Pump(piecesOf(body), exit);
    if (!(await new Promise<boolean>((resolve, reject) => pump.run(resolve, reject)))) return;
  } else if (!isUnread) {
    response.end(body); // headers and body in one system call
    return watchEnd(response, options);
  } else response.write(body);
  await finish(exit);
}

function printStream(reply: Reply, body: AsyncIterable<string>, exit: Exit): void {
  const { request, response, options } = exit;
  writeHead(reply, response, options.isLast || !request.complete);
  response.flushHeaders(); // the caller learns at once that the stream is open
  const { onSent } = reply; // the rest of it is not needed until the end
  const fail = (error: unknown): void => {
    onSent?.();
    options.onTrouble(response, error);
  };
  const done = (isWhole: boolean): void => {
    onSent?.();
    if (isWhole) finish(exit).catch(fail);
  };
  new Pump(body, exit).run(done, fail);
}

/** All is written. */
async function finish({ request, response, options }: Exit): Promise<void> {
  if (!request.complete) await readRest(request, options.clock);
  response.end();
  watchEnd(response, options);
}

function writeHead({ status, headers, body = '' }: Reply, response: ServerResponse, isLast: boolean): void {
  const list: string[] = []; // names and values in turn: as Node writes them, without an object in between
  for (const [name, value] of Object.entries(headers)) list.push(name, value);
  if (isLast) list.push('connection', 'close');
  if (typeof body === 'string' && status !== 204 && status !== 304) list.push('content-length', String(Buffer.byteLength(body)));
  response.writeHead(status, list);
}

async function* piecesOf(text: string): AsyncGenerator<string> {
  // a cut through a surrogate pair would be written as two broken halves
  for (let at = 0; at < text.length;) {
    const end = at + PIECE_LENGTH_MAX;
    const unit = text.charCodeAt(end - 1);
    const next = unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end;
    yield text.slice(at, next);
    at = next;
  }
}

/**
 * Writes the pieces of a body as they come. Written out and not as a loop in an async function, because thousands of quiet streams wait at
 * once, and one that waits costs half a kilobyte (P11).
 */
class Pump {
  readonly #pieces: AsyncIterator<string>;
  readonly #response: ServerResponse;
  readonly #options: PrintOptions;
  readonly #out: Joiner;
  #done: (isWhole: boolean) => void = () => {};
  #fail: (error: unknown) => void = () => {};

  constructor(body: AsyncIterable<string>, { response, options }: Exit) {
    this.#pieces = body[Symbol.asyncIterator]();
    this.#response = response;
    this.#options = options;
    this.#out = new Joiner(response);
  }

  /** `done` gets false when the socket closed first; the body is told so, by its `return`. */
  run(done: (isWhole: boolean) => void, fail: (error: unknown) => void): void {
    this.#done = done;
    this.#fail = fail;
    this.#pull();
  }

  #pull(): void {
    this.#pieces.next().then(this.#take, this.#fail);
  }

  readonly #take = ({ done, value }: IteratorResult<string, unknown>): void => {
    try {
      if (done === true) this.#finish();
      else if (this.#response.destroyed) this.#leave();
      else this.#write(value);
    } catch (error) {
      this.#fail(error);
    }
  };

  #write(piece: string): void {
    this.#out.add(piece);
    if (!this.#response.writableNeedDrain) return this.#pull();
    hasDrained(this.#response, this.#options).then((isOpen) => (isOpen ? this.#pull() : this.#leave()), this.#fail);
  }

  #finish(): void {
    this.#out.flush();
    this.#done(!this.#response.destroyed);
  }

  #leave(): void {
    Promise.resolve(this.#pieces.return?.()).then(() => this.#done(false), this.#fail);
  }
}

/** Pieces that are ready in the same turn of the event loop go out with one write: a fast stream costs a system call a batch, not an event. */
class Joiner {
  readonly #response: ServerResponse;
  #waiting = '';

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  add(piece: string): void {
    if (this.#waiting === '') process.nextTick(() => this.flush()); // it runs when all promises that are settled now have been seen
    this.#waiting += piece;
    if (this.#waiting.length >= PIECE_LENGTH_MAX) this.flush();
  }

  flush(): void {
    if (this.#waiting === '' || this.#response.destroyed) return;
    const text = this.#waiting;
    this.#waiting = '';
    this.#response.write(text);
  }
}

/** True when the socket took what was written, false when it closed or took nothing for `stallMs`. */
function hasDrained(response: ServerResponse, options: PrintOptions): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stall = watchStall(response, options);
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      stall.stop();
      resolve(!response.destroyed);
    };
    response.on('drain', settle).on('close', settle);
  });
}

/** After the last write: nearly always the kernel has taken all of it at once, and there is nothing to watch. */
function watchEnd(response: ServerResponse, options: PrintOptions): void {
  if (!response.socket || response.socket.writableLength === 0) return;
  const stall = watchStall(response, options);
  response.once('finish', stall.stop).once('close', stall.stop);
}

/**
 * Destroys a socket that takes nothing: its reader would hold its memory, and its turn among the open streams, for ever (P11). One that is
 * merely slow is left alone.
 */
function watchStall(response: ServerResponse, { clock, stallMs }: PrintOptions): { readonly stop: () => void } {
  const taken = (): number => (response.socket ? response.socket.bytesWritten - response.socket.writableLength : 0);
  let before = taken();
  const look = (): void => {
    const now = taken();
    if (now === before) return void response.destroy();
    before = now;
    timer = clock.after(stallMs, look);
  };
  let timer = clock.after(stallMs, look);
  return { stop: () => timer.cancel() };
}

/** Reads and drops what the caller still sends, until it has sent all, or for a moment. */
function readRest(request: IncomingMessage, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let dropped = 0;
    const settle = (): void => {
      timer.cancel();
      request.off('data', count).off('end', settle).off('close', settle);
      resolve();
    };
    const count = (chunk: Uint8Array): void => {
      dropped += chunk.length;
      if (dropped > LINGER_BYTES_MAX) settle();
    };
    const timer = clock.after(LINGER_MS, settle);
    request.on('data', count).once('end', settle).once('close', settle).resume();
    if (request.complete && request.readableEnded) settle();
  });
}
