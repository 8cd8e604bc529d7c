import { assert } from '../ground/assert.ts';
import type { Backoff } from '../ground/backoff.ts';
import type { Clock } from '../ground/clock.ts';
import { callerClock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import { systemRandom } from '../ground/random.ts';
import type { Fetch } from './http.ts';

/** The bindings this client speaks, by their names in a card. */
export type Binding = 'JSONRPC' | 'HTTP+JSON';

/** Headers for one request; a function is asked before every try, so that it can hand out fresh credentials. */
export type HeaderSource =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** How often and how patiently something is tried again. */
export interface RetryOptions {
  /** Tries after the first one; 0 turns repeats off. */
  readonly tries?: number;
  /** Wait before the first repeat; it doubles each time, half of it is chance. */
  readonly firstMs?: number;
  readonly mostMs?: number;
}

/** What `connect` can be told. Every option has a default; times are milliseconds. */
export interface ConnectOptions {
  /** Takes the first interface of this binding, if the card has one, instead of the first one that is spoken here (CARD-11). */
  readonly prefer?: Binding;
  /** Sent with every operation, to the interface that the card names: credentials belong here (AUTH-04). */
  readonly headers?: HeaderSource;
  /** Sent with the request for the card. None: a card may be kept by somebody who has no business with the credentials. */
  readonly cardHeaders?: HeaderSource;
  /** URIs of the extensions to opt in to with every request (EXT-02). */
  readonly extensions?: readonly string[];
  /** What carries requests: `globalThis.fetch`, or your own with a proxy, client certificates or a trace. */
  readonly fetch?: Fetch;
  /** For calls that got no answer: 6 tries, 100 ms to 5 s. */
  readonly retry?: RetryOptions;
  /** For streams that cannot be opened again: 30 tries, 100 ms to 5 s. */
  readonly reconnect?: RetryOptions;
  /** The whole time of a call, repeats included, unless it waits for a task. 30,000. */
  readonly timeoutMs?: number;
  /** The same for a blocking send and for `wait`. 900,000. */
  readonly waitTimeoutMs?: number;
  /** A read or a cancel that brings no byte for so long is tried again, with luck on a replica that lives. 10,000. */
  readonly silentMs?: number;
  /** A stream that brings no byte, not even a heartbeat, for so long is taken for cut. 60,000. */
  readonly idleTimeoutMs?: number;
  /** Time between two looks at a task of an agent that does not stream, at first; it grows to ten times that. 500. */
  readonly pollMs?: number;
  /** Bytes of one answer, characters of one event; more is an error and not a full memory (case 84). 128 MiB: twice the largest task. */
  readonly answerBytesMax?: number;
  /** Ends `connect` itself; each call has its own. */
  readonly signal?: AbortSignal;
  /** Time, handed in: tests own it. */
  readonly clock?: Clock;
  /** Chance, handed in: tests repeat it. */
  readonly random?: Random;
}

/** How often something is tried again, filled in. */
export interface Patience extends Backoff {
  readonly tries: number;
}

/** All options, filled in. */
export interface ClientSettings {
  readonly prefer: Binding | undefined;
  readonly headers: HeaderSource;
  readonly cardHeaders: HeaderSource;
  readonly extensions: readonly string[];
  readonly fetch: Fetch;
  readonly retry: Patience;
  readonly reconnect: Patience;
  readonly timeoutMs: number;
  readonly waitTimeoutMs: number;
  readonly silentMs: number;
  readonly idleTimeoutMs: number;
  readonly pollMs: number;
  readonly answerBytesMax: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** Fills in the defaults and refuses what cannot work, with the option's name. */
export function clientSettings(options: ConnectOptions): ClientSettings {
  const settings: ClientSettings = {
    prefer: options.prefer,
    headers: options.headers ?? {},
    cardHeaders: options.cardHeaders ?? {},
    extensions: options.extensions ?? [],
    // looked up at each call, so that what a program or a test puts there later is used
    fetch: options.fetch ?? ((request) => globalThis.fetch(request)),
    retry: patience(options.retry, 6),
    reconnect: patience(options.reconnect, 30),
    timeoutMs: options.timeoutMs ?? 30_000,
    waitTimeoutMs: options.waitTimeoutMs ?? 900_000,
    silentMs: options.silentMs ?? 10_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
    pollMs: options.pollMs ?? 500,
    answerBytesMax: options.answerBytesMax ?? 128 * 1_048_576,
    clock: options.clock ?? callerClock,
    random: options.random ?? systemRandom,
  };
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === 'number') assert(value > 0, `option ${name}: a number above 0 was expected, ${value} came`);
  }
  return settings;
}

function patience({ tries, firstMs = 100, mostMs = 5_000 }: RetryOptions = {}, usual: number): Patience {
  return { tries: tries ?? usual, firstMs, mostMs };
}
