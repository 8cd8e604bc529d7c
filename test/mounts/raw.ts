import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A socket in the hands of a test: it sends what it is told, byte by byte if need be, and keeps what comes. */
export class RawSocket implements AsyncDisposable {
  readonly socket: Socket;
  received = '';
  isClosed = false;
  readonly #closed: Promise<void>;

  constructor(url: string, { reads = true }: { readonly reads?: boolean } = {}) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname.replace(/[[\]]/g, ''), port: Number(port) });
    this.socket.on('error', () => {}); // a reset is what some tests are about
    this.#closed = new Promise((resolve) => {
      this.socket.once('close', () => {
        this.isClosed = true;
        resolve();
      });
    });
    if (reads) this.socket.on('data', (bytes: Buffer) => (this.received += bytes.toString('latin1')));
  }

  send(text: string): void {
    this.socket.write(text);
  }

  /** Waits until the text has come; fails after the deadline. */
  async until(text: string, deadlineMs = 10_000): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    while (!this.received.includes(text)) {
      if (performance.now() > deadline || this.isClosed)
        throw new Error(`waited in vain for ${JSON.stringify(text)}, got ${this.received}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Waits until the other side has closed; fails after the deadline. */
  async untilClosed(deadlineMs = 10_000): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`still open after ${deadlineMs} ms, got ${this.received}`)), deadlineMs);
    });
    try {
      await Promise.race([this.#closed, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  get status(): number {
    return Number(this.received.split(' ', 2)[1]);
  }

  /** JSON of the body, if it came whole. */
  get body(): unknown {
    const json: unknown = JSON.parse(this.received.slice(this.received.indexOf('\r\n\r\n') + 4));
    return json;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.#closed;
  }
}

/** A request as text, with the version and a host. */
export const requestText = (line: string, headers: Readonly<Record<string, string | number>> = {}, body = ''): string => {
  const all = { host: 'a.example', 'a2a-version': '1.0', ...headers };
  return `${line} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`;
};
