import { A2AError, isErrorCode, type FieldViolation } from '../protocol/errors.ts';
import type { Json, Struct } from '../protocol/types.ts';

/** What a FAILED status says of its reason, as the error it was. Reasons of our own (LOST, DEADLINE …) are INTERNAL on the wire. */
export function recordedError(metadata: Struct | undefined, taskId: string): A2AError | undefined {
  const recorded = metadata?.['chorus/error'];
  if (!isObject(recorded)) return undefined;
  const { code, message, retryAfterMs } = recorded;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  const details = {
    violations: violationsOf(recorded['violations']),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
  };
  const told = { ...textsOf(recorded['metadata']), taskId };
  if (isErrorCode(code)) return new A2AError(code, message, { ...details, metadata: told });
  return new A2AError('INTERNAL', message, { ...details, metadata: { ...told, code } });
}

function textsOf(value: Json | undefined): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])));
}

function violationsOf(value: Json | undefined): readonly FieldViolation[] {
  if (!isList(value)) return [];
  return value.flatMap((one) => {
    if (!isObject(one)) return [];
    const { field, description } = one;
    return typeof field === 'string' && typeof description === 'string' ? [{ field, description }] : [];
  });
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
