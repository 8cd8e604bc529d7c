import { settled } from '../ground/settled.ts';
import type { Signal } from '../ground/signal.ts';
import { Stopper } from '../ground/signal.ts';
import type { IncomingMessage } from 'node:http';
import type { Exchange } from '../bindings/exchange.ts';
import type { Clock } from '../ground/clock.ts';
import type { A2AError } from '../protocol/errors.ts';
import { invalidRequest, tooLarge, unavailable } from '../protocol/errors.ts';

/** What a Node request needs beside itself to be an exchange. */
export interface NodeExchangeParts {
  readonly base: string;
  /** Below the mount's prefix, percent-encoded, without the query. */
  readonly path: string;
  readonly search: string;
  readonly clock: Clock;
  /** How long the whole body may take to come. */
  readonly bodyMs: number;
}

/** A request of Node's own server. What most requests do not ask for (the query) is made when it is asked for. */
export class NodeExchange implements Exchange {
  readonly base: string;
  readonly path: string;
  readonly #request: IncomingMessage;
  readonly #parts: NodeExchangeParts;
  #query: URLSearchParams | undefined;
  readonly #gone = new Stopper();

  constructor(request: IncomingMessage, parts: NodeExchangeParts) {
    this.#request = request;
    this.#parts = parts;
    this.base = parts.base;
    this.path = parts.path;
  }

  get method(): string {
    return this.#request.method ?? 'GET';
  }

  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.#parts.search));
  }

  get signal(): Signal {
    return this.#gone;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  async body(bytesMax: number, onBytes: (bytes: number) => void = () => {}): Promise<Uint8Array> {
    const parsed = parsedBody(this.#request);
    if (parsed) return parsed;
    if (Number(this.#request.headers['content-length']) > bytesMax) throw tooLarge('The body', bytesMax);
    await settled; // a request is told of by its head; what came together with it is parsed a moment later
    if (hasArrived(this.#request)) return readArrived(this.#request, bytesMax, onBytes);
    return readAll(this.#request, { ...this.#parts, bytesMax, onBytes });
  }

  /** The socket closed before the reply was out. */
  hangUp(): void {
    this.#gone.abort();
  }
}

/**
 * A body parser that ran before us (express.json, express.raw) has eaten the stream and left what it made of it. Numbers beyond 2^53 are
 * already lost in a parsed one: mount the agent before such a parser.
 */
function parsedBody(request: IncomingMessage & { readonly body?: unknown }): Uint8Array | undefined {
  if (!request.readableEnded || request.body === undefined) return undefined;
  const { body } = request;
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A short body comes with its head; waiting for it all the same, with a timer and four listeners, would cost more than to parse it. */
function hasArrived({ complete, readableEnded, readableFlowing }: IncomingMessage): boolean {
  return complete && !readableEnded && readableFlowing !== true;
}

function readArrived(request: IncomingMessage, bytesMax: number, onBytes: (bytes: number) => void): Uint8Array {
  const body: Uint8Array | null = request.read(); // all of it: nobody has read or asked for pieces
  if (body && body.length > bytesMax) throw tooLarge('The body', bytesMax);
  onBytes(body?.length ?? 0);
  return body ?? new Uint8Array();
}

interface ReadParts extends Pick<NodeExchangeParts, 'clock' | 'bodyMs'> {
  readonly bytesMax: number;
  readonly onBytes: (bytes: number) => void;
}

function readAll(request: IncomingMessage, { clock, bodyMs, bytesMax, onBytes }: ReadParts): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = clock.after(bodyMs, () => settle(tooSlow(bodyMs)));
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > bytesMax) return settle(tooLarge('The body', bytesMax));
      chunks.push(chunk);
      try {
        onBytes(bytes);
      } catch (refusal) {
        settle(refusal);
      }
    };
    const onEnd = (): void => settle(undefined);
    const onGone = (): void => settle(cutOff());
    const settle = (error: unknown): void => {
      timer.cancel();
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      request.on('error', ignore);
      if (error !== undefined) reject(error);
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    };
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    if (request.readableEnded) onEnd();
  });
}

/**
 * What still comes is nobody's; an error without a listener would end the process. Out here, because a function of `readAll` would keep the body
 * for as long as the answer takes.
 */
const ignore = (): void => {};

const tooSlow = (bodyMs: number): A2AError => unavailable(`The body did not arrive within ${bodyMs} ms; send it again.`);

const cutOff = (): A2AError => invalidRequest('The request ended before its body did.');
