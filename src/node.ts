/**
 * Serves an agent over HTTP with Node: `serve` for a server of its own, `nodeListener` for one that is there already.
 */
export { nodeListener } from './mounts/node-listener.ts';
export type { NodeListener, NodeListenerOptions } from './mounts/node-listener.ts';
export { serve } from './mounts/node.ts';
export type { ServeOptions, Served } from './mounts/node.ts';
export type { CorsOrigins } from './mounts/cors.ts';
export type { TlsOptions } from './mounts/node-server.ts';
