import { canonicalBase64 } from '../protocol/base64.ts';
import { idProblem } from '../protocol/ids.ts';
import { isPlainObject } from '../protocol/json.ts';
import { textProblem } from '../protocol/text.ts';
import type { EnumName, FieldPath } from './schema.ts';
import { enums, unspecified } from './schema.ts';
import type { ReadRules } from './rules.ts';
import { headerFields, idFields, ranges } from './rules.ts';
import { canonicalTimestamp } from './timestamps.ts';
import type { Violations } from './violations.ts';
import { refuse, within } from './violations.ts';

/** Reads one JSON value that is neither absent nor null; `undefined` if it is refused, or is an enum's "not set". */
export type Read = (value: unknown, found: Violations) => unknown;

/** A reader of strings; ids and texts that end up in headers have rules of their own. An empty one is left to the reader of the message. */
export function stringReader(rules: ReadRules, field: FieldPath): Read {
  if (rules.content === 'trust') return readAnyString;
  const problemOf = idFields.has(field) ? idProblem : headerFields.has(field) ? headerProblem : textProblem;
  return (value, found) => {
    if (typeof value !== 'string') return refuse(found, 'must be a string');
    if (value === '') return value;
    const problem = problemOf(value);
    return problem === undefined ? value : refuse(found, problem);
  };
}

const readAnyString: Read = (value, found) => (typeof value === 'string' ? value : refuse(found, 'must be a string'));

function headerProblem(text: string): string | undefined {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e) return 'must hold printable ASCII characters only, because it is sent as a header';
  }
  return undefined;
}

/** A reader of booleans. */
export const readBool: Read = (value, found) => (typeof value === 'boolean' ? value : refuse(found, 'must be true or false'));

const decimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const numeralLengthMax = 32;

/** A reader of 32-bit integers: numbers, and numerals in strings (JSON-09), as long as they are whole: `1e2` and `"1.0"` are. */
export function intReader(rules: ReadRules, field: FieldPath): Read {
  const [least, most] = (rules.content === 'check' ? ranges[field] : undefined) ?? [-(2 ** 31), 2 ** 31 - 1];
  return (value, found) => {
    const number = typeof value === 'string' && value.length <= numeralLengthMax && decimal.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isInteger(number)) return refuse(found, 'must be a whole number');
    // + 0: a negative zero would not survive printing
    return number >= least && number <= most ? number + 0 : refuse(found, `must be from ${least} to ${most}`);
  };
}

/** A reader of enums: names, and numbers (JSON-11). UNSPECIFIED is "not set" (STATE-01). */
export function enumReader(rules: ReadRules, name: EnumName): Read {
  const values = Object.entries(enums[name]);
  const names = new Map<unknown, string | undefined>([
    [0, undefined],
    [unspecified[name], undefined],
  ]);
  for (const [value, number] of values) names.set(value, value).set(number, value);
  const expected = `must be one of ${values.map(([value]) => value).join(', ')}`;
  return (value, found) => {
    if (names.has(value)) return names.get(value);
    const isOfLaterVersion = typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value));
    return isOfLaterVersion && rules.unknownEnum === 'keep' ? value : refuse(found, expected);
  };
}

/** A reader of bytes: base64 in any form, given back in the canonical one (JSON-08). */
export const readBytes: Read = (value, found) => {
  const bytes = typeof value === 'string' ? canonicalBase64(value) : undefined;
  return bytes ?? refuse(found, 'must be base64');
};

/** A reader of timestamps, given back in the canonical form (JSON-03 to JSON-07). What an agent answers in another form is kept as it is. */
export function timestampReader(rules: ReadRules): Read {
  const keepsOthers = rules.content === 'trust';
  return (value, found) => {
    if (typeof value === 'string') {
      const timestamp = canonicalTimestamp(value) ?? (keepsOthers ? value : undefined);
      if (timestamp !== undefined) return timestamp;
    }
    return refuse(found, 'must be a timestamp such as 2026-01-31T12:00:00.000Z');
  };
}

/** A reader of any JSON value. It is looked through and kept as it is, not copied: the JSON handed in belongs to the reader. */
export function valueReader(rules: ReadRules): Read {
  const check = rules.content === 'check';
  return (value, found) => {
    const before = found.count;
    if (check) look(value, rules.valueDepthMax, found);
    return found.count === before ? value : undefined;
  };
}

/** A reader of JSON objects. */
export function structReader(rules: ReadRules): Read {
  const read = valueReader(rules);
  return (value, found) => (isPlainObject(value) ? read(value, found) : refuse(found, 'must be an object'));
}

// By index and by key: measured, iterators of entries cost three times as much, more than all the rest of a large message together.
function look(value: unknown, depth: number, found: Violations): void {
  if (typeof value === 'string') {
    const problem = textProblem(value);
    if (problem !== undefined) refuse(found, problem);
  } else if (typeof value === 'number') {
    // JSON has numerals that no double holds: 1e999
    if (!Number.isFinite(value)) refuse(found, 'must be a number of double precision');
  } else if (typeof value === 'object' && value !== null) {
    if (depth === 0) refuse(found, 'is nested too deeply');
    else if (Array.isArray(value)) lookThroughList(value, depth - 1, found);
    else lookThroughMembers(value as Readonly<Record<string, unknown>>, depth - 1, found); // JSON: what is no list is an object
  }
}

function lookThroughList(list: readonly unknown[], depth: number, found: Violations): void {
  for (let index = 0; index < list.length; index++) {
    const before = found.list.length;
    look(list[index], depth, found);
    if (found.list.length > before) within(found, before, index);
  }
}

function lookThroughMembers(bag: Readonly<Record<string, unknown>>, depth: number, found: Violations): void {
  for (const name of Object.keys(bag)) {
    const before = found.list.length;
    const problem = textProblem(name);
    if (problem !== undefined) refuse(found, `has a name that ${problem}`);
    else look(bag[name], depth, found);
    if (found.list.length > before) within(found, before, name);
  }
}
