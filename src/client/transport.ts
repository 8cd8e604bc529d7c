import type { A2AError } from '../protocol/errors.ts';
import type { AgentInterface } from '../protocol/types.ts';
import { mediaTypes } from '../wire/headers.ts';
import type { RequestOf, ResponseOf } from '../wire/operations.ts';
import { operations } from '../wire/operations.ts';
import { readAnswer } from '../wire/reader.ts';
import { readJson } from './body.ts';
import { Connection } from './connection.ts';
import { Deadline } from './deadline.ts';
import type { HttpRequest } from './http.ts';
import { originOf, sendHttp } from './http.ts';
import { jsonRpc } from './json-rpc.ts';
import type { Binding, ClientSettings } from './options.ts';
import type { Dialect, Question, QuestionRequest, StreamingName, UnaryName } from './question.ts';
import { failureOf } from './question.ts';
import { rest } from './rest.ts';
import { badAnswer, noAnswer } from './trouble.ts';

const dialects: Readonly<Record<Binding, (url: string) => Dialect>> = { JSONRPC: jsonRpc, 'HTTP+JSON': rest };

/** True for the bindings there is a transport for. */
export function isBinding(name: string): name is Binding {
  return Object.hasOwn(dialects, name);
}

/** What one try is made with. */
export interface TryOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Without a byte for so long it is given up as UNAVAILABLE. */
  readonly silentMs: number;
}

/** One interface of an agent: asks once and reads what comes back. Repeats and reconnects are the business of those above it. */
export class Transport {
  readonly #settings: ClientSettings;
  readonly #dialect: Dialect;
  readonly #origin: string;

  constructor(face: AgentInterface & { readonly protocolBinding: Binding }, settings: ClientSettings) {
    this.#settings = settings;
    this.#dialect = dialects[face.protocolBinding](face.url);
    this.#origin = originOf(face.url);
  }

  /** Asks and reads the one answer. */
  async call<N extends UnaryName>(name: N, request: RequestOf<N>, options: TryOptions): Promise<ResponseOf<N>> {
    const question = this.#dialect(operations[name], request);
    const watch = this.#watch(options);
    try {
      const { status, headers, json } = await this.#ask(question, options, watch);
      if (status >= 400) throw failureOf(question, { status, body: json, retryAfter: headers.get('retry-after') });
      return answerOf(name, question.read(json));
    } finally {
      watch.close();
    }
  }

  /** Opens one stream. Nothing is sent before its items are asked for. */
  open<N extends StreamingName>(name: N, request: RequestOf<N>, options: TryOptions): Connection {
    const question = this.#dialect(operations[name], request);
    const headers = { ...options.headers, accept: `${mediaTypes.eventStream}, ${mediaTypes.json}` };
    return new Connection({
      question,
      answerBytesMax: this.#settings.answerBytesMax,
      origin: this.#origin,
      watch: () => this.#watch(options),
      send: (signal) => this.#send(question, headers, signal),
    });
  }

  #watch({ silentMs, signal }: TryOptions): Deadline {
    const error = (): A2AError => noAnswer(`Nothing came from ${this.#origin} for ${silentMs} ms.`);
    return new Deadline({ clock: this.#settings.clock, ms: silentMs, signal, error });
  }

  async #ask(
    question: Question,
    { headers }: TryOptions,
    watch: Deadline,
  ): Promise<Readonly<{ status: number; headers: Headers; json: unknown }>> {
    const accept = `${mediaTypes.json}, ${mediaTypes.a2aJson}`;
    const response = await this.#send(question, { ...headers, accept }, watch.signal);
    const json = await readJson(response, { watch, bytesMax: this.#settings.answerBytesMax });
    return { status: response.status, headers: response.headers, json };
  }

  async #send(question: Question, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
    const [first, ...others] = question.requests;
    let response = await sendHttp(this.#settings.fetch, toHttp(first, headers), signal);
    for (const request of others) {
      if (response.status !== 404 && response.status !== 405) return response;
      const other = await sendHttp(this.#settings.fetch, toHttp(request, headers), signal);
      const isServed = other.status !== 405;
      void (isServed ? response : other).body?.cancel().catch(() => undefined); // only one of the two is read
      if (isServed) response = other;
    }
    return response;
  }
}

function toHttp({ method, url, contentType, body }: QuestionRequest, headers: Readonly<Record<string, string>>): HttpRequest {
  const type = contentType === undefined ? {} : { 'content-type': contentType };
  return { method, url, headers: { ...headers, ...type }, body };
}

function answerOf<N extends UnaryName>(name: N, result: unknown): ResponseOf<N> {
  const { response } = operations[name];
  // true: the only operation whose response has no message of its own answers with an empty object, by whatever it says (AMB-28)
  if (response === 'Empty') return {} as ResponseOf<N>;
  if (result === undefined || result === null) throw badAnswer(`The agent answered ${name} without a result.`);
  return readAnswer(response, result) as ResponseOf<N>; // true: both come from the same row of the table
}
