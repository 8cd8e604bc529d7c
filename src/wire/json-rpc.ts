import { A2AError, invalidParams, invalidRequest, isA2AError } from '../protocol/errors.ts';
import { isPlainObject } from '../protocol/json.ts';
import { fromJsonRpcError } from './error-reading.ts';
import { toJsonRpcError } from './errors.ts';
import { parseJson } from './json.ts';

/** What ties an answer to its request; echoed with its type (case 70). null in the answer to something that had no readable id. */
export type JsonRpcId = string | number | null;

/** A request as its envelope tells: either a call, whose method and params are still to be looked at, or the error to answer with. */
export type JsonRpcRequest =
  | { readonly kind: 'call'; readonly id: JsonRpcId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'refused'; readonly id: JsonRpcId; readonly error: A2AError };

/** Longest id in characters: each event of a stream repeats it. */
const idLengthMax = 1_024;

/**
 * Reads the envelope of a request, JSON-RPC 2.0 to the letter (RPC-01, case 70). Batches are refused (AMB-27), and so is a request without an
 * id: nothing is run whose result nobody could be told. Absent `params` are `{}` (XCARD-13).
 */
export function parseRequest(body: string | Uint8Array): JsonRpcRequest {
  let json: unknown;
  try {
    json = parseJson(body);
  } catch (error) {
    if (!isA2AError(error)) throw error;
    return { kind: 'refused', id: null, error };
  }
  return readRequest(json);
}

function readRequest(json: unknown): JsonRpcRequest {
  const refused = (error: A2AError, id: JsonRpcId = null): JsonRpcRequest => ({ kind: 'refused', id, error });
  if (Array.isArray(json)) return refused(invalidRequest('Batches are not supported: send one request at a time.'));
  if (!isPlainObject(json)) return refused(invalidRequest('The body must be a JSON-RPC 2.0 request object.'));
  const { jsonrpc, id, method, params } = json;
  if (id === undefined)
    return refused(invalidRequest('"id" is missing: every A2A method has a result, so notifications are not supported.'));
  if (!isId(id)) return refused(invalidRequest('"id" must be a string, an integer or null.'));
  if (jsonrpc !== '2.0') return refused(invalidRequest('"jsonrpc" must be "2.0".'), id);
  if (typeof method !== 'string' || method === '') return refused(invalidRequest('"method" must be a non-empty string.'), id);
  if (params === undefined || params === null) return { kind: 'call', id, method, params: {} };
  if (!isPlainObject(params)) return refused(invalidParams('params', 'must be an object'), id);
  return { kind: 'call', id, method, params };
}

// an integer that a double cannot hold would be echoed as another one
function isId(id: unknown): id is JsonRpcId {
  if (typeof id === 'string') return id.length <= idLengthMax;
  return id === null || Number.isSafeInteger(id);
}

/** A request as text. */
export function printRequest(id: string | number, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** A response around a result that is JSON text already: a stream's event is printed once for all its readers. */
export function printResult(id: JsonRpcId, resultJson: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultJson}}`;
}

/** A response that tells an error. */
export function printError(id: JsonRpcId, error: A2AError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: toJsonRpcError(error) });
}

/**
 * The result in a response, or the error it tells, thrown. A response to something else than `id` is a protocol error (case 87); ids are
 * compared as text, because some servers answer "10" to 10, and an error may have no id. A response without result is `undefined`: some servers
 * answer a Delete so.
 */
export function readResponse(json: unknown, id: string | number): unknown {
  if (!isPlainObject(json)) throw notAnAnswer('a JSON-RPC response must be an object');
  const { error } = json;
  const isError = error !== undefined && error !== null;
  const isOurs = String(json['id']) === String(id) || (isError && (json['id'] === null || json['id'] === undefined));
  if (!isOurs) throw notAnAnswer('the response has the id of another request');
  if (isError) throw fromJsonRpcError(error);
  return json['result'] ?? undefined;
}

function notAnAnswer(why: string): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `The agent answered with something that is not A2A: ${why}.`);
}
