import type { Clock } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { Signal } from '../ground/signal.ts';
import type { Caller } from '../log/entry.ts';
import type { Call, Operations, StreamItem } from '../operations/call.ts';
import { invalidParams } from '../protocol/errors.ts';
import { idProblem } from '../protocol/ids.ts';
import { copyStruct } from '../protocol/json.ts';
import type { AgentCard } from '../protocol/types.ts';
import { headerNames, parseExtensions, parseIdempotencyKey, printExtensions } from '../wire/headers.ts';
import type { Operation } from '../wire/operations.ts';
import type { Bytes, Hold } from './bytes.ts';
import { prepare } from './dispatch.ts';
import type { Exchange, Identify } from './exchange.ts';
import type { Slots } from './slots.ts';

/** What the bindings of one agent share. */
export interface BindingParts {
  readonly operations: Operations;
  readonly card: (base: string) => AgentCard;
  readonly identify: Identify | undefined;
  readonly bodyBytesMax: number;
  readonly streams: Slots;
  readonly calls: Slots;
  readonly bodies: Bytes;
  readonly answers: Bytes;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** One request of a known caller for a known operation, its parameters still as they came. */
export interface Asked {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly operation: Operation;
  /** JSON of the request message. */
  readonly json: unknown;
  readonly reference: Reference;
}

/** Under which a request is logged; made when something is logged of it. */
export class Reference {
  readonly #random: Random;
  #id: string | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  get id(): string {
    return (this.#id ??= this.#random.uuid());
  }
}

/** What came of it. `headers` go with either kind; `release` is called when the stream is over. */
export type Performed = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly kind: 'value'; readonly value: object }
  | { readonly kind: 'stream'; readonly items: AsyncIterable<StreamItem>; readonly release: () => void }
);

/** Everybody, where nobody asks who calls. */
export const anonymous: Caller = Object.freeze({});

/** Who calls (SCOPE-01, SCOPE-02). A name is checked like every id, because stores keep it (case 95). */
export async function identifyCaller(exchange: Exchange, identify: Identify): Promise<Caller> {
  const told = await identify(exchange);
  if (told === undefined) return anonymous;
  const { name, claims } = told;
  const problem = name === undefined ? undefined : idProblem(name);
  if (problem !== undefined) throw invalidParams('caller', `the caller's name ${problem}`);
  return {
    ...(name === undefined ? {} : { name }),
    ...(claims === undefined ? {} : { claims: copyStruct(claims, 'caller.claims') }),
  };
}

/** The bytes of a request; a large body is counted as it comes, until `hold` gives it back. */
export function readBody({ bodyBytesMax }: BindingParts, exchange: Exchange, hold: Hold): Promise<Uint8Array> {
  return exchange.body(bodyBytesMax, (bytes) => hold.set(bytes));
}

/** Reads the request, opens the call, and calls the operation: the same for every binding (BIND-02). */
export async function perform(parts: BindingParts, asked: Asked): Promise<Performed> {
  const prepared = prepare(asked.operation, asked.json);
  const call = new OpenedCall(asked, prepared.tenant);
  const headers = echoed(parts, asked.exchange, call.extensions);
  const release = (asked.operation.isStreaming ? parts.streams : parts.calls).take(asked.caller.name);
  let isKept = false;
  try {
    const answer = await prepared.run(parts.operations, call);
    if (answer.kind === 'value') return { kind: 'value', value: answer.value, headers };
    isKept = true; // for as long as the stream lasts
    return { kind: 'stream', items: answer.items, headers, release };
  } finally {
    if (!isKept) release();
  }
}

class OpenedCall implements Call {
  readonly caller: Caller;
  readonly tenant: string;
  readonly extensions: readonly string[];
  readonly idempotencyKey?: string;
  readonly lastEventId?: string;
  readonly #exchange: Exchange;
  readonly #reference: Reference;

  constructor({ exchange, caller, reference }: Asked, tenant: string) {
    this.#exchange = exchange;
    this.#reference = reference;
    this.caller = caller;
    this.tenant = tenant;
    this.extensions = parseExtensions(exchange.header(headerNames.extensions));
    const idempotencyKey = parseIdempotencyKey(exchange.header(headerNames.idempotencyKey));
    if (idempotencyKey !== undefined) this.idempotencyKey = idempotencyKey;
    const lastEventId = exchange.header(headerNames.lastEventId);
    if (lastEventId !== undefined) this.lastEventId = lastEventId;
  }

  get reference(): string {
    return this.#reference.id;
  }

  // mounts make the signal when somebody asks for it, and most calls end before anybody does
  get signal(): Signal {
    return this.#exchange.signal;
  }
}

/** What most answers carry beside the binding's own headers. */
export const noHeaders: Readonly<Record<string, string>> = Object.freeze({});

/** The extensions that are active for this call: asked for, and declared by the card (AMB-25). */
function echoed({ card }: BindingParts, { base }: Exchange, asked: readonly string[]): Readonly<Record<string, string>> {
  if (asked.length === 0) return noHeaders;
  const declared = new Set((card(base).capabilities.extensions ?? []).map(({ uri }) => uri));
  const active = asked.filter((uri) => declared.has(uri));
  return active.length === 0 ? noHeaders : { [headerNames.extensions]: printExtensions(active) };
}
