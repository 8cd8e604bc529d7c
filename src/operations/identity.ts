import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Scope } from '../log/entry.ts';
import type { Json, Message } from '../protocol/types.ts';

/**
 * The id of the task that a message under `key` opens: whichever replica makes it, however often, it is the same one, so a retry finds
 * what its first try has done (P9). Each part is preceded by its length: no two different lists of parts give one text.
 */
export function taskIdOf({ agent, tenant, owner }: Scope, key: string): string {
  const parts = [agent, tenant, owner, key];
  const hash = sha256(utf8ToBytes(parts.map((part) => `${part.length}:${part}`).join('')));
  const bytes = hash.slice(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80; // version 8: made by a rule of our own
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytesToHex(bytes);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** What a key stands for: the message as read, with the ids it names, whatever the order of its members. */
export function digestOf(message: Message): string {
  return bytesToHex(sha256(utf8ToBytes(sorted(message as unknown as Json)))); // a message is JSON, as read from the wire
}

/** JSON with the members of every object in one order. */
function sorted(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(sorted).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`).join(',')}}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
