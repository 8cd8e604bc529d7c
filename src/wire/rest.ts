import { invalidParams } from '../protocol/errors.ts';
import { isPlainObject } from '../protocol/json.ts';
import { rowsOf } from './fields.ts';
import type { HttpMethod, Operation, OperationName, RequestOf } from './operations.ts';
import { allOperations } from './operations.ts';

/** What a path and a method of the REST binding lead to. */
export type RestMatch =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly params: RestParams }
  | { readonly kind: 'notFound' }
  /** The path exists for other methods: 405 with an `Allow` header. */
  | { readonly kind: 'methodNotAllowed'; readonly allow: readonly HttpMethod[] };

/** Request fields that were bound by the path, percent-decoded, by their JSON names. */
export type RestParams = Readonly<Record<string, string>>;

interface Segment {
  /** JSON name of the field the segment binds; absent for a fixed segment. */
  readonly field?: string;
  /** The fixed text, or what follows the field: `:cancel`. */
  readonly text: string;
}

interface Route {
  readonly operation: Operation;
  readonly segments: readonly Segment[];
}

const plainRoutes: readonly Route[] = allOperations.map((operation) => ({ operation, segments: segmentsOf(operation.path) }));
// the same below /{tenant} (TEN-04); after the plain ones, so that /tasks/x stays a task and is not a tenant named "tasks"
const routes: readonly Route[] = [
  ...plainRoutes,
  ...plainRoutes.map(({ operation, segments }) => ({ operation, segments: [{ field: 'tenant', text: '' }, ...segments] })),
];

function segmentsOf(path: string): readonly Segment[] {
  return path
    .slice(1)
    .split('/')
    .map((part) => {
      const match = /^\{(\w+)\}(.*)$/.exec(part);
      return match ? { field: match[1] ?? '', text: match[2] ?? '' } : { text: part };
    });
}

const verbs: readonly string[] = plainRoutes.flatMap(({ segments }) =>
  segments.filter(({ field, text }) => field && text).map(({ text }) => text),
);

/**
 * Finds the operation for a path below the interface's URL, as it stood in the request line: percent-encoded, without query. A custom verb
 * is what follows the last literal colon, so ids may hold colons, and an id that ends like a verb is sent with `%3A` (REST-19).
 */
export function matchRest(method: string, path: string): RestMatch {
  if (!path.startsWith('/')) return { kind: 'notFound' };
  const parts = path.slice(1).split('/');
  const allow = new Set<HttpMethod>();
  for (const { operation, segments } of routes) {
    const params = bind(segments, parts);
    if (!params) continue;
    if (operation.httpMethods.some((known) => known === method)) return { kind: 'operation', operation, params };
    for (const known of operation.httpMethods) allow.add(known);
  }
  return allow.size === 0 ? { kind: 'notFound' } : { kind: 'methodNotAllowed', allow: [...allow] };
}

function bind(segments: readonly Segment[], parts: readonly string[]): RestParams | undefined {
  if (segments.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, { field, text }] of segments.entries()) {
    const part = parts[index] ?? '';
    if (field === undefined) {
      if (part !== text) return undefined;
      continue;
    }
    const value = valueIn(part, text, index === segments.length - 1);
    if (value === undefined) return undefined;
    params[field] = value;
  }
  return params;
}

function valueIn(part: string, verb: string, isLast: boolean): string | undefined {
  if (!part.endsWith(verb)) return undefined;
  // a plain {id} at the end does not swallow a verb (REST-19)
  if (isLast && verb === '' && verbs.some((known) => part.endsWith(known))) return undefined;
  const raw = part.slice(0, part.length - verb.length);
  if (raw === '') return undefined;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined; // a broken percent-encoding names nothing
  }
}

/**
 * Puts a REST request together as the JSON of its message, ready for the reader: the body or the query, and what the path binds. A body that
 * says something else than the path is refused (AMB-20).
 */
