import type { Clock } from '../ground/clock.ts';
import type { A2AError } from '../protocol/errors.ts';
import { toA2AError, toRestError } from '../wire/errors.ts';
import { headerNames, mediaTypes, requireContentType } from '../wire/headers.ts';
import { parseJson } from '../wire/json.ts';
import type { Operation } from '../wire/operations.ts';
import type { RestParams } from '../wire/rest.ts';
import { matchRest, restRequest } from '../wire/rest.ts';
import type { Hold } from './bytes.ts';
import type { BindingParts, Performed } from './calls.ts';
import { anonymous, identifyCaller, perform, readBody, Reference } from './calls.ts';
import type { Exchange, Reply } from './exchange.ts';
import { heldReply, notFoundReply, restErrorReply, wrongMethodReply } from './replies.ts';
import { printStream, streamHeaders } from './streams.ts';
import { requireVersion } from './version.ts';

const bodyTypes: readonly string[] = [mediaTypes.a2aJson, mediaTypes.json];

/** Answers one request of the HTTP+JSON binding (behaviour.md 6.3). `path` is below the interface's URL. */
export async function answerRest(parts: BindingParts, exchange: Exchange, path: string): Promise<Reply> {
  const mediaType = answerType(exchange.header('accept'));
  const match = matchRest(exchange.method, path);
  if (match.kind === 'notFound') return notFoundReply();
  if (match.kind === 'methodNotAllowed') return wrongMethodReply(exchange.method, match.allow, mediaType);
  const reference = new Reference(parts.random);
  const toError = (thrown: unknown): A2AError => toA2AError(thrown, { referenceId: reference.id, logger: parts.logger });
  let body: Hold | undefined;
  try {
    const { operation, params } = match;
    const caller = parts.identify ? await identifyCaller(exchange, parts.identify) : anonymous;
    requireVersion(exchange);
    body = parts.bodies.hold(caller.name);
    const json = await readRequest(parts, exchange, { operation, params, body });
    const done = await perform(parts, { exchange, caller, operation, json, reference });
    return print(parts.answers.hold(caller.name), { mediaType, toError, clock: parts.clock }, done);
  } catch (thrown) {
    return restErrorReply(toError(thrown), mediaType);
  } finally {
    body?.release();
  }
}

// any POST may bring a body: none, `{}` and `null` are the same (case 72)
async function readRequest(
  parts: BindingParts,
  exchange: Exchange,
  { operation, params, body }: { readonly operation: Operation; readonly params: RestParams; readonly body: Hold },
): Promise<unknown> {
  const { query } = exchange;
  if (exchange.method !== 'POST') return restRequest(operation, params, { query });
  const bytes = await readBody(parts, exchange, body);
  if (bytes.length === 0) return restRequest(operation, params, { query });
  requireContentType(exchange.header(headerNames.contentType), bodyTypes);
  return restRequest(operation, params, { body: parseJson(bytes), query });
}

interface PrintParts {
  readonly mediaType: string;
  readonly toError: (thrown: unknown) => A2AError;
  readonly clock: Clock;
}

function print(hold: Hold, { mediaType, toError, clock }: PrintParts, done: Performed): Reply {
  if (done.kind === 'value') return heldReply(hold, { ...done.headers, 'content-type': mediaType }, JSON.stringify(done.value));
  const printer = {
    item: (json: string): string => json,
    error: (thrown: unknown): string => JSON.stringify(toRestError(toError(thrown)).body),
  };
  const body = printStream(done.items, { clock, release: done.release, printer, hold });
  return { status: 200, headers: { ...done.headers, ...streamHeaders }, body };
}

/**
 * `application/a2a+json` (REST-02), or `application/json` for who asks for that and for nothing that ours would match: clients of v1.0.0 and
 * its conformance kit know no other.
 */
function answerType(accept: string | undefined): string {
  if (accept === undefined || accept === '*/*') return mediaTypes.a2aJson;
  const types = accept.split(',').map((one) => one.split(';', 1)[0]?.trim().toLowerCase());
  if (types.includes(mediaTypes.a2aJson) || !types.includes(mediaTypes.json)) return mediaTypes.a2aJson;
  return mediaTypes.json;
}
