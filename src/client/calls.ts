import type { AgentInterface } from '../protocol/types.ts';
import { headerNames, PROTOCOL_VERSION, printExtensions } from '../wire/headers.ts';
import type { RequestOf, ResponseOf } from '../wire/operations.ts';
import type { Connection } from './connection.ts';
import { Deadline } from './deadline.ts';
import type { Binding, ClientSettings } from './options.ts';
import type { StreamingName, UnaryName } from './question.ts';
import { withRetries } from './retry.ts';
import { Transport } from './transport.ts';
import { noAnswer } from './trouble.ts';

/** What every call can be told. */
export interface CallOptions {
  /** Ends the call; its reason is what the call rejects with. It cancels no task: that is what `cancel` is for (STRM-15). */
  readonly signal?: AbortSignal;
  /** The whole time of the call, repeats included. */
  readonly timeoutMs?: number;
}

/** What a call that sends a message can be told. */
export interface KeyOptions extends CallOptions {
  /** The `Idempotency-Key`: what is sent twice under one key takes effect once (P9). A random one when absent, kept over the call's own repeats. */
  readonly key?: string;
}

/** The chosen interface of an agent. */
export type ChosenInterface = AgentInterface & { readonly protocolBinding: Binding };

/** Everything a call needs: the one interface, its tenant and version, the headers, the time, the repeats. */
export class Calls {
  readonly settings: ClientSettings;
  readonly face: ChosenInterface;
  readonly #transport: Transport;

  constructor(face: ChosenInterface, settings: ClientSettings) {
    this.face = face;
    this.settings = settings;
    this.#transport = new Transport(face, settings);
  }

  /** Asks until there is an answer or the time is up. */
  async call<N extends UnaryName>(name: N, request: RequestOf<N>, options: KeyOptions = {}): Promise<ResponseOf<N>> {
    const { retry, clock, random } = this.settings;
    const deadline = this.deadline(name, options.timeoutMs ?? this.#usualMs(name, request), options.signal);
    const { signal } = deadline;
    const isSend = name === 'SendMessage';
    const key = isSend ? (options.key ?? random.uuid()) : undefined;
    // a send is given all the time there is: servers without keys would run it twice
    const silentMs = isSend ? Infinity : this.settings.silentMs;
    const patience = isRepeatable(name, request) ? retry : { ...retry, tries: 0 };
    try {
      return await withRetries(
        async () => this.#transport.call(name, this.#withTenant(request), { headers: await this.#headers({ key }), signal, silentMs }),
        { patience, clock, random, signal },
      );
    } finally {
      deadline.close();
    }
  }

  /** One connection of a streaming operation, not yet opened. */
  async open<N extends StreamingName>(
    name: N,
    request: RequestOf<N>,
    { key, after, signal }: { readonly key?: string | undefined; readonly after?: string | undefined; readonly signal: AbortSignal },
  ): Promise<Connection> {
    const headers = await this.#headers({ key: name === 'SendStreamingMessage' ? (key ?? this.settings.random.uuid()) : undefined, after });
    return this.#transport.open(name, this.#withTenant(request), { headers, signal, silentMs: this.settings.idleTimeoutMs });
  }

  /** The time of a whole call. */
  deadline(what: string, ms: number, signal: AbortSignal | undefined): Deadline {
    const error = () => noAnswer(`${what} took longer than ${ms} ms and was given up; what it asked for may still happen.`);
    return new Deadline({ clock: this.settings.clock, ms, signal, error });
  }

  #usualMs<N extends UnaryName>(name: N, request: RequestOf<N>): number {
    const isBlocking = name === 'SendMessage' && !('configuration' in request && request.configuration?.returnImmediately);
    return isBlocking ? this.settings.waitTimeoutMs : this.settings.timeoutMs;
  }

  /** The tenant of the interface goes into every request, and none if it has none (TEN-01, TEN-02). */
  #withTenant<R extends object>(request: R): R {
    const { tenant } = this.face;
    return tenant === undefined || tenant === '' ? request : { ...request, tenant };
  }

  async #headers({ key, after }: { key?: string | undefined; after?: string | undefined }): Promise<Record<string, string>> {
    const { headers, extensions } = this.settings;
    const own = typeof headers === 'function' ? await headers() : headers;
    return {
      ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value])),
      [headerNames.version]: PROTOCOL_VERSION,
      ...(extensions.length > 0 ? { [headerNames.extensions]: printExtensions(extensions) } : {}),
      ...(key === undefined ? {} : { [headerNames.idempotencyKey]: key }),
      ...(after === undefined ? {} : { [headerNames.lastEventId]: after }),
    };
  }
}

/** Reads, cancels and deletes are (IDEM-02, IDEM-03, IDEM-05), a send is by its key, a webhook is one more each time unless it has an id. */
function isRepeatable<N extends UnaryName>(name: N, request: RequestOf<N>): boolean {
  return name !== 'CreateTaskPushNotificationConfig' || ('id' in request && request.id !== undefined);
}
