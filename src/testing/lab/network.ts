import type { Exchange, Reply } from '../../bindings/exchange.ts';
import type { Clock } from '../../ground/clock.ts';
import { sleep } from '../../ground/clock.ts';
import type { A2AError } from '../../protocol/errors.ts';
import { headerNames } from '../../wire/headers.ts';
import type { History } from '../facts.ts';
import type { Chance } from './chance.ts';
import { Connection } from './connection.ts';
import type { FaultRates } from './fault-rates.ts';
import type { Reached } from './reached.ts';
import type { LabReplica } from './replica.ts';
import { readAsked, Tap } from './tap.ts';
import type { Trace } from './trace.ts';
import { short } from './trace.ts';

/** What the network is made of. */
export interface NetworkParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly rates: () => FaultRates;
  readonly history: History;
  readonly trace: Trace;
  readonly reached: Reached;
  /** The replica a request goes to: the one of that place, or any, as a balancer without memory chooses. */
  readonly choose: (place: number | undefined) => LabReplica | undefined;
  readonly isFinal: () => boolean;
  /** An answer told an error. */
  readonly onError: (tap: Tap, error: A2AError) => void;
}

/** A request that has been read. */
interface Arrived {
  readonly request: Request;
  readonly url: URL;
  readonly body: string;
  readonly tap: Tap | undefined;
  readonly replica: LabReplica;
}

const LATENCY_MS = 5;

/** Everything between the clients and the replicas: chooses a replica for each request, loses some, and cuts streams anywhere. */
export class Network {
  readonly #parts: NetworkParts;
  /** Streams that are open now. */
  readonly open: Set<Connection> = new Set();

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  /** What a client sends its requests with. */
  fetchFor(observer: string, place?: number): (request: Request) => Promise<Response> {
    return (request) => this.#fetch(request, observer, place);
  }

  async #fetch(request: Request, observer: string, place: number | undefined): Promise<Response> {
    const url = new URL(request.url);
    const body = request.body === null ? '' : await request.text();
    const replica = this.#parts.choose(place);
    const tap = this.#tap({ request, url, body }, observer, replica?.name);
    if (tap) this.#parts.trace.note(observer, `${tap.asked.operation}${named(tap)} → ${replica?.name ?? 'nobody'}`);
    try {
      if (replica === undefined || replica.isGone) {
        await sleep(this.#parts.clock, 1);
        throw new TypeError('fetch failed: the connection was refused');
      }
      return await this.#carry({ request, url, body, tap, replica });
    } catch (error) {
      tap?.lost(String(error));
      throw error;
    }
  }

  #tap({ request, url, body }: Pick<Arrived, 'request' | 'url' | 'body'>, observer: string, replica: string | undefined): Tap | undefined {
    const { history, clock, isFinal } = this.#parts;
    const asked = readAsked({
      method: request.method,
      path: url.pathname,
      query: url.searchParams,
      body,
      lastEventId: request.headers.get(headerNames.lastEventId) ?? undefined,
    });
    return asked && new Tap(asked, { history, observer, at: () => clock.monotonic(), replica: () => replica, isFinal });
  }

  async #carry(arrived: Arrived): Promise<Response> {
    const { clock, chance, rates, reached } = this.#parts;
    const { replica, request, tap } = arrived;
    if (chance.happens(rates().latency)) await sleep(clock, chance.between(1, LATENCY_MS));
    if (tap && chance.happens(rates().lostRequest)) {
      reached.count('lostRequest');
      await sleep(clock, chance.between(1, 200));
      throw new TypeError('fetch failed: the request was lost (in the lab)');
    }
    const connection = new Connection(request);
    replica.connections.add(connection);
    try {
      const reply = await connection.orCut(replica.handle(this.#exchange(arrived, connection)));
      if (tap && chance.happens(rates().lostReply)) {
        reached.count('lostReply');
        connection.cut();
        throw new TypeError('fetch failed: the answer was lost (in the lab)');
      }
      return this.#answer(arrived, connection, reply);
    } catch (error) {
      this.#over(replica, connection);
      throw error;
    }
  }

  #exchange({ request, url, body }: Arrived, { gone }: Connection): Exchange {
    return {
      method: request.method,
      path: url.pathname,
      base: url.origin,
      query: url.searchParams,
      signal: gone,
      header: (name) => request.headers.get(name) ?? undefined,
      body: async () => utf8.encode(body),
    };
  }

  #answer({ tap, replica }: Arrived, connection: Connection, { status, headers, body }: Reply): Response {
    if (typeof body !== 'object') {
      const error = tap?.reply(status, body ?? '');
      if (tap && error) this.#parts.onError(tap, error);
      this.#over(replica, connection);
      return new Response(body ?? null, { status, headers: { ...headers } });
    }
    tap?.opened();
    connection.tap = tap;
    this.open.add(connection);
    return new Response(this.#stream(connection, replica, body), { status, headers: { ...headers } });
  }

  /** Pulled piece by piece by whoever reads it, and by nobody else: what a client has not read is not written down as seen. */
  #stream(connection: Connection, replica: LabReplica, body: AsyncIterable<string>): ReadableStream<Uint8Array> {
    const pieces = body[Symbol.asyncIterator]();
    connection.onCut = () => replica.gate.pass(() => void pieces.return?.());
    const end = (how: 'ended' | 'cut'): void => {
      connection.tap?.close(how);
      this.#over(replica, connection);
    };
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            connection.isReading = true;
            const { done, value } = await connection.orCut(replica.gate.through(pieces.next()));
            connection.isReading = false;
            if (done === true) {
              end('ended');
              controller.close();
            } else controller.enqueue(utf8.encode(this.#piece(connection, value)));
          } catch (error) {
            end('cut');
            controller.error(error);
          }
        },
        cancel: () => {
          end('cut');
          connection.cut();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** One piece on its way to the client, or what is left of it when the connection breaks: an event that is not whole was not seen. */
  #piece(connection: Connection, piece: string): string {
    const { chance, rates, reached, onError } = this.#parts;
    const { tap } = connection;
    const isCut = chance.happens(rates().cut);
    const arrived = isCut ? piece.slice(0, chance.below(piece.length + 1)) : piece;
    if (isCut) {
      reached.count('cut');
      connection.cut();
    }
    const error = arrived === piece ? tap?.event(piece) : undefined;
    if (tap && error) onError(tap, error);
    return arrived;
  }

  #over(replica: LabReplica, connection: Connection): void {
    replica.connections.delete(connection);
    this.open.delete(connection);
    connection.close();
  }
}

const utf8 = new TextEncoder();

function named({ asked }: Tap): string {
  const { taskId, after, messageId } = asked;
  const cursor = after === undefined ? '' : ` after ${after}`;
  return `${messageId === '' ? '' : ` message ${short(messageId)}`}${taskId === undefined ? '' : ` task ${short(taskId)}`}${cursor}`;
}
