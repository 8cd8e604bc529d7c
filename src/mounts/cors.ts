import type { IncomingRequest, Reply } from '../bindings/exchange.ts';

/** Origins (`https://app.example`) whose pages may call the agent from a browser; `'*'` is any. Off unless given. */
export type CorsOrigins = readonly string[];

const PREFLIGHT_S = 600;
const METHODS = 'GET, HEAD, POST, DELETE';
// what our answers carry beside the headers every page may read
const EXPOSED = 'A2A-Extensions, ETag, Retry-After, WWW-Authenticate';

/** The headers a reply needs so that the page that asked may read it; none when the origin is not allowed. */
export function corsHeaders(allowed: CorsOrigins | undefined, origin: string | undefined): Readonly<Record<string, string>> {
  if (!allowed || allowed.length === 0) return {};
  // a cache must not give one origin's answer to another
  if (origin === undefined) return { vary: 'Origin' };
  if (allowed.includes('*')) return { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
  if (!allowed.includes(origin)) return { vary: 'Origin' };
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'Origin' };
}

/** The answer to a browser's question before the call, or nothing if the request is no such question. */
export function preflight(allowed: CorsOrigins | undefined, request: IncomingRequest): Reply | undefined {
  if (!allowed || request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) return undefined;
  const headers = corsHeaders(allowed, request.header('origin'));
  if (headers['access-control-allow-origin'] === undefined) return { status: 403, headers };
  // the origin is trusted, so it may send what it asks for: agents have their own headers for credentials
  const asked = request.header('access-control-request-headers');
  return {
    status: 204,
    headers: {
      ...headers,
      'access-control-allow-methods': METHODS,
      ...(asked === undefined ? {} : { 'access-control-allow-headers': asked }),
      'access-control-max-age': String(PREFLIGHT_S),
    },
  };
}
