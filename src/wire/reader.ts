import { A2AError } from '../protocol/errors.ts';
import { isPlainObject, setMember } from '../protocol/json.ts';
import { textProblem } from '../protocol/text.ts';
import { rowsOf } from './fields.ts';
import type { EnumName, FieldLabel, FieldPath, FieldRow, FieldType, MessageName, Messages } from './schema.ts';
import { enums, unspecified } from './schema.ts';
import type { ReadRules } from './rules.ts';
import { answerRules, emptyStrings, filledLists, neededAnyway, neededOneofs, requestRules } from './rules.ts';
import type { Read } from './values.ts';
import { enumReader, intReader, readBool, readBytes, stringReader, structReader, timestampReader, valueReader } from './values.ts';
import type { Violations } from './violations.ts';
import { refuse, within } from './violations.ts';

/**
 * Reads JSON as a message of `lf.a2a.v1`. What comes back is canonical: JSON names, enum names, no defaults of fields without presence, only
 * members of the table. So `JSON.stringify` is all that printing needs. `undefined` and `null` are read as `{}` (an absent body, case 72).
 */
export type MessageReader = <M extends MessageName>(message: M, json: unknown) => Messages[M];

/** Makes a reader by a set of rules. Each message is compiled once, when it is first read. */
export function createReader(rules: ReadRules): MessageReader {
  const compiled = new Map<MessageName, Read>();
  const readerOf = (message: MessageName): Read => {
    const known = compiled.get(message);
    if (known) return known;
    const fresh = compileMessage(message, rules, readerOf);
    compiled.set(message, fresh);
    return fresh;
  };
  return <M extends MessageName>(message: M, json: unknown): Messages[M] => {
    const found: Violations = { list: [], count: 0 };
    const value = readerOf(message)(json ?? {}, found);
    if (found.count > 0) throw refusalOf(rules, found);
    // true: the reader is made from the table, and the compiler compares the table with the type; an answer's enum may be of a later version
    return value as Messages[M];
  };
}

/** Reads what a stranger sends: INVALID_PARAMS with the path of everything that is wrong (ERR-09 to ERR-11). */
export const readMessage: MessageReader = createReader(requestRules);

/** Reads what an agent answers to our client, as leniently as the types allow; INVALID_AGENT_RESPONSE if they do not. */
export const readAnswer: MessageReader = createReader(answerRules);

function refusalOf(rules: ReadRules, found: Violations): A2AError {
  const { code, opening } = rules.refusal;
  const [first] = found.list;
  const what = first && (first.field === '' ? first.description : `${first.field}: ${first.description}`);
  const more = found.count > 1 ? ` (and ${found.count - 1} more)` : '';
  return new A2AError(code, `${opening}: ${what}${more}`, { violations: found.list });
}

/** One field of a message, as its reader needs it. */
interface Field {
  readonly name: string;
  /** The other name a member may come under, if it differs (JSON-11). */
  readonly protoName: string | undefined;
  readonly oneof: string | undefined;
  /** null is a value here and not "unset" (JSON-10). */
  readonly holdsNull: boolean;
  /** The default is the same as absence (JSON-19). */
  readonly dropsDefault: boolean;
  readonly isRequired: boolean;
  readonly mayBeEmpty: boolean;
  /** Only of required fields: what stands for one that is missing. `undefined`: it cannot be missing. */
  readonly fill: ((found: Violations) => unknown) | undefined;
  readonly read: Read;
}

interface Oneof {
  readonly fields: readonly Field[];
  readonly names: string;
  readonly isNeeded: boolean;
}

type Bag = Readonly<Record<string, unknown>>;

function compileMessage(message: MessageName, rules: ReadRules, readerOf: (message: MessageName) => Read): Read {
  const fields = rowsOf(message).map(([name, row]) => compileField(message, name, row, rules, readerOf));
  const oneof = compileOneof(message, fields, rules);
  return (value, found) => {
    if (!isPlainObject(value)) return refuse(found, 'must be an object');
    const out: Record<string, unknown> = {};
    const chosen = oneof && chooseOne(oneof, value, found);
    for (const field of fields) {
      if (field.oneof !== undefined && field !== chosen) continue;
      const before = found.list.length;
      const read = readField(field, value, found);
      if (found.list.length > before) within(found, before, field.name);
      if (read !== undefined) out[field.name] = read;
    }
    return out;
  };
}

function readField(field: Field, bag: Bag, found: Violations): unknown {
  const given = memberOf(field, bag, found);
  const before = found.count;
  const value = given === undefined ? undefined : field.read(given, found);
  if (found.count > before) return undefined;
  if (!field.isRequired) return field.dropsDefault && isDefault(value) ? undefined : value;
  if (value !== undefined && (value !== '' || field.mayBeEmpty)) return value;
  return field.fill ? field.fill(found) : refuse(found, 'is required');
}

// the member under either name; null is "unset" nearly everywhere (JSON-10)
function memberOf(field: Field, bag: Bag, found: Violations): unknown {
  const value = present(field, bag[field.name]);
  if (field.protoName === undefined) return value;
  const other = present(field, bag[field.protoName]);
  if (value === undefined || other === undefined) return value ?? other;
  return refuse(found, `is given twice, as ${field.name} and as ${field.protoName}`);
}

function present(field: Field, value: unknown): unknown {
  return value === null && !field.holdsNull ? undefined : value;
}

