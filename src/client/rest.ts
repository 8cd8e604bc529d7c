import { isPlainObject } from '../protocol/json.ts';
import { fromRestError } from '../wire/error-reading.ts';
import { mediaTypes } from '../wire/headers.ts';
import type { HttpMethod } from '../wire/operations.ts';
import { restCall } from '../wire/rest.ts';
import type { Dialect, QuestionRequest } from './question.ts';

/** HTTP+JSON below one URL. SubscribeToTask is sent as POST, and as GET to servers that serve only that (AMB-10). */
export function rest(url: string): Dialect {
  const base = url.replace(/\/+$/, '');
  return (operation, request) => {
    const { path, body } = restCall(operation, request);
    const toRequest = (method: HttpMethod): QuestionRequest => ({
      method,
      url: base + path,
      ...(body === undefined ? {} : { contentType: mediaTypes.a2aJson, body }),
    });
    const [first, ...others] = operation.httpMethods;
    return { requests: [toRequest(first), ...others.map(toRequest)], read: (json) => json, readEvent };
  };
}

/** An error inside a stream is one item `{ "error": … }` (AMB-12). */
function readEvent(json: unknown): unknown {
  if (!isPlainObject(json) || !isPlainObject(json['error'])) return json;
  const { code } = json['error'];
  throw fromRestError({ status: typeof code === 'number' ? code : 500, body: json });
}
