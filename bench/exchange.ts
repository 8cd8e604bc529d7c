import type { Exchange } from '../src/bindings/exchange.ts';
import { Stopper } from '../src/ground/signal.ts';

/** Headers of a JSON-RPC request. */
export const jsonHeaders: Readonly<Record<string, string>> = { 'content-type': 'application/json', 'a2a-version': '1.0' };

const never = new Stopper();

/** A JSON-RPC request without a socket: what a mount hands over, and nothing of what HTTP costs. */
export function exchangeOf(body: Uint8Array, headers: Readonly<Record<string, string>> = jsonHeaders): Exchange {
  return {
    method: 'POST',
    path: '/',
    base: 'http://bench.invalid',
    query: new URLSearchParams(),
    signal: never,
    header: (name) => headers[name],
    body: () => Promise.resolve(body),
  };
}
