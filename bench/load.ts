import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_CHUNKS = '\r\n0\r\n\r\n';

/** The length of a whole response at the front of these bytes; undefined while some of it is missing. */
function responseLength(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf(END_OF_HEAD);
  if (headEnd < 0) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, headEnd + 2))?.[1];
  if (length !== undefined) {
    const total = headEnd + END_OF_HEAD.length + Number(length);
    return bytes.length >= total ? total : undefined;
  }
  const chunksEnd = bytes.indexOf(END_OF_CHUNKS, headEnd + 2);
  return chunksEnd < 0 ? undefined : chunksEnd + END_OF_CHUNKS.length;
}

/**
 * One caller on one kept-alive connection, one request at a time. Written on bare sockets: a full HTTP client costs as much as the
 * server, and then it would be the client that is measured.
 */
export class Caller {
  readonly #socket: Socket;
  readonly #head: string;
  #bytes: Buffer = Buffer.alloc(0);
  #resolve: ((response: string) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(url: string) {
    const { hostname, port, pathname } = new URL(url);
    this.#head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\na2a-version: 1.0\r\naccept: application/json\r\n`;
    this.#socket = connect(Number(port), hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (bytes) => this.#take(bytes));
    this.#socket.on('error', (error) => this.#reject?.(error));
    this.#socket.on('close', () => this.#reject?.(new Error('bench: the server closed the connection')));
  }

  /** Posts a body and resolves with the whole response, head included. */
  ask(body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(`${this.#head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }

  close(): void {
    this.#reject = undefined;
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    const length = responseLength(this.#bytes);
    if (length === undefined) return;
    const response = this.#bytes.toString('utf8', 0, length);
    this.#bytes = this.#bytes.subarray(length);
    this.#resolve?.(response);
  }
}

/** What happened in one window of load. */
export interface Window {
  readonly answers: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LoadOptions {
  readonly url: string;
  readonly callers: number;
  readonly windowMs: number;
  readonly body: () => string;
  /** Stands in every right answer. */
  readonly expected: string;
}

/** Lets many callers ask without pause for a while; every answer is checked, those within the window are counted. */
export async function load({ url, callers, windowMs, body, expected }: LoadOptions): Promise<Window> {
  const latenciesMs: number[] = [];
  const begin = performance.now();
  const end = begin + windowMs;
  const one = async (): Promise<void> => {
    const caller = new Caller(url);
    for (let now = performance.now(); now < end;) {
      const asked = now;
      const response = await caller.ask(body());
      if (!response.includes(expected)) throw new Error(`bench: ${expected} was expected, this came: ${response.slice(0, 2_000)}`);
      now = performance.now();
      if (now <= end) latenciesMs.push(now - asked);
    }
    caller.close();
  };
  await Promise.all(Array.from({ length: callers }, one));
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { answers: sorted.length, seconds: windowMs / 1_000, p50Ms: at(0.5), p99Ms: at(0.99) };
}
