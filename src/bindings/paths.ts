import type { AgentInterface } from '../protocol/types.ts';
import { PROTOCOL_VERSION } from '../wire/headers.ts';

/** Where the public card stands, below a mount's base (CARD-03). */
export const CARD_PATH = '/.well-known/agent-card.json';

/** Where JSON-RPC is posted to, below a mount's base. */
export const JSON_RPC_PATH = '/';

/** What the paths of the REST binding begin with, below a mount's base. */
export const REST_PATH = '/rest';

/** A path at which there is nothing: for requests that are not below a mount's prefix. */
export const NOWHERE = '/nowhere';

/** True for what the router answers with more than "no such path": a mount that shares its paths with others passes the rest on to them. */
export function isOurs(method: string, path: string): boolean {
  if (isJsonRpcPath(path)) return method === 'POST' || method === 'OPTIONS';
  return path === CARD_PATH || path === REST_PATH || path.startsWith(`${REST_PATH}/`);
}

/** The root, also with a second slash: some clients add one to the interface's URL. */
export function isJsonRpcPath(path: string): boolean {
  return path === JSON_RPC_PATH || path === '' || path === '//';
}

/** The interfaces of an agent that is mounted there, the preferred one first (CARD-07 to CARD-09). */
export function interfacesAt(base: string): readonly AgentInterface[] {
  return [
    { url: `${base}${JSON_RPC_PATH}`, protocolBinding: 'JSONRPC', protocolVersion: PROTOCOL_VERSION },
    { url: `${base}${REST_PATH}`, protocolBinding: 'HTTP+JSON', protocolVersion: PROTOCOL_VERSION },
  ];
}

/** The path below a prefix; nothing if it is not below it. */
export function withoutPrefix(path: string, prefix = ''): string | undefined {
  if (prefix === '') return path;
  if (path === prefix) return '/';
  return path.startsWith(prefix) && path[prefix.length] === '/' ? path.slice(prefix.length) : undefined;
}

/** A prefix as the rest of us expects it: `/a/b`, or `''` for the root. */
export function tidyPrefix(prefix = ''): string {
  const bare = prefix.replace(/^\/+|\/+$/g, '');
  return bare === '' ? '' : `/${bare}`;
}

/** A public URL as a base: without the slash at its end. */
export function withoutEndSlash(publicUrl: string): string {
  return publicUrl.replace(/\/+$/, '');
}
