import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Mountable } from '../bindings/exchange.ts';
import { isOurs, NOWHERE, withoutEndSlash, tidyPrefix, withoutPrefix } from '../bindings/paths.ts';
import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import { isWildcard, listeningOrigin, splitTarget } from './node-address.ts';
import type { NodeListenerOptions } from './node-listener.ts';
import { createAnswer } from './node-listener.ts';
import type { ServerLimits, TlsOptions } from './node-server.ts';
import { createOwnServer, listen } from './node-server.ts';
import { probe } from './probes.ts';
import { holdProcess, onStopSignal } from './signals.ts';

/** How an agent is served. */
export interface ServeOptions extends NodeListenerOptions, ServerLimits {
  /** 0 (the default) takes a free one. */
  readonly port?: number;
  /** Address to listen on: `127.0.0.1` unless given, so nothing is open to a network by accident; `0.0.0.0` is all of the machine's. */
  readonly host?: string;
  /** Key and certificate: HTTPS. */
  readonly tls?: TlsOptions;
  /** A server that is there already, with its listeners: the agent takes its own paths, everything else goes where it went before. */
  readonly server?: Server;
  /**
   * SIGTERM and SIGINT close: true, but false with a `server` of yours. The process then ends by itself, with 0, when nothing else keeps it;
   * a second signal ends it at once.
   */
  readonly signals?: boolean;
}

/** An agent that is served. */
export interface Served {
  /** Where callers reach it: the public URL, or the address it listens on. */
  readonly url: string;
  /** Resolves when it is closed, by `close` or by a signal. */
  readonly closed: Promise<void>;
  /** Drains the agent and closes what `serve` opened; twice is fine. */
  close(): Promise<void>;
}

/**
 * Starts an agent and serves it over HTTP: card, JSON-RPC and REST, and `/healthz` and `/readyz` for whoever runs it.
 *
 * ```ts
 * import { createAgent } from 'chorus-a2a';
 * import { serve } from 'chorus-a2a/node';
 *
 * const echo = createAgent({
 *   card: { name: 'Echo', description: 'Says it again.', version: '1.0.0' },
 *   run: (turn) => turn.text,
 * });
 * const { url, close } = await serve(echo, { port: 4000 });
 * console.log(url); // http://127.0.0.1:4000
 * await close(); // drains
 * ```
 */
export async function serve(agent: Mountable, options: ServeOptions = {}): Promise<Served> {
  // a busy store is waited for, and nothing else holds the process yet: its timers do not (it would end with 13)
  await holdProcess(agent.start());
  const mount = new NodeMount(agent, options);
  try {
    await mount.open();
  } catch (error) {
    await agent.close(); // or it would go on claiming turns with nobody to answer for it
    throw error;
  }
  return mount;
}

// what replies that are done may still need to get out of the door
const FLUSH_MS = 500;
// an agent promises to be drained by drainMs; beyond that its streams are cut, so that the process can end within drainMs + 2 s
const OVERTIME_MS = 1_000;

/** One agent on one server. */
class NodeMount implements Served {
  url = '';
  readonly closed: Promise<void>;
  readonly #agent: Mountable;
  readonly #options: ServeOptions;
  readonly #prefix: string;
  readonly #server: Server;
  readonly #answer: ReturnType<typeof createAnswer>;
  /** Listeners of a server that was there before us. */
  #others: readonly RequestListener[] = [];
  readonly #underWay = new Set<ServerResponse>();
  /** We opened it, so we close it. */
  #isOurServer: boolean;
  #ownBase: string | undefined;
  #closing: Promise<void> | undefined;
  #signals: { remove(): void } | undefined;
  #tellClosed: () => void = () => {};

  constructor(agent: Mountable, options: ServeOptions) {
    this.#agent = agent;
    this.#options = options;
    this.#prefix = tidyPrefix(options.prefix);
    this.#isOurServer = options.server === undefined;
    this.#server = options.server ?? createOwnServer(options.tls, options, (socket) => this.#isAnswering(socket));
    this.#answer = createAnswer(agent, options, () => this.#ownBase);
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
  }

