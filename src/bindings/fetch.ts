import { collectBody } from '../wire/json.ts';
import type { Exchange, Reply, Router } from './exchange.ts';
import { withoutEndSlash, withoutPrefix } from './paths.ts';

/** Where a fetch handler stands. */
export interface FetchOptions {
  /** Where callers reach it. Without it the card names the origin of the request's URL. */
  readonly publicUrl?: string;
}

/** A handler of web-standard requests: Hono, Bun, Deno, Workers, Next. */
export type AgentFetch = (request: Request) => Promise<Response>;

/**
 * The router for whoever speaks `Request` and `Response`. A path in the public URL is taken off the request's path where it stands there: some
 * frameworks cut it off before they call us, others do not.
 */
export function createFetch(router: Router, { publicUrl }: FetchOptions = {}): AgentFetch {
  const publicBase = publicUrl === undefined ? undefined : withoutEndSlash(publicUrl);
  const prefix = publicBase === undefined ? '' : withoutEndSlash(new URL(publicBase).pathname);
  return async (request) => {
    const url = new URL(request.url);
    const path = withoutPrefix(url.pathname, prefix) ?? url.pathname;
    const gone = new AbortController();
    const hangUp = (): void => gone.abort();
    if (request.signal.aborted) hangUp();
    else request.signal.addEventListener('abort', hangUp, { once: true });
    const reply = await router(toExchange(request, { url, path, base: publicBase ?? url.origin, signal: gone.signal }));
    return request.method === 'HEAD' ? toResponse({ status: reply.status, headers: reply.headers }, hangUp) : toResponse(reply, hangUp);
  };
}

interface Place {
  readonly url: URL;
  readonly path: string;
  readonly base: string;
  readonly signal: AbortSignal;
}

function toExchange(request: Request, { url, path, base, signal }: Place): Exchange {
  return {
    method: request.method,
    path,
    base,
    query: url.searchParams,
    signal,
    header: (name) => request.headers.get(name) ?? undefined,
    body: async (bytesMax, onBytes) => (request.body ? collectBody(request.body, bytesMax, onBytes) : new Uint8Array()),
  };
}

function toResponse({ status, headers, body, onSent }: Reply, hangUp: () => void): Response {
  onSent?.(); // the platform has it from here on
  if (typeof body !== 'object') return new Response(body ?? null, { status, headers });
  return new Response(toWebStream(body, hangUp), { status, headers });
}

// pulled by its reader: nothing is made before somebody takes it (P11)
function toWebStream(body: AsyncIterable<string>, hangUp: () => void): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  const utf8 = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(utf8.encode(value));
    },
    async cancel() {
      hangUp(); // first: it ends the wait that `return` would have to wait for
      await pieces.return?.();
    },
  });
}
