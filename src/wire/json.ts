import { invalidRequest, parseError, tooLarge } from '../protocol/errors.ts';

/**
 * How deep a document may be nested at all. Messages have their own, lower limit for values, with the field's name in the error; this one keeps
 * a body of nothing but brackets from costing 60 times its size in memory.
 */
export const DOCUMENT_DEPTH_MAX = 1_000;

/** The JSON in a body. Bad UTF-8 and bad JSON are PARSE_ERROR (case 70); the answer repeats nothing of the body (case 71). */
export function parseJson(body: string | Uint8Array): unknown {
  const text = typeof body === 'string' ? body : decode(body);
  requireShallow(text);
  try {
    const json: unknown = JSON.parse(text);
    return json;
  } catch (error) {
    // the engine's message quotes the text; only the place is taken from it
    const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
    throw parseError(`The body is not valid JSON${position === undefined ? '' : `: see position ${position}`}.`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch {
    throw parseError('The body is not valid UTF-8.');
  }
}

const quote = 0x22;
const backslash = 0x5c;

// Before parsing, because the parser builds all levels first. Strings are jumped over, so a large text costs a search for its end; and a text
// with few brackets, as nearly all are, costs a search for those, a tenth of the walk.
function requireShallow(text: string): void {
  if (!hasMany(text)) return;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === quote) {
      i = endOfString(text, i);
      if (i < 0) return; // not JSON; the parser says so
    } else if (unit === 0x5b || unit === 0x7b) {
      depth += 1;
      if (depth > DOCUMENT_DEPTH_MAX) throw invalidRequest(`The body is nested deeper than ${DOCUMENT_DEPTH_MAX} levels.`);
    } else if (unit === 0x5d || unit === 0x7d) depth -= 1;
  }
}

/** True when a text has so many opening brackets, in strings or not, that it might be too deep. */
function hasMany(text: string): boolean {
  let count = 0;
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (++count > DOCUMENT_DEPTH_MAX) return true;
  return false;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === backslash) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return -1;
}

/** Collects a body, at most `bytesMost` bytes of it; more is TOO_LARGE, and the rest is left unread. `onBytes` may refuse it as well. */
export async function collectBody(
  chunks: AsyncIterable<Uint8Array>,
  bytesMost: number,
  onBytes?: (bytes: number) => void,
): Promise<Uint8Array> {
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.byteLength;
    if (length > bytesMost) throw tooLarge('The body', bytesMost);
    onBytes?.(length);
    kept.push(chunk);
  }
  const [only] = kept;
  if (kept.length === 1 && only) return only;
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of kept) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}
