import { canonicalBase64 } from './base64.ts';
import { badContent, copyJson, copyStruct, copyText, isPlainObject } from './json.ts';
import { PARTS_MAX } from './limits.ts';
import type { Message, Part, PartDetails } from './types.ts';

/** What an author may give wherever parts are wanted: a text, one part, or several. */
export type Content = string | Part | readonly Part[];

const contents = ['text', 'raw', 'url', 'data'] as const;

/**
 * The text of a message, an artifact or a list of parts: its text parts joined with nothing between them, because chunks of one text arrive as
 * parts of one artifact (case 89). Other parts are passed over.
 */
export function textOf(source: Pick<Message, 'parts'> | readonly Part[]): string {
  const parts = 'parts' in source ? source.parts : source;
  let text = '';
  for (const part of parts) if ('text' in part) text += part.text;
  return text;
}

/** Parts from whatever an author gave: copied, checked, at least one. A bad one is INVALID_AGENT_RESPONSE and names its path (ERR-21, ART-01). */
export function toParts(content: Content, path = 'parts'): readonly Part[] {
  if (typeof content === 'string') return [{ text: copyText(content, path) }];
  if (!Array.isArray(content)) return [toPart(content, path)];
  if (content.length === 0) throw badContent(path, 'must hold at least one part');
  if (content.length > PARTS_MAX) throw badContent(path, `must hold at most ${PARTS_MAX} parts`);
  return Array.from(content, (part: unknown, index) => toPart(part, `${path}[${index}]`));
}

function toPart(part: unknown, path: string): Part {
  if (!isPlainObject(part)) throw badContent(path, 'must be a part: { text }, { raw }, { url } or { data }');
  // presence tells the kind of a part (JSON-12); an author's `undefined` is absence
  const present = contents.filter((name) => part[name] !== undefined);
  const [kind] = present;
  if (kind === undefined || present.length > 1) throw badContent(path, `must have exactly one of ${contents.join(', ')}`);
  return { ...toContent(kind, part[kind], `${path}.${kind}`), ...toDetails(part, path) };
}

function toContent(kind: (typeof contents)[number], value: unknown, path: string): Part {
  switch (kind) {
    case 'text':
      return { text: copyText(value, path) };
    case 'url':
      return { url: copyText(value, path) };
    case 'raw': {
      const raw = canonicalBase64(copyText(value, path));
      if (raw === undefined) throw badContent(path, 'must be base64');
      return { raw };
    }
    case 'data':
      return { data: copyJson(value, path) };
  }
}

function toDetails(part: Readonly<Record<string, unknown>>, path: string): PartDetails {
  const { metadata, filename, mediaType } = part;
  return {
    ...(metadata === undefined ? {} : { metadata: copyStruct(metadata, `${path}.metadata`) }),
    ...(filename === undefined ? {} : { filename: copyText(filename, `${path}.filename`) }),
    ...(mediaType === undefined ? {} : { mediaType: copyText(mediaType, `${path}.mediaType`) }),
  };
}
