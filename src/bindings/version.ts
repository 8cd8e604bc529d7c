import { headerNames, PROTOCOL_VERSION, requestedVersion } from '../wire/headers.ts';
import type { Exchange } from './exchange.ts';

/** Versions these bindings speak. */
export const SUPPORTED_VERSIONS: readonly string[] = [PROTOCOL_VERSION];

/** The gate before every method of every binding (case 67): VERSION_NOT_SUPPORTED unless the request asks for a version we speak (VER-06 to VER-08). */
export function requireVersion(exchange: Exchange): void {
  const header = exchange.header(headerNames.version);
  if (header === PROTOCOL_VERSION) return; // what nearly all requests say
  requestedVersion(header, queryVersion(exchange.query), SUPPORTED_VERSIONS);
}

// its name compares like a header's (SP-01, VER-05)
function queryVersion(query: URLSearchParams): string | undefined {
  for (const [name, value] of query) if (name.toLowerCase() === headerNames.version) return value;
  return undefined;
}