function isDefault(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === '' || value === false || value === 0;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/**
 * Presence tells which member of a oneof is meant (JSON-12): with one member there, it is that one, also if it is empty (`{ "text": "" }`).
 * Printers that write every field add empty placeholders of the others; when several are there, those that are '' or null do not count, and
 * exactly one has to be left.
 */
function chooseOne(oneof: Oneof, bag: Bag, found: Violations): Field | undefined {
  const given = oneof.fields.filter((field) => isGiven(field, bag));
  const meant = given.length > 1 ? given.filter((field) => !isPlaceholder(field, bag)) : given;
  if (meant.length === 1) return meant[0];
  if (given.length > 0 || oneof.isNeeded) refuse(found, `must have exactly one of ${oneof.names}`);
  return undefined;
}

function isGiven(field: Field, bag: Bag): boolean {
  if (present(field, bag[field.name]) !== undefined) return true;
  return field.protoName !== undefined && present(field, bag[field.protoName]) !== undefined;
}

function isPlaceholder(field: Field, bag: Bag): boolean {
  const value = bag[field.name] ?? (field.protoName === undefined ? undefined : bag[field.protoName]);
  return value === '' || value === undefined || value === null;
}

function compileOneof(message: MessageName, fields: readonly Field[], rules: ReadRules): Oneof | undefined {
  const members = fields.filter((field) => field.oneof !== undefined);
  const [first] = members;
  if (!first) return undefined;
  const isNeeded = rules.missing === 'refuse' || neededOneofs.has(`${message}.${first.oneof}`);
  return { fields: members, names: members.map((field) => field.name).join(', '), isNeeded };
}

function compileField(
  message: MessageName,
  name: string,
  [protoName, , type, label]: FieldRow,
  rules: ReadRules,
  readerOf: (message: MessageName) => Read,
): Field {
  // true: name is a key of the message's row in the table
  const path = `${message}.${name}` as FieldPath;
  const one = compileType(type, path, rules, readerOf);
  const isRequired = label === 'required' || label.endsWith(' required');
  const mayBeMissing = rules.missing === 'fill' && !neededAnyway.has(path);
  return {
    name,
    protoName: protoName === name ? undefined : protoName,
    oneof: label.startsWith('oneof:') ? label.slice('oneof:'.length) : undefined,
    holdsNull: type === 'Value',
    dropsDefault: (label === 'singular' && isScalar(type)) || label === 'repeated' || label === 'map',
    isRequired,
    mayBeEmpty: emptyStrings.has(path) || rules.missing === 'fill',
    fill: isRequired && mayBeMissing ? fillerOf(type, label, one) : undefined,
    read: label.startsWith('repeated') ? listReader(one, type, path, rules) : label.startsWith('map') ? mapReader(one, rules) : one,
  };
}

function isScalar(type: FieldType): boolean {
  return type === 'string' || type === 'bool' || type === 'int32' || type === 'bytes' || isEnum(type);
}

function isEnum(type: FieldType): type is EnumName {
  return Object.hasOwn(enums, type);
}

function compileType(type: FieldType, path: FieldPath, rules: ReadRules, readerOf: (message: MessageName) => Read): Read {
  switch (type) {
    case 'string':
      return stringReader(rules, path);
    case 'bool':
      return readBool;
    case 'int32':
      return intReader(rules, path);
    case 'bytes':
      return readBytes;
    case 'Timestamp':
      return timestampReader(rules);
    case 'Value':
      return valueReader(rules);
    case 'Struct':
      return structReader(rules);
    case 'TaskState':
    case 'Role':
      return enumReader(rules, type);
    default:
      return readerOf(type);
  }
}

function listReader(one: Read, type: FieldType, path: FieldPath, rules: ReadRules): Read {
  const most = type === 'Part' ? rules.partsMax : type === 'string' ? rules.stringsMax : Infinity;
  const least = filledLists.has(path) && rules.missing === 'refuse' ? 1 : 0;
  return (value, found) => {
    if (!Array.isArray(value)) return refuse(found, 'must be an array');
    if (value.length < least) return refuse(found, 'must not be empty');
    if (value.length > most) return refuse(found, `must have at most ${most} elements`);
    const list: readonly unknown[] = value;
    return list.map((item, index) => {
      const before = found.list.length;
      const read = item === null ? refuse(found, 'must not be null') : one(item, found);
      if (found.list.length > before) within(found, before, index);
      return read;
    });
  };
}

function mapReader(one: Read, rules: ReadRules): Read {
  return (value, found) => {
    if (!isPlainObject(value)) return refuse(found, 'must be an object');
    const out: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const before = found.list.length;
      const problem = rules.content === 'check' ? textProblem(key) : undefined;
      if (problem !== undefined) refuse(found, `has a name that ${problem}`);
      else setMember(out, key, item === null ? refuse(found, 'must not be null') : one(item, found));
      if (found.list.length > before) within(found, before, key);
    }
    return out;
  };
}

function fillerOf(type: FieldType, label: FieldLabel, read: Read): (found: Violations) => unknown {
  if (label === 'repeated required') return () => [];
  if (label === 'map required') return () => ({});
  if (isEnum(type)) return () => unspecified[type];
  if (type === 'string') return () => '';
  if (type === 'int32') return () => 0;
  return (found) => read({}, found);
}
