import { fromJsonRpcError, fromRestError } from '../wire/error-reading.ts';
import { headerNames, mediaTypes, PROTOCOL_VERSION } from '../wire/headers.ts';
import { printRequest, readResponse } from '../wire/json-rpc.ts';
import { operations } from '../wire/operations.ts';
import type { OperationName, RequestOf } from '../wire/operations.ts';
import { restCall } from '../wire/rest.ts';
import type { AgentCard, StreamResponse } from '../protocol/types.ts';

/** Headers of a request; absent ones are left out. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** Whom a probe speaks to, and how. */
export interface ProbeTarget {
  /** Of a replica or of a front. */
  readonly url: string;
  /** JSON-RPC unless told otherwise. */
  readonly binding?: 'JSONRPC' | 'HTTP+JSON';
  /** The caller's name, sent as a bearer token. */
  readonly caller?: string;
}

/** One call at a time over one binding, as it stands on the wire: nothing is repeated, nothing is followed. */
export class ProbeWire {
  readonly #target: ProbeTarget;
  #endpoint: string | undefined;

  constructor(target: ProbeTarget) {
    this.#target = target;
  }

  /** The card, as it is shown. */
  async card(signal?: AbortSignal): Promise<AgentCard> {
    const answer = await fetch(new URL('/.well-known/agent-card.json', this.#target.url), signal ? { signal } : {});
    return (await answer.json()) as AgentCard; // it is read as it is: the caller looks at what is in it
  }

  /** Sends one request. */
  async fetch(name: OperationName, request: object, headers: RequestHeaders, signal: AbortSignal): Promise<Response> {
    this.#endpoint ??= await this.#findEndpoint(signal);
    const endpoint = this.#endpoint;
    const { caller } = this.#target;
    const common = { [headerNames.version]: PROTOCOL_VERSION, ...(caller ? { authorization: `Bearer ${caller}` } : {}), ...given(headers) };
    if (this.#target.binding !== 'HTTP+JSON') {
      const body = printRequest(1, name, request);
      return fetch(endpoint, { method: 'POST', body, headers: { ...common, [headerNames.contentType]: mediaTypes.json }, signal });
    }
    // the table's rows are typed one by one, the request by its caller: here both are only printed
    const { method, path, body } = restCall(operations[name], request as RequestOf<typeof name>);
    const typed = body === undefined ? common : { ...common, [headerNames.contentType]: mediaTypes.a2aJson };
    return fetch(`${endpoint}${path}`, { method, headers: typed, signal, ...(body === undefined ? {} : { body }) });
  }

  /** The binding's path is the card's, its host the one this probe was given: a card names the front, a probe may want one replica. */
  async #findEndpoint(signal: AbortSignal): Promise<string> {
    const wanted = this.#target.binding ?? 'JSONRPC';
    const found = (await this.card(signal)).supportedInterfaces.find((one) => one.protocolBinding === wanted);
    if (!found) throw new Error(`The card has no interface ${wanted}.`);
    return new URL(new URL(found.url).pathname, this.#target.url).href.replace(/(?<=[^/])\/$/, '');
  }

  /** The result in an answer's body, or the error it tells, thrown. */
  result(answer: Response, body: unknown): unknown {
    if (this.#target.binding !== 'HTTP+JSON') return readResponse(body, 1);
    if (!answer.ok) throw fromRestError({ status: answer.status, body, retryAfter: answer.headers.get('retry-after') });
    return body;
  }

  /** The item in a stream's event, or the error it tells, thrown. */
  item(data: string): StreamResponse {
    const json: unknown = JSON.parse(data);
    const isError = typeof json === 'object' && json !== null && 'error' in json;
    if (isError) throw this.#target.binding === 'HTTP+JSON' ? fromRestError({ status: 200, body: json }) : fromJsonRpcError(json.error);
    const item = this.#target.binding === 'HTTP+JSON' ? json : readResponse(json, 1);
    return item as StreamResponse; // the agent's word, as above
  }
}

function given(headers: RequestHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** The bytes of a body; leaving the loop cuts the connection. */
export async function* bytesOf(answer: Response): AsyncGenerator<Uint8Array> {
  if (!answer.body) return;
  const reader = answer.body.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } finally {
    await reader.cancel().catch(() => undefined); // the connection may be gone already
  }
}
