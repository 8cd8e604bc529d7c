import { isPlainObject } from '../protocol/json.ts';
import type { AgentCard, AgentInterface } from '../protocol/types.ts';
import { A2AError, unsupportedOperation } from '../protocol/errors.ts';
import { headerNames, mediaTypes, PROTOCOL_VERSION } from '../wire/headers.ts';
import { readAnswer } from '../wire/reader.ts';
import { readJson } from './body.ts';
import type { ChosenInterface } from './calls.ts';
import { Deadline } from './deadline.ts';
import { originOf, sendHttp } from './http.ts';
import type { Binding, ClientSettings } from './options.ts';
import { withRetries } from './retry.ts';
import { isBinding } from './transport.ts';
import { badAnswer, errorOf, noAnswer } from './trouble.ts';

const WELL_KNOWN = '/.well-known/agent-card.json';
export const CARD_BYTES_MAX: number = 4 * 1_048_576;

/** Where the card of an agent is: a URL whose path ends in `.json` is the card's own, any other is the agent's base (CARD-02). */
export function cardUrl(target: string | URL): string {
  if (!URL.canParse(String(target))) throw new A2AError('INVALID_PARAMS', `An absolute URL was expected, "${String(target)}" came.`);
  const url = new URL(target);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new A2AError('INVALID_PARAMS', 'An http or https URL was expected.');
  if (hasPassword(url)) throw new A2AError('INVALID_PARAMS', 'Credentials belong into the headers, not into a URL.');
  if (!url.pathname.endsWith('.json')) {
    url.pathname = url.pathname.replace(/\/+$/, '') + WELL_KNOWN;
    url.search = '';
  }
  url.hash = '';
  return url.href;
}

/** Fetches a card. */
export async function fetchCard(url: string, settings: ClientSettings, signal: AbortSignal | undefined): Promise<AgentCard> {
  const { clock, random, retry, timeoutMs } = settings;
  const deadline = new Deadline({
    clock,
    ms: timeoutMs,
    signal,
    error: () => noAnswer(`${originOf(url)} gave no card in ${timeoutMs} ms.`),
  });
  try {
    return await withRetries(() => fetchOnce(url, settings, deadline.signal), { patience: retry, clock, random, signal: deadline.signal });
  } finally {
    deadline.close();
  }
}

async function fetchOnce(url: string, settings: ClientSettings, signal: AbortSignal): Promise<AgentCard> {
  const { clock, silentMs, cardHeaders } = settings;
  const watch = new Deadline({
    clock,
    ms: silentMs,
    signal,
    error: () => noAnswer(`Nothing came from ${originOf(url)} for ${silentMs} ms.`),
  });
  try {
    const own = typeof cardHeaders === 'function' ? await cardHeaders() : cardHeaders;
    const headers = { ...own, accept: mediaTypes.json, [headerNames.version]: PROTOCOL_VERSION };
    const response = await sendHttp(settings.fetch, { method: 'GET', url, headers }, watch.signal);
    const json = await readJson(response, { watch, bytesMax: CARD_BYTES_MAX });
    if (response.status >= 400) throw noCard(url, response, json);
    return readCard(json, url);
  } finally {
    watch.close();
  }
}

function noCard(url: string, { status, headers }: Response, body: unknown): A2AError {
  const error = errorOf({ status, body, retryAfter: headers.get('retry-after') });
  if (status !== 404 && status !== 405) return error;
  return badAnswer(`There is no agent card at ${url} (HTTP status ${status}).`, error); // TASK_NOT_FOUND would be a strange thing to say
}

/** Reads a card as leniently as it can be read: some servers write null for empty lists. */
export function readCard(json: unknown, from: string): AgentCard {
  if (!isPlainObject(json)) throw badAnswer(`What is at ${from} is not an agent card.`);
  return readAnswer('AgentCard', json);
}

/**
 * The interface to use: the first in the card's order that is spoken here, in this version (CARD-11 to CARD-13), or the first of the preferred
 * binding. It is kept whole, with its tenant (case 91). There is no quiet fall-back to an older version (VER-11), and none from TLS to clear text.
 */
export function chooseInterface(card: AgentCard, from: string | undefined, prefer: Binding | undefined): ChosenInterface {
  const usable = card.supportedInterfaces.flatMap((face) => usableForm(face, from) ?? []);
  const chosen = usable.find((face) => face.protocolBinding === prefer) ?? usable[0];
  if (chosen) return chosen;
  const offered =
    card.supportedInterfaces.map((face) => `${face.protocolBinding} ${face.protocolVersion} at ${face.url}`).join(', ') || 'nothing';
  const spoken = `Spoken here: JSONRPC and HTTP+JSON ${PROTOCOL_VERSION}, at http or https URLs; from a card that came by https, https alone.`;
  const speaksOurVersion = card.supportedInterfaces.some((face) => isOurVersion(face.protocolVersion));
  const message = `"${card.name}" offers ${offered}. ${spoken}`;
  throw speaksOurVersion ? unsupportedOperation(message) : new A2AError('VERSION_NOT_SUPPORTED', message);
}

function usableForm(face: AgentInterface, from: string | undefined): ChosenInterface | undefined {
  const { url, protocolBinding, protocolVersion } = face;
  if (!isBinding(protocolBinding) || !isOurVersion(protocolVersion) || !URL.canParse(url, from)) return undefined;
  const resolved = new URL(url, from);
  if (hasPassword(resolved)) return undefined; // no platform sends those
  const { protocol, href } = resolved;
  const absolute = URL.canParse(url) ? url : href; // as the card spells it, if it can be used so
  const isSecretEnough = protocol === 'https:' || (protocol === 'http:' && !from?.startsWith('https:'));
  return isSecretEnough ? { ...face, protocolBinding, url: absolute } : undefined;
}

function hasPassword({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

/** Major.Minor decides, a third number plays no part (VER-03). */
function isOurVersion(version: string): boolean {
  return /^\d+\.\d+/.exec(version)?.[0] === PROTOCOL_VERSION;
}
