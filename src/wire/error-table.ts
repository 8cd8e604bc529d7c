import type { ErrorCode } from '../protocol/errors.ts';

/** How an error looks on each wire. */
export interface ErrorRow {
  readonly jsonRpc: number;
  readonly http: number;
  /** The number of a gRPC status and its name. */
  readonly grpc: number;
  readonly status: string;
  /** How JSON-RPC words the generic ones (RPC-11); ours says more after it. */
  readonly opening?: string;
}

const notFound = { grpc: 5, status: 'NOT_FOUND' } as const;
const invalidArgument = { grpc: 3, status: 'INVALID_ARGUMENT' } as const;
const failedPrecondition = { grpc: 9, status: 'FAILED_PRECONDITION' } as const;
const internal = { grpc: 13, status: 'INTERNAL' } as const;

/**
 * The one table of errors: behaviour.md B with the values of v1.0.1 (ERR-20), and the generic categories of §3.3.2. The protocol assigns no
 * JSON-RPC codes to UNAUTHENTICATED and PERMISSION_DENIED; ours are from the implementation's range (RPC-10). UNAVAILABLE shares −32603 with
 * INTERNAL and is told from it by its reason and its RetryInfo.
 */
export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = {
  TASK_NOT_FOUND: { jsonRpc: -32001, http: 404, ...notFound },
  TASK_NOT_CANCELABLE: { jsonRpc: -32002, http: 400, ...failedPrecondition },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { jsonRpc: -32003, http: 400, ...failedPrecondition },
  UNSUPPORTED_OPERATION: { jsonRpc: -32004, http: 400, ...failedPrecondition },
  CONTENT_TYPE_NOT_SUPPORTED: { jsonRpc: -32005, http: 400, ...invalidArgument },
  INVALID_AGENT_RESPONSE: { jsonRpc: -32006, http: 500, ...internal },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { jsonRpc: -32007, http: 400, ...failedPrecondition },
  EXTENSION_SUPPORT_REQUIRED: { jsonRpc: -32008, http: 400, ...failedPrecondition },
  VERSION_NOT_SUPPORTED: { jsonRpc: -32009, http: 400, ...failedPrecondition },
  PARSE_ERROR: { jsonRpc: -32700, http: 400, ...invalidArgument, opening: 'Invalid JSON payload' },
  INVALID_REQUEST: { jsonRpc: -32600, http: 400, ...invalidArgument, opening: 'Request payload validation error' },
  METHOD_NOT_FOUND: { jsonRpc: -32601, http: 404, grpc: 12, status: 'UNIMPLEMENTED', opening: 'Method not found' },
  INVALID_PARAMS: { jsonRpc: -32602, http: 400, ...invalidArgument, opening: 'Invalid parameters' },
  TOO_LARGE: { jsonRpc: -32600, http: 413, grpc: 8, status: 'RESOURCE_EXHAUSTED', opening: 'Request payload validation error' },
  INTERNAL: { jsonRpc: -32603, http: 500, ...internal, opening: 'Internal error' },
  UNAVAILABLE: { jsonRpc: -32603, http: 503, grpc: 14, status: 'UNAVAILABLE' },
  UNAUTHENTICATED: { jsonRpc: -32031, http: 401, grpc: 16, status: 'UNAUTHENTICATED' },
  PERMISSION_DENIED: { jsonRpc: -32032, http: 403, grpc: 7, status: 'PERMISSION_DENIED' },
};
