import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Scope } from '../log/entry.ts';
import type { ListAsk } from '../log/store.ts';
import { invalidParams } from '../protocol/errors.ts';

/** What a list shows: a token is good for the list it was made for and no other. */
export type Listing = Pick<ListAsk, 'scope' | 'contextId' | 'state' | 'statusAtMin'>;

/** The last row of a page: the next one begins after it. */
export interface PageEnd {
  readonly statusAt: number;
  readonly id: string;
}

// "1": whoever changes the form of tokens changes it, and old ones are refused
const FORM = 'chorus-a2a/page/1';

/**
 * The cursor as text. There is no secret in it: it only moves a cursor inside the caller's own list, so every replica, now and after a
 * restart, reads what any other has written (AMB-11).
 */
export function pageToken(listing: Listing, { statusAt, id }: PageEnd): string {
  const body = `${statusAt}.${digest([FORM, ...membersOf(listing)])}.${id}`;
  return toBase64Url(`${digest([FORM, body])}.${body}`);
}

/** Reads it back; one that is damaged, or of another list or caller, is refused by name. */
export function readPageToken(listing: Listing, token: string): PageEnd {
  const [, check, body, statusAt, list, id] = /^([0-9a-f]{16})\.((\d{1,16})\.([0-9a-f]{16})\.(.+))$/su.exec(fromBase64Url(token)) ?? [];
  if (!body || !id || check !== digest([FORM, body]) || list !== digest([FORM, ...membersOf(listing)]))
    throw invalidParams('pageToken', 'not a token of this list: use nextPageToken of a call with the same filters, or leave it out');
  return { statusAt: Number(statusAt), id };
}

function membersOf({ scope, contextId, state, statusAtMin }: Listing): readonly string[] {
  const { agent, tenant, owner }: Scope = scope;
  return [agent, tenant, owner, contextId ?? '', state ?? '', String(statusAtMin ?? '')];
}

/** Half a hash: it guards against mistakes, not against attacks. */
function digest(members: readonly string[]): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(members)))).slice(0, 16);
}

function toBase64Url(text: string): string {
  const bytes = utf8ToBytes(text);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** '' for what is no such text. */
function fromBase64Url(text: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return '';
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)));
  } catch {
    return ''; // not base64 or not UTF-8: damaged, and the caller is told so
  }
}
