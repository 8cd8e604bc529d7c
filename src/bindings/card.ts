import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { AgentCard } from '../protocol/types.ts';
import { mediaTypes } from '../wire/headers.ts';
import type { Exchange, Reply } from './exchange.ts';

/** How long a client may use a card without asking again (CACHE-02). */
export const CARD_MAX_AGE_S = 300;

// an agent is reached by few names; a caller who makes them up must not fill the memory
export const BASES_MAX = 64;
const ETAG_LENGTH = 32;

interface PrintedCard {
  readonly card: AgentCard;
  readonly json: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Answers for the public card. The ETag is made of the content alone, so replicas of one version agree on it without knowing of each other
 * (CACHE-03, AMB-29).
 */
export function createCardReply(card: (base: string) => AgentCard): (exchange: Exchange) => Reply {
  const printed = new Map<string, PrintedCard>();
  return (exchange) => {
    const { base } = exchange;
    const now = card(base);
    let known = printed.get(base);
    if (known?.card !== now) {
      known = print(now);
      if (printed.size >= BASES_MAX) printed.clear();
      printed.set(base, known);
    }
    const { headers, json } = known;
    if (isFresh(exchange.header('if-none-match'), headers['etag'] ?? '')) return { status: 304, headers };
    return { status: 200, headers: { ...headers, 'content-type': mediaTypes.json }, body: json };
  };
}

function print(card: AgentCard): PrintedCard {
  const json = JSON.stringify(card);
  const etag = `"${bytesToHex(sha256(utf8ToBytes(json))).slice(0, ETAG_LENGTH)}"`;
  return { card, json, headers: { etag, 'cache-control': `public, max-age=${CARD_MAX_AGE_S}` } };
}

// RFC 9110, 13.1.2: a list of tags, compared weakly
function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((one) => {
    const tag = one.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}
