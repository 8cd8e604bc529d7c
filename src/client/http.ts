import type { Deadline } from './deadline.ts';
import { badAnswer, noAnswer, reasonOf } from './trouble.ts';

/** What carries a request; `globalThis.fetch` is one, and so is `agent.fetch`. */
export type Fetch = (request: Request) => Promise<Response> | Response;

/** One HTTP request. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export const REDIRECTS_MAX = 3;

/**
 * Sends a request and waits for the head of the answer. Redirects are followed within the origin only: credentials and messages never go to
 * another one. What goes wrong on the way is UNAVAILABLE; the signal's reason comes through as it is.
 */
export async function sendHttp(fetch: Fetch, request: HttpRequest, signal: AbortSignal): Promise<Response> {
  let url = request.url;
  for (let redirects = 0; ; redirects++) {
    const response = await sendOnce(fetch, { ...request, url }, signal);
    const target = redirectOf(response, { ...request, url });
    if (target === undefined) return response;
    void response.body?.cancel().catch(() => undefined); // the page of a redirect is of no interest
    if (redirects === REDIRECTS_MAX) throw badAnswer(`${originOf(url)} redirects more than ${REDIRECTS_MAX} times.`);
    url = target;
  }
}

async function sendOnce(fetch: Fetch, { method, url, headers, body }: HttpRequest, signal: AbortSignal): Promise<Response> {
  signal.throwIfAborted();
  const request = new Request(url, { method, headers, redirect: 'manual', signal, ...(body === undefined ? {} : { body }) });
  try {
    return await raced(Promise.resolve(fetch(request)), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw noAnswer(`No answer from ${originOf(url)}: ${reasonOf(error)}.`, error);
  }
}

/** Where a redirect leads; `undefined` if it is none. */
function redirectOf({ status, type, headers }: Response, { method, url }: HttpRequest): string | undefined {
  if (type === 'opaqueredirect') throw badAnswer(`${originOf(url)} redirects, and this platform does not say where.`);
  const keepsMethod = status === 307 || status === 308;
  if (!keepsMethod && !(status >= 301 && status <= 303)) return undefined;
  const location = headers.get('location');
  if (location === null || !URL.canParse(location, url)) return undefined;
  const target = new URL(location, url);
  if (target.origin !== originOf(url)) throw badAnswer(`${originOf(url)} redirects to ${target.origin}: another origin is never followed.`);
  if (!keepsMethod && method !== 'GET')
    throw badAnswer(`${originOf(url)} redirects a ${method} with status ${status}: it would become a GET.`);
  return target.href;
}

/** The part of a URL that may stand in messages: no path, no query, no password. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

/** Whatever settles first: the work, or the signal. A handed-in `fetch` need not look at signals. */
function raced(work: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(signal.reason as Error); // whatever it is, it is the reason
      void work.then((late) => late.body?.cancel()).catch(() => undefined); // nobody is left to tell
    };
    signal.addEventListener('abort', giveUp, { once: true });
    work
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', giveUp))
      .catch(() => undefined); // settled above
  });
}

/** What a body is read under. */
export interface BodyLimits {
  /** Only the waits for the next chunk count: not the time that its reader takes for the one before. */
  readonly watch: Deadline;
  readonly bytesMax: number;
}

/**
 * The chunks of a body, as they come. Leaving the loop, the limit and the watch's signal end the connection (case 85). A body that breaks off
 * is UNAVAILABLE.
 */
export async function* readBody(response: Response, { watch, bytesMax }: BodyLimits): AsyncGenerator<Uint8Array> {
  const { signal } = watch;
  const reader = response.body?.getReader();
  if (!reader) return;
  const stop = (): void => void reader.cancel().catch(() => undefined); // the connection may be gone already
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (let bytes = 0; ;) {
      signal.throwIfAborted();
      watch.touch();
      const { done, value } = await reader.read().catch((error: unknown) => {
        signal.throwIfAborted();
        throw noAnswer(`The answer broke off: ${reasonOf(error)}.`, error);
      });
      signal.throwIfAborted(); // a cancelled reader says "done"
      watch.hold();
      if (done) return;
      bytes += value.byteLength;
      if (bytes > bytesMax) throw badAnswer(`The answer is larger than ${bytesMax} bytes.`);
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}