  async open(): Promise<void> {
    const { server, port, host = '127.0.0.1', signals = server === undefined } = this.#options;
    if (server) {
      this.#others = server.listeners('request') as RequestListener[]; // what listens to `request` is a request listener
      server.removeAllListeners('request');
    }
    this.#server.on('request', this.#onRequest);
    if (!this.#server.listening && (server === undefined || port !== undefined)) {
      this.#isOurServer = true;
      await listen(this.#server, { port: port ?? 0, host });
      // such as too many open files: it passes, and an error that nobody listens to would end the process
      this.#server.on('error', (error) => this.#agent.logger.error('the server has trouble', { error: error.message }));
    }
    this.#tellAddress();
    if (signals) this.#signals = onStopSignal(() => void this.#closeBySignal());
  }

  // bound, because it is documented to be taken out of what `serve` gives
  readonly close = (): Promise<void> => {
    this.#signals?.remove();
    this.#closing ??= holdProcess(this.#close());
    return this.#closing;
  };

  readonly #isLast = (): boolean => this.#closing !== undefined;
  readonly #forget = (response: ServerResponse): void => void this.#underWay.delete(response);

  readonly #onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { path, search } = splitTarget(request.url ?? '/');
    const inner = withoutPrefix(path, this.#prefix);
    const probed = probe(this.#options.server ? inner : path, this.#agent.isReady && !this.#closing);
    if (probed) {
      // a connection that was busy when we closed would be kept for the next probe, and the next: as long as somebody asks
      response.writeHead(probed.status, this.#isLast() ? { ...probed.headers, connection: 'close' } : probed.headers).end(probed.body);
      return;
    }
    if (this.#others.length > 0 && (inner === undefined || !isOurs(request.method ?? 'GET', inner))) {
      for (const other of this.#others) other.call(this.#server, request, response);
      return;
    }
    this.#underWay.add(response);
    this.#answer({ request, response, path: inner ?? NOWHERE, search, isLast: this.#isLast, onClose: this.#forget });
  };

  async #close(): Promise<void> {
    const { clock, drainMs } = this.#agent;
    const drained = this.#agent.close(); // not ready from here on
    const isClosed = this.#isOurServer ? closed(this.#server) : Promise.resolve();
    try {
      await within(clock, drainMs + OVERTIME_MS, drained);
    } finally {
      await within(clock, FLUSH_MS, this.#allPrinted());
      if (this.#isOurServer) this.#server.closeAllConnections();
      else for (const response of this.#underWay) response.destroy();
      await isClosed;
      this.#giveBack();
      this.#tellClosed();
    }
  }

  // with nobody else on a server that goes on, we stay and say that we are closed: silence would keep callers waiting
  #giveBack(): void {
    if (this.#others.length === 0) return;
    this.#server.off('request', this.#onRequest);
    for (const other of this.#others) this.#server.on('request', other);
  }

  async #closeBySignal(): Promise<void> {
    try {
      await this.close();
    } catch (error) {
      this.#agent.logger.error('the agent could not be drained', { error: error instanceof Error ? error.message : String(error) });
      process.exitCode = 1;
    }
  }

  async #allPrinted(): Promise<void> {
    for (const response of this.#underWay) {
      if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
    }
  }

  #tellAddress(): void {
    const { publicUrl, server } = this.#options;
    const bound = this.#server.address();
    const address = typeof bound === 'object' && bound ? bound : undefined;
    const scheme = this.#server instanceof TlsServer ? 'https' : 'http';
    const own = (address ? listeningOrigin(scheme, address) : '') + this.#prefix;
    this.url = publicUrl === undefined ? own : withoutEndSlash(publicUrl);
    // a card must not name "all addresses of the machine", and who brought the server may have put a name before it: then the card
    // names the host that the request names
    if (!server && address && !isWildcard(address.address)) this.#ownBase = own;
  }

  #isAnswering(socket: Socket): boolean {
    for (const response of this.#underWay) if (response.socket === socket) return response.headersSent;
    return false;
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

/** Waits for the work, but not longer. */
async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const isDone = new AbortController();
  try {
    await Promise.race([work, sleep(clock, ms, isDone.signal)]);
  } finally {
    isDone.abort();
  }
}
