import type { Server, ServerOptions } from 'node:http';
import { createServer } from 'node:http';
import type { ServerOptions as TlsServerOptions } from 'node:https';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { A2AError } from '../protocol/errors.ts';
import { toRestError } from '../wire/errors.ts';
import { mediaTypes } from '../wire/headers.ts';

/** Key and certificate, and whatever else `https.createServer` takes. */
export type TlsOptions = TlsServerOptions;

// Longer than the idle timeout of common balancers (60 s), so that they close first: a request sent into a closing connection is lost.
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = 10_000;
// until the request has come whole; what the answer takes is not counted
const REQUEST_MS = 30_000;
const CHECK_MS = 1_000;
const HEADER_BYTES_MAX = 16 * 1024;
export const HEADERS_MAX = 100;

/** Connections of a server of ours: as many streams and calls as an agent takes, and some that wait for their next request. */
export const CONNECTIONS_MAX = 25_000;

/** What strangers may hold of a server of ours. */
export interface ServerLimits {
  /** How long headers and whole requests may take to come. */
  readonly headersMs?: number;
  readonly requestMs?: number;
  /** Connections beyond it are closed as they come: 25,000. */
  readonly connectionsMax?: number;
}

/** A server of ours, with limits on what a stranger may hold of it. `isAnswering` tells whether an answer has begun on a socket. */
export function createOwnServer(
  tls: TlsOptions | undefined,
  { headersMs = HEADERS_MS, requestMs = REQUEST_MS, connectionsMax = CONNECTIONS_MAX }: ServerLimits,
  isAnswering: (socket: Socket) => boolean,
): Server {
  const options: ServerOptions = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, headersMs, requestMs),
    maxHeaderSize: HEADER_BYTES_MAX,
  };
  const server = tls ? createTlsServer({ minVersion: 'TLSv1.2', handshakeTimeout: headersMs, ...tls, ...options }) : createServer(options);
  server.maxHeadersCount = HEADERS_MAX;
  server.maxConnections = connectionsMax;
  server.on('clientError', (error: RequestError, socket: Socket) => {
    // in the middle of an answer bytes of ours would be taken for a part of it; and where nothing was asked yet (the `fetch` of Node opens a
    // connection in advance in place of one that it cut) for the answer to the request that is on its way just now
    if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket) || socket.bytesRead === 0) socket.destroy();
    else refuse(error, socket);
  });
  return server;
}

/** Listens, or says in one error why it cannot. */
export function listen(server: Server, { port, host }: { readonly port: number; readonly host: string }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo); // it listens on a port, not on a pipe
    });
  });
}

type RequestError = Error & { readonly code?: string };

/** The answer to what is not HTTP, too slow or too large in its headers: typed like any other error, where Node would send a bare status line. */
function refuse(error: RequestError, socket: Socket): void {
  const [status, text] = reasonOf(error.code);
  const body = JSON.stringify(toRestError(new A2AError('INVALID_REQUEST', text), status).body);
  const head = `HTTP/1.1 ${status} ${status === 400 ? 'Bad Request' : 'Refused'}\r\nconnection: close\r\ncontent-type: ${mediaTypes.json}\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function reasonOf(code: string | undefined): readonly [status: number, text: string] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request did not arrive in time; send it again.'];
    case 'HPE_HEADER_OVERFLOW':
      return [431, `There are more than ${HEADERS_MAX} headers, or they are larger than ${HEADER_BYTES_MAX} bytes.`];
    default:
      return [400, 'This is not a valid HTTP request.'];
  }
}
