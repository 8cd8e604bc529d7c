import type { Reply } from '../bindings/exchange.ts';

const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** What an orchestrator asks: is the process alive, and shall it get requests. Nothing for other paths. */
export function probe(path: string | undefined, isReady: boolean): Reply | undefined {
  switch (path) {
    case '/healthz':
      return { status: 200, headers: HEADERS, body: '{"status":"alive"}' };
    case '/readyz':
      return isReady
        ? { status: 200, headers: HEADERS, body: '{"status":"ready"}' }
        : { status: 503, headers: HEADERS, body: '{"status":"not ready"}' };
    default:
      return undefined;
  }
}
