import type { A2AError } from '../protocol/errors.ts';
import { methodNotFound } from '../protocol/errors.ts';
import { toRestError } from '../wire/errors.ts';
import { mediaTypes } from '../wire/headers.ts';
import type { Hold } from './bytes.ts';
import { SMALL_BYTES } from './bytes.ts';
import type { Reply } from './exchange.ts';

/** An error as the REST binding tells it (REST-11): also for what belongs to no binding, so that no answer is ever HTML. */
export function restErrorReply(error: A2AError, mediaType: string, status?: number): Reply {
  const { status: code, headers, body } = toRestError(error, status);
  return { status: code, headers: { ...headers, ...challenge(error), 'content-type': mediaType }, body: JSON.stringify(body) };
}

/** One whole answer. A large one is counted until it has gone out; UNAVAILABLE when too many of those are under way. */
export function heldReply(hold: Hold, headers: Reply['headers'], body: string): Reply {
  if (body.length <= SMALL_BYTES) return { status: 200, headers, body };
  hold.set(body.length);
  return { status: 200, headers, body, onSent: () => hold.release() };
}

/** There is nothing at this path. */
export function notFoundReply(): Reply {
  return restErrorReply(methodNotFound('there is nothing at this path.'), mediaTypes.json);
}

/** The path is there for other methods; to OPTIONS that is the answer and no error. */
export function wrongMethodReply(method: string, allow: readonly string[], mediaType: string = mediaTypes.json): Reply {
  const headers = { allow: [...allow, 'OPTIONS'].join(', ') };
  if (method === 'OPTIONS') return { status: 204, headers };
  const reply = restErrorReply(methodNotFound(`this path takes ${allow.join(', ')}.`), mediaType, 405);
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/** What a caller without credentials is told to bring (ERR-04, AUTH-09); `identify` may say it as `metadata.challenge`. */
export function challenge(error: A2AError): Readonly<Record<string, string>> {
  return error.code === 'UNAUTHENTICATED' ? { 'www-authenticate': error.metadata['challenge'] ?? 'Bearer' } : {};
}
