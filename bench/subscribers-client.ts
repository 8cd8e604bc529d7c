import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { rpc } from './words.ts';

/** What a subscriber has seen. */
export interface Seen {
  readonly heartbeats: number;
  /** Events that carry a chunk. */
  readonly chunks: number;
  /** Ids that did not rise. */
  readonly disorders: number;
  readonly isOver: boolean;
}

const BLOCK_END = '\n\n';

/** One subscriber on a bare socket: five thousand HTTP clients would cost more than the server that is measured. */
export class Subscriber {
  readonly #socket: Socket;
  readonly #opened: Promise<void>;
  readonly #closed: Promise<void>;
  readonly #over: Promise<void>;
  #rest = '';
  #isOpen = false;
  #chunks = 0;
  #heartbeats = 0;
  #disorders = 0;
  #lastId = -1;
  #isOver = false;
  #open: () => void = () => {};
  #end: () => void = () => {};

  constructor(url: string, taskId: string) {
    const { hostname, port, pathname } = new URL(url);
    const body = rpc('SubscribeToTask', { id: taskId });
    const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\na2a-version: 1.0\r\naccept: text/event-stream\r\n`;
    this.#socket = connect(Number(port), hostname);
    this.#socket.setEncoding('latin1');
    this.#socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#closed = new Promise((resolve) => this.#socket.on('close', () => resolve()));
    this.#over = new Promise((resolve) => (this.#end = resolve));
    this.#opened = new Promise((resolve, reject) => {
      this.#open = resolve;
      this.#socket.on('error', reject);
      this.#socket.on('close', () => reject(new Error(`bench: a stream ended before its first event: ${this.#rest.slice(0, 2_000)}`)));
    });
  }

  /** Resolves with the first event. */
  get opened(): Promise<void> {
    return this.#opened;
  }

  /** Resolves when the task has ended. */
  get over(): Promise<void> {
    return this.#over;
  }

  get seen(): Seen {
    return { heartbeats: this.#heartbeats, chunks: this.#chunks, disorders: this.#disorders, isOver: this.#isOver };
  }

  close(): Promise<void> {
    this.#socket.destroy();
    return this.#closed;
  }

  #take(text: string): void {
    this.#rest += text;
    if (!this.#isOpen && !this.#rest.includes('data:')) return; // the head, or an answer that is no stream
    for (let end = this.#rest.indexOf(BLOCK_END); end >= 0; end = this.#rest.indexOf(BLOCK_END)) {
      this.#see(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end + BLOCK_END.length);
    }
  }

  /** A block, perhaps with the marks of HTTP's chunks around it. */
  #see(block: string): void {
    if (!block.includes('data:')) {
      this.#heartbeats += 1;
      return;
    }
    if (block.includes('"error"')) throw new Error(`bench: a stream told an error: ${block.slice(0, 2_000)}`);
    const id = Number(/^id: (\d+)$/m.exec(block)?.[1] ?? this.#lastId + 1);
    if (id <= this.#lastId) this.#disorders += 1;
    this.#lastId = id;
    if (block.includes('"artifactUpdate"')) this.#chunks += 1;
    if (block.includes('TASK_STATE_COMPLETED')) {
      this.#isOver = true;
      this.#end();
    }
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#open();
  }
}

/** Connections opened at once: fewer than a server lets wait. */
const OPENING_MAX = 100;

/** Opens one subscriber for each task; resolves when all have their first event. */
export async function subscribeAll(url: string, taskIds: readonly string[]): Promise<readonly Subscriber[]> {
  const subscribers: Subscriber[] = [];
  for (let from = 0; from < taskIds.length; from += OPENING_MAX) {
    const some = taskIds.slice(from, from + OPENING_MAX).map((id) => new Subscriber(url, id));
    await Promise.all(some.map(({ opened }) => opened));
    subscribers.push(...some);
  }
  return subscribers;
}
