import { Agent, createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** A replica as the front sees it. */
export interface FrontTarget {
  readonly name: string;
  readonly url: string;
}

/** Names the replica that is to answer (on a request) or has answered (on a reply). */
export const REPLICA_HEADER = 'chorus-replica';

// per connection, not per message: the front has its own towards each side
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']);

/**
 * A load balancer as plain as they come: each request goes to the next replica in the round, a dead one is skipped, a reply is passed on
 * piece by piece, and when a replica dies in mid-reply the caller's connection is cut: never a clean end that nobody meant. `pin` and the
 * request header `chorus-replica` send to one replica.
 */
export class Front {
  readonly #server: Server;
  // a connection per request: one that was kept would break at the next request after its replica died, and look like a lost request
  readonly #agent = new Agent({ keepAlive: false });
  #targets: readonly FrontTarget[] = [];
  #pinned: string | undefined;
  #next = 0;
  #url = '';

  constructor() {
    this.#server = createServer((incoming, reply) => this.#pass(incoming, reply));
    this.#server.keepAliveTimeout = 75_000;
  }

  /** Where callers reach the replicas. */
  get url(): string {
    return this.#url;
  }

  /** Starts to listen on a free port of the loopback. */
  async open(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = this.#server.address() as AddressInfo; // it listens on TCP, so it is no pipe's name
    this.#url = `http://127.0.0.1:${port}`;
  }

  /** Who answers from now on; replies under way go on. */
  setTargets(targets: readonly FrontTarget[]): void {
    this.#targets = targets;
  }

  /** Sends everything to one replica; without a name in turns again. */
  pin(name?: string): void {
    this.#pinned = name;
  }

  /** Cuts all connections and ends. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await closed;
  }

  #pass(incoming: IncomingMessage, reply: ServerResponse): void {
    const header = incoming.headers[REPLICA_HEADER];
    this.#try(incoming, reply, this.#order(typeof header === 'string' ? header : this.#pinned));
  }

  /** The targets for one request: the next in the round first, the others behind it in case it is dead. */
  #order(wanted: string | undefined): readonly FrontTarget[] {
    if (wanted !== undefined) return this.#targets.filter((target) => target.name === wanted);
    const start = this.#next++ % Math.max(1, this.#targets.length);
    return [...this.#targets.slice(start), ...this.#targets.slice(0, start)];
  }

  #try(incoming: IncomingMessage, reply: ServerResponse, [target, ...others]: readonly FrontTarget[]): void {
    if (reply.destroyed) return; // the caller left while a dead replica was tried
    if (!target) {
      reply.writeHead(503, { 'content-type': 'text/plain', 'retry-after': '1' }).end('no replica answers');
      return;
    }
    const outgoing = request(new URL(incoming.url ?? '/', target.url), {
      method: incoming.method ?? 'GET',
      headers: passed(incoming),
      agent: this.#agent,
    });
    let isConnected = false;
    outgoing.on('socket', (socket) =>
      socket.once('connect', () => {
        isConnected = true;
        incoming.pipe(outgoing); // not before: what was not sent to a dead replica can go to the next
      }),
    );
    const leave = (): void => void outgoing.destroy();
    outgoing.on('error', () => {
      reply.off('close', leave); // a reply that tries one dead replica after the other keeps nothing of them
      if (!isConnected) this.#try(incoming, reply, others);
      else reply.destroy(); // whether the replica did it is not known: the caller is to find out, not to be told a story
    });
    outgoing.on('response', (response) => passReply({ response, reply, name: target.name }));
    reply.on('close', leave);
  }
}

interface Passing {
  readonly response: IncomingMessage;
  readonly reply: ServerResponse;
  readonly name: string;
}

function passReply({ response, reply, name }: Passing): void {
  reply.writeHead(response.statusCode ?? 502, { ...passed(response), [REPLICA_HEADER]: name });
  reply.flushHeaders();
  // an error on either side destroys both: a reply that was cut stays cut
  pipeline(response, reply, () => undefined);
}

function passed(message: IncomingMessage): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(message.headers)) if (value !== undefined && !HOP_BY_HOP.has(name)) headers[name] = value;
  return headers;
}
