import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Path and query of a request line, as they came. A proxy's absolute form (`GET http://host/path`) is cut down to its path. */
export function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const local = target.startsWith('/') ? target : pathOf(target);
  const mark = local.indexOf('?');
  return mark < 0 ? { path: local, search: '' } : { path: local.slice(0, mark), search: local.slice(mark + 1) };
}

function pathOf(target: string): string {
  const start = target.indexOf('://');
  const slash = start < 0 ? -1 : target.indexOf('/', start + 3);
  return slash < 0 ? '/' : target.slice(slash);
}

const HOST = /^[\w.-]+(?::\d{1,5})?$|^\[[\da-fA-F:.]+\](?::\d{1,5})?$/;

/** Origin by the name the caller used, or by the socket's own address if that name is none. */
export function originOf(request: IncomingMessage): string {
  const { socket, headers } = request;
  const scheme = 'encrypted' in socket ? 'https' : 'http';
  if (headers.host !== undefined && HOST.test(headers.host)) return `${scheme}://${headers.host}`;
  return `${scheme}://${bracketed(socket.localAddress ?? 'localhost')}:${socket.localPort ?? 0}`;
}

/** A listener's own origin, one that a caller on the same machine can use. */
export function listeningOrigin(scheme: 'http' | 'https', { address, port }: AddressInfo): string {
  return `${scheme}://${bracketed(isWildcard(address) ? '127.0.0.1' : address)}:${port}`;
}

/** True for the addresses that mean "all of this machine": no caller can use them, so a card must not name them. */
export function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
