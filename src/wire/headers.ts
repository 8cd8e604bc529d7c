import { contentTypeNotSupported, invalidParams, versionNotSupported } from '../protocol/errors.ts';
import { ID_CODE_POINTS_MAX } from '../protocol/ids.ts';
import { STRINGS_MAX } from '../protocol/limits.ts';

/** Names of the headers, in lower case as gRPC metadata wants them (SP-01, SP-04). */
export const headerNames = {
  version: 'a2a-version',
  extensions: 'a2a-extensions',
  lastEventId: 'last-event-id',
  idempotencyKey: 'idempotency-key',
  contentType: 'content-type',
} as const;

/** Media types of the bindings (behaviour.md, table D). */
export const mediaTypes = { json: 'application/json', a2aJson: 'application/a2a+json', eventStream: 'text/event-stream' } as const;

/** The version of the protocol that this package speaks; our client sends it with every request (VER-04). */
export const PROTOCOL_VERSION = '1.0';

/** What "no version given" means (VER-08). */
export const VERSION_WHEN_ABSENT = '0.3';

type Given = string | null | undefined;

/**
 * The version a request asks for, as Major.Minor, if it is one of `supported`; VERSION_NOT_SUPPORTED otherwise (VER-06 to VER-08). The header
 * wins over the query parameter `A2A-Version`, a third number plays no part (VER-03), any other syntax is not supported (AMB-26).
 */
export function requestedVersion(header: Given, query: Given, supported: readonly string[]): string {
  const given = header?.trim() || query?.trim() || VERSION_WHEN_ABSENT;
  const [, version] = /^(\d{1,4}\.\d{1,4})(?:\.\d{1,9})?$/.exec(given) ?? [];
  if (version === undefined || !supported.includes(version)) throw versionNotSupported(printable(given), supported);
  return version;
}

// what goes back into an answer and perhaps into a log line is cut and cleaned
function printable(text: string): string {
  return text.slice(0, 32).replace(/[^\x20-\x7e]/g, '?');
}

/** URIs of the extensions a request opts in to (EXT-02): comma-separated, each once. */
export function parseExtensions(header: Given): readonly string[] {
  if (header === undefined || header === null || header === '') return [];
  const uris = new Set(
    header
      .split(',')
      .map((uri) => uri.trim())
      .filter((uri) => uri !== ''),
  );
  if (uris.size > STRINGS_MAX) throw invalidParams('A2A-Extensions', `must name at most ${STRINGS_MAX} extensions`);
  return [...uris];
}

/** The header's value for a list of extensions (SP-03). */
export function printExtensions(uris: readonly string[]): string {
  return uris.join(', ');
}

/** The cursor in `Last-Event-ID`; `undefined` if there is none or it is no number of ours (then a subscription starts with a snapshot). */
export function parseLastEventId(header: Given): number | undefined {
  const text = header?.trim() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The `Idempotency-Key` of a request, if it has one: 1 to 255 printable ASCII characters (AMB-05). */
export function parseIdempotencyKey(header: Given): string | undefined {
  if (header === null || header === undefined) return undefined;
  if (header.length > ID_CODE_POINTS_MAX || !/^[\x20-\x7e]+$/.test(header)) {
    throw invalidParams('Idempotency-Key', `must be 1 to ${ID_CODE_POINTS_MAX} printable ASCII characters`);
  }
  return header;
}

/**
 * Refuses a body of another media type (SEC-10). One without a type is refused too: a web page of anywhere may send such a body, or one of
 * `text/plain`, to a local agent without asking, but not JSON.
 */
export function requireContentType(header: Given, accepted: readonly string[]): void {
  if (header && accepted.includes(header)) return; // what nearly all requests say
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (!accepted.includes(type) || !isUtf8) throw contentTypeNotSupported(printable(header?.trim() || 'none'), accepted);
}
