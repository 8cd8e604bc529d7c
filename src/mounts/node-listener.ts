import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Mountable, Reply } from '../bindings/exchange.ts';
import { isOurs, NOWHERE, withoutEndSlash, tidyPrefix, withoutPrefix } from '../bindings/paths.ts';
import type { CorsOrigins } from './cors.ts';
import { corsHeaders, preflight } from './cors.ts';
import { originOf, splitTarget } from './node-address.ts';
import { NodeExchange } from './node-exchange.ts';
import { print } from './node-print.ts';

/** How an agent is put into a Node server. */
export interface NodeListenerOptions {
  /** Path below which the agent answers (`/agents/greeter`); the root unless given. A framework that strips its own prefix needs none here. */
  readonly prefix?: string;
  /** Where callers reach this mount, prefix included (`https://agents.example/greeter`). Without it the card names the host that the request names. */
  readonly publicUrl?: string;
  /** Origins whose web pages may call the agent. Off unless given. */
  readonly cors?: CorsOrigins;
  /** A socket that takes nothing for so long is closed: 60,000. */
  readonly stallMs?: number;
  /** How long a body may take to come: 25,000. */
  readonly bodyMs?: number;
}

/** A request listener of Node's `http` and `https`; with `next`, a middleware of Express and Connect: what is not the agent's goes on. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

const STALL_MS = 60_000;
const BODY_MS = 25_000;

/**
 * The agent as a request listener, for servers and frameworks that are there already: `http.createServer(nodeListener(agent))`,
 * `app.use(nodeListener(agent))` of Express. Put it before body parsers. The server's own timeouts are its owner's.
 */
export function nodeListener(agent: Mountable, options: NodeListenerOptions = {}): NodeListener {
  const answer = createAnswer(agent, options);
  const prefix = tidyPrefix(options.prefix);
  return (request, response, next) => {
    const { path, search } = splitTarget(request.url ?? '/');
    const inner = withoutPrefix(path, prefix);
    if (next && (inner === undefined || !isOurs(request.method ?? 'GET', inner))) next();
    else answer({ request, response, path: inner ?? NOWHERE, search });
  };
}

/** One request on its way through the agent. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Below the prefix. */
  readonly path: string;
  readonly search: string;
  /** Close the connection after the reply: the server is going away. */
  readonly isLast?: () => boolean;
  /** The connection is closed, or the answer out. */
  readonly onClose?: (response: ServerResponse) => void;
}

/** Answers requests with the agent's replies; never throws, and what goes wrong ends that one connection. */
export function createAnswer(
  agent: Mountable,
  { publicUrl, cors, stallMs = STALL_MS, bodyMs = BODY_MS }: NodeListenerOptions,
  fixedBase?: () => string | undefined,
): (incoming: Incoming) => void {
  const base = publicUrl === undefined ? undefined : withoutEndSlash(publicUrl);
  const reply = async (exchange: NodeExchange): Promise<Reply> => {
    const asked = preflight(cors, exchange);
    if (asked) return asked;
    const given = await agent.handle(exchange);
    return { ...given, headers: { ...given.headers, ...corsHeaders(cors, exchange.header('origin')) } };
  };
  const run = async ({ request, response, path, search, isLast, onClose }: Incoming): Promise<void> => {
    const exchange = new NodeExchange(request, {
      base: base ?? fixedBase?.() ?? originOf(request) + mountedAt(request, path),
      path,
      search,
      clock: agent.clock,
      bodyMs,
    });
    response.on('close', () => {
      if (!response.writableFinished) exchange.hangUp();
      onClose?.(response);
    });
    const printed = await (cors ? reply(exchange) : agent.handle(exchange));
    return print(printed, request, response, { clock: agent.clock, stallMs, isLast: isLast?.() ?? false, onTrouble });
  };
  const onTrouble = (response: ServerResponse, error: unknown): void => {
    // replies are made to never fail; whatever this is must not end the process (case 30)
    agent.logger.error('a reply could not be printed', { error: error instanceof Error ? error.message : String(error) });
    response.destroy();
  };
  return (incoming) => {
    run(incoming).catch((error: unknown) => onTrouble(incoming.response, error));
  };
}

// what stands before our path in the URL as it came: a prefix of ours, or one that Express cut off
function mountedAt(request: IncomingMessage & { readonly originalUrl?: string }, path: string): string {
  const { path: whole } = splitTarget(request.originalUrl ?? request.url ?? '/');
  return whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : '';
}
