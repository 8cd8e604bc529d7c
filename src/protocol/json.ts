import { A2AError } from './errors.ts';
import { VALUE_DEPTH_MAX } from './limits.ts';
import { textProblem } from './text.ts';
import type { Json, Struct } from './types.ts';

/**
 * A frozen-in-time copy of something agent code wants to put on the log, checked to be plain JSON: what agent code changes afterwards never
 * shows (case 35), and what could not be stored or read back is refused here, with its path, as INVALID_AGENT_RESPONSE (ERR-21). A member
 * that is `undefined` is absent.
 */
export function copyJson(value: unknown, path: string): Json {
  return copyValue(value, path, VALUE_DEPTH_MAX);
}

/** The same for a JSON object, such as `metadata`. */
export function copyStruct(value: unknown, path: string): Struct {
  if (!isPlainObject(value)) throw badContent(path, 'must be a plain object');
  return copyObject(value, path, VALUE_DEPTH_MAX);
}

/**
 * A copy of JSON that was read or checked already, for hands that may change it. A fifth of what structuredClone costs for a message, which
 * has to write and read it.
 */
export function cloneJson<Value>(value: Value): Value {
  return cloneOf(value) as Value; // member by member the same JSON
}

function cloneOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneOf);
  const clone: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) setMember(clone, key, cloneOf(member));
  return clone;
}

/** As `copyJson`, for a text. */
export function copyText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw badContent(path, 'must be a string');
  const problem = textProblem(value);
  if (problem !== undefined) throw badContent(path, problem);
  return value;
}

/** Agent code gave something that A2A cannot carry (ERR-21). */
export function badContent(path: string, description: string): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `The agent gave something A2A cannot carry: ${path} ${description}.`, {
    metadata: { field: path },
  });
}

/** Sets a member by definition, because assigning to `__proto__` would change the object's prototype instead. */
export function setMember<V>(target: Record<string, V>, key: string, value: V): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** True for objects made by `{}`, `JSON.parse` or `Object.create(null)`, of any realm. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function copyValue(value: unknown, path: string, depth: number): Json {
  switch (typeof value) {
    case 'string':
      return copyText(value, path);
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw badContent(path, 'must be a finite number');
      return value;
    default:
      if (value === null) return null;
      if (Array.isArray(value)) return copyArray(value, path, depth);
      if (isPlainObject(value)) return copyObject(value, path, depth);
      throw badContent(path, `must be JSON, not ${nameOf(value)}`);
  }
}

function copyArray(value: readonly unknown[], path: string, depth: number): Json {
  if (depth === 0) throw tooDeep(path);
  // not map: a hole in the array must be seen and refused, not skipped
  return Array.from(value, (item, index) => copyValue(item, `${path}[${index}]`, depth - 1));
}

function copyObject(value: Readonly<Record<string, unknown>>, path: string, depth: number): Struct {
  if (depth === 0) throw tooDeep(path);
  const copy: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const problem = textProblem(key);
    if (problem !== undefined) throw badContent(path, `has a key that ${problem}`);
    setMember(copy, key, copyValue(member, `${path}.${key}`, depth - 1));
  }
  return copy;
}

// also where a cycle ends; the path would name every level
function tooDeep(path: string): A2AError {
  return badContent(`${path.slice(0, 40)}…`, `must not be nested deeper than ${VALUE_DEPTH_MAX} levels (or is it a cycle?)`);
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value;
  return value.constructor?.name || 'an object with a prototype of its own';
}
