import { isA2AError } from '../protocol/errors.ts';
import type { A2AError, FieldViolation } from '../protocol/errors.ts';
import { unsupportedOperation } from '../protocol/errors.ts';
import { copyStruct } from '../protocol/json.ts';
import type { Json, Struct } from '../protocol/types.ts';

/** Why the engine itself ends a turn (design section 6). */
export type EngineFailureCode = 'INACTIVE' | 'DEADLINE' | 'LIMIT' | 'UNSTORABLE';

/**
 * What stands under `chorus/error` of a FAILED status. The turn's blocking sender gets it back as an A2AError, so everything such an error
 * carries is here.
 */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly FieldViolation[];
  readonly retryAfterMs?: number;
  /** Further metadata for the task, of the agent's own. */
  readonly taskMetadata?: Struct;
}

/** Longest message of a failure, in UTF-16 units: an exception may quote a whole document. */
export const FAILURE_TEXT_MAX = 4_096;

const sentences: Readonly<Record<EngineFailureCode, string>> = {
  INACTIVE: 'The agent did nothing for too long.',
  DEADLINE: 'The agent took too long.',
  LIMIT: 'The task has reached the most it may hold.',
  UNSTORABLE: 'Something the agent said could not be stored.',
};

/** A failure that the engine found. */
export function engineFailure(code: EngineFailureCode): Failure {
  return { code, message: sentences[code] };
}

/** What a thrown value says to the caller: an A2AError its own words, anything else a reference to the line in the operator's log (case 71). */
export function failureOf(error: unknown, referenceId: string): Failure {
  if (!isA2AError(error)) {
    return { code: 'INTERNAL', message: `Internal error. Reference: ${referenceId}`, metadata: { referenceId } };
  }
  return {
    code: error.code,
    message: storable(error.message),
    ...detailsOf(error),
  };
}

/** The metadata of the FAILED status. */
export function failureMetadata({ taskMetadata, ...failure }: Failure): Struct {
  const told: Struct = {
    code: failure.code,
    message: failure.message,
    ...(failure.metadata ? { metadata: failure.metadata } : {}),
    ...(failure.violations ? { violations: failure.violations.map(({ field, description }): Json => ({ field, description })) } : {}),
    ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
  };
  return { ...taskMetadata, 'chorus/error': told };
}

/** A verb came after the end of its turn. */
export const turnIsOver = (): A2AError => unsupportedOperation('The turn is over: nothing more can be said in it.');

/** The usual way to say that work was called off: libraries that take a signal throw it as it is. */
export const abortReason = (why: string): DOMException => new DOMException(why, 'AbortError');

function detailsOf(error: A2AError): Omit<Failure, 'code' | 'message'> {
  // an error of another copy of this package, or one that agent code has changed, may hold anything
  const metadata = structOr(error.metadata);
  const taskMetadata = structOr(error.taskMetadata);
  const { violations, retryAfterMs } = error;
  return {
    ...(metadata ? { metadata: stringsOf(metadata) } : {}),
    ...(Array.isArray(violations) && violations.length > 0 ? { violations: violations.map(storableViolation) } : {}),
    ...(typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) ? { retryAfterMs } : {}),
    ...(taskMetadata ? { taskMetadata } : {}),
  };
}

/** Undefined for what is empty or cannot be stored: a failure is recorded anyhow. */
function structOr(value: unknown): Struct | undefined {
  if (value === undefined) return undefined;
  try {
    const copy = copyStruct(value, 'metadata');
    return Object.keys(copy).length > 0 ? copy : undefined;
  } catch {
    return undefined; // the failure itself matters more than its trimmings
  }
}

function stringsOf(struct: Struct): Record<string, string> {
  return Object.fromEntries(Object.entries(struct).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]));
}

function storableViolation({ field, description }: FieldViolation): FieldViolation {
  return { field: storable(field), description: storable(description) };
}

/** Text that every store keeps as it is (case 74): the words of an exception are nobody's to reject. */
function storable(text: string): string {
  const short = text.length > FAILURE_TEXT_MAX ? `${text.slice(0, FAILURE_TEXT_MAX)}…` : text;
  return wellFormed(short).replaceAll('\0', '\uFFFD');
}

// a method of ES2024, in every runtime we run on, Node 20 included; the compiler's library here ends at ES2023
interface MaybeIllFormed {
  toWellFormed(): string;
}

/** The text with each half of a surrogate pair replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return (text as string & MaybeIllFormed).toWellFormed(); // true: the method exists at run time, see above
}
