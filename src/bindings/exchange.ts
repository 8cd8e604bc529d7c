import type { Signal } from '../ground/signal.ts';
import type { Clock } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Caller } from '../log/entry.ts';

/** What `identify` may look at. It is the same for every binding, so that one rule serves all (BIND-04). */
export interface IncomingRequest {
  readonly method: string;
  /** As it came: percent-encoded, below the mount's prefix, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Value of a header, whatever the case of its name; several are joined by `, `. */
  header(name: string): string | undefined;
}

/**
 * Tells who calls: a caller with a name owns the tasks it makes, no name (or undefined) is the anonymous caller. Refuse by throwing an
 * A2AError UNAUTHENTICATED or PERMISSION_DENIED; its metadata `challenge`, if any, becomes `WWW-Authenticate`. Called once per request.
 */
export type Identify = (request: IncomingRequest) => Caller | undefined | Promise<Caller | undefined>;

/** One HTTP request as a mount hands it to the router, free of any framework. */
export interface Exchange extends IncomingRequest {
  /** Where callers reach this mount: origin and prefix, no slash at the end (`https://agents.example/greeter`). The card's interfaces are made of it. */
  readonly base: string;
  /**
   * Reads the whole body; throws A2AError TOO_LARGE as soon as it is longer than that, UNAVAILABLE when it stops coming. Called at most once.
   * `onBytes` is told how many have come whenever more have; what it throws ends the reading.
   */
  body(bytesMax: number, onBytes?: (bytes: number) => void): Promise<Uint8Array>;
  /** Fires when the caller is gone. It ends waits and streams, never a task (STRM-15). */
  readonly signal: Signal;
}

/**
 * What a mount prints. A body that is a string goes out whole; an iterable one goes out piece by piece, each as soon as the socket takes it,
 * and its `return` is called when the socket closes first. Header names are lower case.
 */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<string>;
  /** Called once, when the body has gone out or never will: a large one is counted until then. */
  readonly onSent?: () => void;
}

/** Answers one request. It never rejects: what goes wrong becomes a typed error reply. */
export type Router = (exchange: Exchange) => Promise<Reply>;

/** What one caller and one replica may use at once. Beyond it: UNAVAILABLE with a hint when to try again. */
export interface WireLimits {
  /** Bytes of one request body. */
  readonly bodyBytesMax: number;
  /** Streams open on this replica, and of one named caller (the anonymous one is everybody, it has only the first limit). */
  readonly streamsMax: number;
  readonly streamsPerCallerMax: number;
  /** Unary calls this replica answers at once (blocking sends mostly), and of one named caller. */
  readonly callsMax: number;
  readonly callsPerCallerMax: number;
  /** Bytes of large request bodies that are being read or answered on this replica, and of one named caller. */
  readonly bodiesBytesMax: number;
  readonly bodiesBytesPerCallerMax: number;
  /** Bytes of large answers and events that their readers have not taken yet, and of one named caller. */
  readonly answersBytesMax: number;
  readonly answersBytesPerCallerMax: number;
}

/** What a mount needs of an agent: every agent made by `createAgent` is one. */
export interface Mountable {
  /** Answers one exchange; starts the agent if nobody has. */
  readonly handle: Router;
  /** False before the start, without contact to the store, and from the first moment of `close` on: what `/readyz` tells. */
  readonly isReady: boolean;
  /** The mount's timers run on the agent's clock. */
  readonly clock: Clock;
  readonly logger: Logger;
  /** Upper bound of what `close` takes (design section 6, SIGTERM). */
  readonly drainMs: number;
  start(): Promise<void>;
  /** Drains: not ready at once, no new turns, streams and blocked calls end by `drainMs` − 2 s, then what still runs is settled. */
  close(): Promise<void>;
}
