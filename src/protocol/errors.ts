import type { Struct } from './types.ts';

/**
 * What can go wrong between a caller and an agent. The first nine are A2A's own and equal `ErrorInfo.reason` on the wire (behaviour.md,
 * table B); the others are the generic categories of section 3.3.2. How each is printed is told by one table, `wire/errors.ts`.
 */
export type ErrorCode =
  | 'TASK_NOT_FOUND'
  | 'TASK_NOT_CANCELABLE'
  | 'PUSH_NOTIFICATION_NOT_SUPPORTED'
  | 'UNSUPPORTED_OPERATION'
  | 'CONTENT_TYPE_NOT_SUPPORTED'
  | 'INVALID_AGENT_RESPONSE'
  | 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
  | 'EXTENSION_SUPPORT_REQUIRED'
  | 'VERSION_NOT_SUPPORTED'
  | 'PARSE_ERROR'
  | 'INVALID_REQUEST'
  | 'METHOD_NOT_FOUND'
  | 'INVALID_PARAMS'
  | 'TOO_LARGE'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED';

// the compiler completes it
const errorCodes: Readonly<Record<ErrorCode, true>> = {
  TASK_NOT_FOUND: true,
  TASK_NOT_CANCELABLE: true,
  PUSH_NOTIFICATION_NOT_SUPPORTED: true,
  UNSUPPORTED_OPERATION: true,
  CONTENT_TYPE_NOT_SUPPORTED: true,
  INVALID_AGENT_RESPONSE: true,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: true,
  EXTENSION_SUPPORT_REQUIRED: true,
  VERSION_NOT_SUPPORTED: true,
  PARSE_ERROR: true,
  INVALID_REQUEST: true,
  METHOD_NOT_FOUND: true,
  INVALID_PARAMS: true,
  TOO_LARGE: true,
  INTERNAL: true,
  UNAVAILABLE: true,
  UNAUTHENTICATED: true,
  PERMISSION_DENIED: true,
};

/** True for a code of this version; a copy of this package of another version may throw others (case 69). */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCodes, code);
}

/** One field that is wrong and why (`google.rpc.BadRequest`, ERR-10). `field` is a path in JSON names: `message.parts[0].text`. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** What an A2AError may carry beside its code and message. */
export interface A2AErrorDetails {
  /** `ErrorInfo.metadata`: flat, strings only. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly FieldViolation[];
  /** When to try again (ERR-15). */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
  /** Further `data` an agent wants to put on the FAILED status it causes. */
  readonly taskMetadata?: Struct;
}

// one symbol for every copy of this module: a class check fails when a program loads the package twice (case 69)
const brand = Symbol.for('chorus-a2a/A2AError');

/**
 * An error that a caller is meant to see. Throw it from agent code to answer with its code. Recognise it by `isA2AError`.
 *
 * @example
 * ```ts
 * import { A2AError, createAgent } from 'chorus-a2a';
 *
 * const agent = createAgent({
 *   card: { name: 'Vault', description: 'Opens for those who may.', version: '1.0.0' },
 *   run(turn) {
 *     if (turn.caller.name === undefined) throw new A2AError('PERMISSION_DENIED', 'Only members may open the vault.');
 *     return 'It is open.';
 *   },
 * });
 * ```
 */
export class A2AError extends Error {
  override readonly name = 'A2AError';
  readonly code: ErrorCode;
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs: number | undefined;
  readonly taskMetadata: Struct | undefined;

  constructor(code: ErrorCode, message: string, details: A2AErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.metadata = details.metadata ?? {};
    this.violations = details.violations ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.taskMetadata = details.taskMetadata;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for an A2AError of any copy of this module (case 69). */
export function isA2AError(error: unknown): error is A2AError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** Unknown, foreign, expired and purged tasks look the same (GET-02, ERR-12, ERR-13). */
export const taskNotFound = (taskId: string): A2AError =>
  new A2AError('TASK_NOT_FOUND', 'There is no such task here, or it is not yours.', { metadata: { taskId } });

/** The task has ended in another way than by a cancel (CANC-02). */
export const taskNotCancelable = (taskId: string, state: string): A2AError =>
  new A2AError('TASK_NOT_CANCELABLE', `The task cannot be canceled: its state is ${state}.`, { metadata: { taskId, state } });

/** The operation or feature is not offered, or not in this state (CAP-01, SEND-05, SUB-03). */
export const unsupportedOperation = (message: string, metadata: Readonly<Record<string, string>> = {}): A2AError =>
  new A2AError('UNSUPPORTED_OPERATION', message, { metadata });

/** No push capability (PUSH-01, SEND-14). */
export const pushNotSupported = (): A2AError =>
  new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'This agent does not send push notifications.');

/** One bad field, named by its path (ERR-10). */
export const invalidParams = (field: string, description: string): A2AError =>
  new A2AError('INVALID_PARAMS', `Invalid parameters: ${field}: ${description}`, { violations: [{ field, description }] });

/** Try again later (ERR-14): nothing is wrong with the request. */
export const unavailable = (message: string, retryAfterMs = 1_000, cause?: unknown): A2AError =>
  new A2AError('UNAVAILABLE', message, { retryAfterMs, ...(cause === undefined ? {} : { cause }) });

/** Something of ours broke; the reference id leads to the log line, nothing else is said (case 71). */
export const internalError = (referenceId: string, metadata: Readonly<Record<string, string>> = {}): A2AError =>
  new A2AError('INTERNAL', `Internal error. Reference: ${referenceId}`, { metadata: { ...metadata, referenceId } });

/** The body is no JSON, or no UTF-8 (case 70). Nothing of it is repeated in the answer (case 71). */
export const parseError = (message: string): A2AError => new A2AError('PARSE_ERROR', message);

/** JSON, but not a request (case 70). */
export const invalidRequest = (message: string): A2AError => new A2AError('INVALID_REQUEST', message);

/** No such operation, method or path (case 70). */
export const methodNotFound = (what: string): A2AError => new A2AError('METHOD_NOT_FOUND', `Method not found: ${what.slice(0, 100)}`);

/** More bytes than the server takes (SEC-09). */
export const tooLarge = (what: string, bytesMost: number): A2AError =>
  new A2AError('TOO_LARGE', `${what} is larger than ${bytesMost} bytes.`, { metadata: { bytesMost: String(bytesMost) } });

/** A version that this interface does not speak; names those it does (VER-07, AMB-26). */
export const versionNotSupported = (requested: string, supported: readonly string[]): A2AError =>
  new A2AError('VERSION_NOT_SUPPORTED', `A2A version ${requested} is not supported here. Supported: ${supported.join(', ')}.`, {
    metadata: { requested, supported: supported.join(', ') },
  });

/** A media type that is not read here (SEND-04, SEC-10). */
export const contentTypeNotSupported = (given: string, accepted: readonly string[]): A2AError =>
  new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `Content type ${given} is not supported. Supported: ${accepted.join(', ')}.`, {
    metadata: { accepted: accepted.join(', ') },
  });