export function restRequest(
  operation: Operation,
  params: RestParams,
  source: { readonly body?: unknown; readonly query?: URLSearchParams },
): unknown {
  const rest = source.body === undefined || source.body === null ? readQuery(operation, source.query) : source.body;
  if (!isPlainObject(rest)) return rest;
  for (const [field, value] of Object.entries(params)) {
    for (const name of namesOf(operation, field)) {
      const given = rest[name];
      if (given !== undefined && given !== null && given !== '' && given !== value) {
        throw invalidParams(field, 'must be the same in the path and in the rest of the request');
      }
    }
  }
  return withParams(rest, operation, params);
}

function withParams(rest: Readonly<Record<string, unknown>>, operation: Operation, params: RestParams): unknown {
  const bound = new Set(Object.keys(params).flatMap((field) => namesOf(operation, field)));
  return Object.fromEntries([...Object.entries(rest).filter(([name]) => !bound.has(name)), ...Object.entries(params)]);
}

function namesOf(operation: Operation, field: string): readonly string[] {
  const row = rowsOf(operation.request).find(([name]) => name === field)?.[1];
  return row ? [field, row[0]] : [field];
}

/**
 * The query as JSON of the request message (REST-06 to REST-10): names in camelCase (snake_case is tolerated), lists as repeated names or with
 * commas. Names that are no field of the message are ignored, as unknown members are (JSON-18).
 */
export function readQuery(operation: Operation, query: URLSearchParams | undefined): Readonly<Record<string, unknown>> {
  const json: Record<string, unknown> = {};
  if (!query || query.size === 0) return json;
  for (const [name, [protoName, , type, label]] of rowsOf(operation.request)) {
    const values = [...query.getAll(name), ...(protoName === name ? [] : query.getAll(protoName))];
    const [first] = values;
    if (first === undefined) continue;
    if (label.startsWith('repeated')) json[name] = values.flatMap((value) => value.split(','));
    else if (values.length > 1) throw invalidParams(name, 'must be given once');
    else json[name] = type === 'bool' ? toBool(first) : type === 'TaskState' || type === 'Role' ? toEnum(first) : first;
  }
  return json;
}

// anything else is left as it is, for the reader to refuse
function toBool(text: string): unknown {
  return text === 'true' ? true : text === 'false' ? false : text;
}

// numbers as in JSON (JSON-11); an empty one is "not set"
function toEnum(text: string): unknown {
  return text === '' ? undefined : /^\d{1,9}$/.test(text) ? Number(text) : text;
}

/** How our client sends a request over REST. */
export interface RestCall {
  readonly method: HttpMethod;
  /** Below the interface's URL, percent-encoded, with the query. */
  readonly path: string;
  /** JSON text; absent for requests without a body. */
  readonly body?: string;
}

/** The REST form of a request: what the path binds goes into the path, the rest into the query or the body (REST-03, REST-04). */
export function restCall<N extends OperationName>(operation: Operation<N>, request: RequestOf<N>): RestCall {
  const { tenant, ...rest }: Record<string, unknown> = { ...request };
  let path = typeof tenant === 'string' && tenant !== '' ? `/${encodeSegment('tenant', tenant)}` : '';
  for (const { field, text } of segmentsOf(operation.path)) {
    path += `/${field === undefined ? text : encodeSegment(field, rest[field]) + text}`;
    if (field !== undefined) delete rest[field];
  }
  const [method] = operation.httpMethods;
  if (operation.hasBody) return { method, path, body: JSON.stringify(rest) };
  const query = printQuery(rest);
  return { method, path: query === '' ? path : `${path}?${query}` };
}

function encodeSegment(field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw invalidParams(field, 'is required');
  // every URL parser takes these for steps in the path, encoded or not
  if (value === '.' || value === '..') throw invalidParams(field, 'cannot be sent in a path; use another binding');
  return encodeURIComponent(value);
}

function printQuery(rest: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) {
      // nested objects never go into a query (REST-09), and no message with one is sent by it
      if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean') query.append(name, String(one));
    }
  }
  return query.toString().replaceAll('+', '%20'); // a literal plus is %2B by now; %20 is read alike by every server (REST-10)
}
