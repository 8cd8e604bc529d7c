import { isA2AError } from '../protocol/errors.ts';
import { collectBody, parseJson } from '../wire/json.ts';
import type { BodyLimits } from './http.ts';
import { readBody } from './http.ts';
import { badAnswer, noAnswer } from './trouble.ts';

/**
 * The JSON in an answer, `undefined` for an empty one. Another media type is an error of the protocol, but for an answer whose status tells an
 * error already: pages of gateways are not read. An answer is an object, so one without its last brace was cut, and worth another try.
 */
export async function readJson(response: Response, limits: BodyLimits): Promise<unknown> {
  const type = response.headers.get('content-type');
  const isJson = type === null || /^application\/(?:[\w.-]+\+)?json\b/i.test(type.trim());
  if (!isJson && response.status < 400) {
    void response.body?.cancel().catch(() => undefined); // it is not read
    throw badAnswer(`The agent answered with the media type ${type}; JSON was expected.`);
  }
  const body = await collectBody(readBody(response, limits), limits.bytesMax);
  if (!isJson || body.byteLength === 0) return undefined;
  try {
    return parseJson(body);
  } catch (error) {
    if (!isA2AError(error)) throw error;
    if (response.status >= 400) return undefined; // the status tells enough
    if (!endsWithBrace(body)) throw noAnswer('The answer was cut in the middle.', error);
    throw badAnswer(`The agent answered with a body that is not JSON: ${error.message}`, error);
  }
}

function endsWithBrace(body: Uint8Array): boolean {
  let at = body.byteLength - 1;
  while (at >= 0 && (body[at] ?? 0) <= 0x20) at -= 1; // white space
  return body[at] === 0x7d;
}

/** The JSON of one event of a stream. */
export function parseEvent(data: string): unknown {
  try {
    return parseJson(data);
  } catch (error) {
    throw badAnswer('The agent sent an event that is not JSON.', error);
  }
}
