import type { Clock } from '../ground/clock.ts';
import type { A2AError } from '../protocol/errors.ts';
import { methodNotFound } from '../protocol/errors.ts';
import { errorTable } from '../wire/error-table.ts';
import { toA2AError, toRestError } from '../wire/errors.ts';
import { headerNames, mediaTypes, requireContentType } from '../wire/headers.ts';
import type { JsonRpcId } from '../wire/json-rpc.ts';
import { parseRequest, printError, printResult } from '../wire/json-rpc.ts';
import { operationNamed } from '../wire/operations.ts';
import type { Hold } from './bytes.ts';
import type { BindingParts, Performed } from './calls.ts';
import { anonymous, identifyCaller, noHeaders, perform, readBody, Reference } from './calls.ts';
import type { Exchange, Reply } from './exchange.ts';
import { challenge, heldReply } from './replies.ts';
import type { StreamPrinter } from './streams.ts';
import { printStream, streamHeaders } from './streams.ts';
import { requireVersion } from './version.ts';

const bodyTypes: readonly string[] = [mediaTypes.json];
const jsonHeaders = { 'content-type': mediaTypes.json };

/** Answers one JSON-RPC request (behaviour.md 6.2). */
export async function answerJsonRpc(parts: BindingParts, exchange: Exchange): Promise<Reply> {
  const reference = new Reference(parts.random);
  const toError = (thrown: unknown): A2AError => toA2AError(thrown, { referenceId: reference.id, logger: parts.logger });
  let id: JsonRpcId = null;
  let body: Hold | undefined;
  try {
    // before the body, so that a stranger costs no more than a few headers
    const caller = parts.identify ? await identifyCaller(exchange, parts.identify) : anonymous;
    requireContentType(exchange.header(headerNames.contentType), bodyTypes);
    body = parts.bodies.hold(caller.name);
    const request = parseRequest(await readBody(parts, exchange, body));
    ({ id } = request);
    if (request.kind === 'refused') throw request.error;
    requireVersion(exchange);
    const operation = operationNamed(request.method);
    if (!operation) throw methodNotFound(printable(request.method));
    const done = await perform(parts, { exchange, caller, operation, json: request.params, reference });
    return print(parts.answers.hold(caller.name), { id, toError, clock: parts.clock }, done);
  } catch (thrown) {
    return refuse(id, toError(thrown));
  } finally {
    body?.release();
  }
}

interface PrintParts {
  readonly id: JsonRpcId;
  readonly toError: (thrown: unknown) => A2AError;
  readonly clock: Clock;
}

function print(hold: Hold, { id, toError, clock }: PrintParts, done: Performed): Reply {
  if (done.kind === 'value') {
    const headers = done.headers === noHeaders ? jsonHeaders : { ...done.headers, ...jsonHeaders };
    return heldReply(hold, headers, printResult(id, JSON.stringify(done.value)));
  }
  const body = printStream(done.items, { clock, release: done.release, printer: new Printer(id, toError), hold });
  return { status: 200, headers: { ...done.headers, ...streamHeaders }, body };
}

/** A class, because every quiet stream has one: an object with two functions takes five times as much. */
class Printer implements StreamPrinter {
  readonly #id: JsonRpcId;
  readonly #toError: PrintParts['toError'];

  constructor(id: JsonRpcId, toError: PrintParts['toError']) {
    this.#id = id;
    this.#toError = toError;
  }

  item(json: string): string {
    return printResult(this.#id, json);
  }

  error(thrown: unknown): string {
    return printError(this.#id, this.#toError(thrown));
  }
}

/** HTTP 200 with an error object, but for who may not call at all (AMB-27). */
function refuse(id: JsonRpcId, error: A2AError): Reply {
  const isAboutCaller = error.code === 'UNAUTHENTICATED' || error.code === 'PERMISSION_DENIED';
  return {
    status: isAboutCaller ? errorTable[error.code].http : 200,
    headers: { ...toRestError(error).headers, ...challenge(error), 'content-type': mediaTypes.json },
    body: printError(id, error),
  };
}

// a method nobody knows is told back to help, not to be carried about
function printable(method: string): string {
  const short = method.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');
  return short.length < method.length ? `${short}…` : short;
}
