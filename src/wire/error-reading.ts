import type { ErrorCode, FieldViolation } from '../protocol/errors.ts';
import { A2AError, isErrorCode } from '../protocol/errors.ts';
import { isPlainObject } from '../protocol/json.ts';
import { errorTable } from './error-table.ts';
import { detailTypes, ERROR_DOMAIN } from './errors.ts';

type Bag = Readonly<Record<string, unknown>>;

/** What the details of a foreign error tell. */
interface Details {
  readonly code?: ErrorCode;
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs?: number;
}

/**
 * An A2AError from the `error` member of a JSON-RPC response. ErrorInfo decides, else the number; `data` may also be an object or missing, as in
 * 0.3. A number nobody knows becomes INTERNAL with `jsonRpcCode` in its metadata.
 */
export function fromJsonRpcError(value: unknown): A2AError {
  const error = isPlainObject(value) ? value : {};
  const details = readDetails(error['data']);
  const number = error['code'];
  const code = details.code ?? byNumber.get(number);
  const unknown: Record<string, string> = code === undefined && typeof number === 'number' ? { jsonRpcCode: String(number) } : {};
  return build(code ?? 'INTERNAL', textIn(error, 'message') ?? 'The agent answered with an error.', details, unknown);
}

/** What came back over HTTP instead of a result. */
export interface RestAnswer {
  readonly status: number;
  /** The body as JSON; absent if it was none. */
  readonly body?: unknown;
  /** Value of `Retry-After`. */
  readonly retryAfter?: string | null;
}

/**
 * An A2AError from a REST error body, or from one item `{ "error": … }` of a stream (AMB-12). Read in this order: ErrorInfo, a JSON-RPC number in
 * `code` (0.3 servers), the type of a problem document (REST-17), the gRPC status name, the HTTP status.
 */
export function fromRestError({ status, body, retryAfter }: RestAnswer): A2AError {
  const outer = isPlainObject(body) ? body : {};
  const error = isPlainObject(outer['error']) ? outer['error'] : outer;
  const details = readDetails(error['details'] ?? error['data']);
  const named = error['status'];
  const code = details.code ?? byNumber.get(error['code']) ?? problemCode(error['type']) ?? byStatusName(named) ?? byHttpStatus(status);
  const message =
    textIn(error, 'message') ?? textIn(error, 'detail') ?? textIn(error, 'title') ?? `The agent answered with HTTP status ${status}.`;
  const retryAfterMs = details.retryAfterMs ?? headerMs(retryAfter);
  return build(code, message, { ...details, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }, { httpStatus: String(status) });
}

function build(code: ErrorCode, message: string, details: Details, more: Readonly<Record<string, string>>): A2AError {
  const { metadata, violations, retryAfterMs } = details;
  return new A2AError(code, message, {
    metadata: { ...more, ...metadata },
    violations,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

// the first code of the table wins a number that several share: −32600 is INVALID_REQUEST, −32603 INTERNAL
const byNumber = new Map<unknown, ErrorCode>();
for (const [code, { jsonRpc }] of Object.entries(errorTable)) if (isErrorCode(code) && !byNumber.has(jsonRpc)) byNumber.set(jsonRpc, code);

function byStatusName(status: unknown): ErrorCode | undefined {
  switch (status) {
    case 'NOT_FOUND':
      return 'TASK_NOT_FOUND';
    case 'INVALID_ARGUMENT':
    case 'OUT_OF_RANGE':
      return 'INVALID_PARAMS';
    case 'FAILED_PRECONDITION':
    case 'UNIMPLEMENTED':
      return 'UNSUPPORTED_OPERATION';
    case 'RESOURCE_EXHAUSTED':
      return undefined; // 413 or 429: the number tells
    case 'UNAVAILABLE':
    case 'UNAUTHENTICATED':
    case 'PERMISSION_DENIED':
    case 'INTERNAL':
      return status;
    default:
      return undefined;
  }
}

function byHttpStatus(status: number): ErrorCode {
  switch (status) {
    case 400:
    case 422:
      return 'INVALID_PARAMS';
    case 401:
      return 'UNAUTHENTICATED';
    case 403:
      return 'PERMISSION_DENIED';
    // without a body of A2A's it tells of a wrong URL and not of a task
    case 404:
    case 405:
    case 501:
      return 'METHOD_NOT_FOUND';
    case 409: // of v1.0.0
      return 'TASK_NOT_CANCELABLE';
    case 413:
      return 'TOO_LARGE';
    case 415:
      return 'CONTENT_TYPE_NOT_SUPPORTED';
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return 'UNAVAILABLE';
    default:
      return 'INTERNAL';
  }
}

// https://a2a-protocol.org/errors/task-not-found
function problemCode(type: unknown): ErrorCode | undefined {
  if (typeof type !== 'string') return undefined;
  const code = (type.split('/').at(-1) ?? '').replaceAll('-', '_').toUpperCase();
  return isErrorCode(code) ? code : undefined;
}

function readDetails(value: unknown): Details {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const bags = list.filter(isPlainObject);
  const info = bags.find((bag) => bag['@type'] === detailTypes.errorInfo);
  const retryAfterMs = durationMs(bags.find((bag) => bag['@type'] === detailTypes.retryInfo)?.['retryDelay']);
  const code = info && codeOf(info);
  return {
    ...(code === undefined ? {} : { code }),
    metadata: { ...(info && code === undefined ? { reason: textIn(info, 'reason') ?? '' } : {}), ...stringsIn(info?.['metadata']) },
    violations: bags.filter((bag) => bag['@type'] === detailTypes.badRequest).flatMap(violationsIn),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

// a reason of another domain is not ours to understand, even if it is spelled alike
function codeOf(info: Bag): ErrorCode | undefined {
  const { reason, domain } = info;
  return isErrorCode(reason) && (domain === undefined || domain === ERROR_DOMAIN) ? reason : undefined;
}

function violationsIn(bag: Bag): readonly FieldViolation[] {
  const list: readonly unknown[] = Array.isArray(bag['fieldViolations']) ? bag['fieldViolations'] : [];
  return list.filter(isPlainObject).map((one) => ({ field: textIn(one, 'field') ?? '', description: textIn(one, 'description') ?? '' }));
}

function stringsIn(value: unknown): Readonly<Record<string, string>> {
  if (!isPlainObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function textIn(bag: Bag, name: string): string | undefined {
  const value = bag[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

// google.protobuf.Duration as JSON: "1.5s"
function durationMs(value: unknown): number | undefined {
  const match = typeof value === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(value) : null;
  return match ? Math.round(Number(match[1]) * 1_000) : undefined;
}

// seconds; the other form, a date, would need a clock and says nothing more
function headerMs(value: string | null | undefined): number | undefined {
  return typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1_000 : undefined;
}
