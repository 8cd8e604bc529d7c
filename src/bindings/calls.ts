import type { Clock } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { Caller } from '../log/entry.ts';
import type { Call, Operations, StreamItem } from '../operations/call.ts';
import { invalidParams } from '../protocol/errors.ts';
import { idProblem } from '../protocol/ids.ts';
import { copyStruct } from '../protocol/json.ts';
import type { AgentCard } from '../protocol/types.ts';
import { headerNames, parseExtensions, parseIdempotencyKey, printExtensions } from '../wire/headers.ts';
import type { Operation } from '../wire/operations.ts';
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
  /** Under which this request is logged. */
  readonly reference: string;
}

/** What came of it. `headers` go with either kind; `release` is called when the stream is over. */
export type Performed = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly kind: 'value'; readonly value: object }
  | { readonly kind: 'stream'; readonly items: AsyncIterable<StreamItem>; readonly release: () => void }
);

/** Who calls (SCOPE-01, SCOPE-02). A name is checked like every id, because stores keep it (case 95). */
export async function identifyCaller(exchange: Exchange, identify: Identify | undefined): Promise<Caller> {
  const told = await identify?.(exchange);
  if (told === undefined) return {};
  const { name, claims } = told;
  const problem = name === undefined ? undefined : idProblem(name);
  if (problem !== undefined) throw invalidParams('caller', `the caller's name ${problem}`);
  return {
    ...(name === undefined ? {} : { name }),
    ...(claims === undefined ? {} : { claims: copyStruct(claims, 'caller.claims') }),
  };
}

/** Reads the request, opens the call, and calls the operation: the same for every binding (BIND-02). */
export async function perform(parts: BindingParts, asked: Asked): Promise<Performed> {
  const prepared = prepare(asked.operation, asked.json);
  const call = openCall(asked, prepared.tenant);
  const headers = echoed(parts, asked.exchange, call.extensions);
  const release = (asked.operation.isStreaming ? parts.streams : parts.calls).take(asked.caller.name);
  let isKept = false;
  try {
    const answer = await prepared.run(parts.operations, call);
    if (answer.kind === 'value') return { ...answer, headers };
    isKept = true; // for as long as the stream lasts
    return { ...answer, headers, release };
  } finally {
    if (!isKept) release();
  }
}

function openCall({ exchange, caller, reference }: Asked, tenant: string): Call {
  const idempotencyKey = parseIdempotencyKey(exchange.header(headerNames.idempotencyKey));
  const lastEventId = exchange.header(headerNames.lastEventId);
  return {
    caller,
    tenant,
    extensions: parseExtensions(exchange.header(headerNames.extensions)),
    reference,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(lastEventId === undefined ? {} : { lastEventId }),
    // a getter: mounts make the signal when somebody asks for it, and most calls end before anybody does
    get signal() {
      return exchange.signal;
    },
  };
}

/** The extensions that are active for this call: asked for, and declared by the card (AMB-25). */
function echoed({ card }: BindingParts, { base }: Exchange, asked: readonly string[]): Readonly<Record<string, string>> {
  if (asked.length === 0) return {};
  const declared = new Set((card(base).capabilities.extensions ?? []).map(({ uri }) => uri));
  const active = asked.filter((uri) => declared.has(uri));
  return active.length === 0 ? {} : { [headerNames.extensions]: printExtensions(active) };
}
