import type { AgentCard } from '../protocol/types.ts';
import { Calls } from './calls.ts';
import { cardUrl, chooseInterface, fetchCard, readCard } from './card.ts';
import type { Client } from './client.ts';
import { RemoteAgent } from './client.ts';
import type { Fetch } from './http.ts';
import type { ClientSettings, ConnectOptions } from './options.ts';
import { clientSettings } from './options.ts';

/** An agent in the same process: whatever has its `fetch`. */
export interface LocalAgent {
  readonly fetch: Fetch;
}

/** Where the card of an agent in this process is asked for; nothing is ever sent there. */
const LOCAL_BASE = 'http://agent.invalid';

/**
 * Connects to an agent: by the URL of the agent or of its card, by its card, or to an agent object in this process, without a socket. Fetches
 * the card, unless it was given, and takes the first of its interfaces that is spoken here.
 *
 * @example
 * ```ts
 * import { answerText, connect } from 'chorus-a2a/client';
 *
 * const client = await connect('http://127.0.0.1:4000');
 * console.log(answerText(await client.send('Ada')));
 *
 * const poem = client.stream('a poem about the sea');
 * for await (const item of poem) if ('artifactUpdate' in item) console.log(item.artifactUpdate.artifact.parts);
 * console.log(poem.state, poem.task);
 *
 * const report = await client.start('a long report');
 * console.log(await report.wait({ timeoutMs: 60_000 }));
 * ```
 */
export async function connect(target: string | URL | AgentCard | LocalAgent, options: ConnectOptions = {}): Promise<Client> {
  const settings = clientSettings(options);
  if (typeof target === 'string' || target instanceof URL) {
    const url = cardUrl(target);
    return clientOf(await fetchCard(url, settings, options.signal), url, settings);
  }
  if (!('fetch' in target)) return clientOf(readCard(target, 'the given object'), undefined, settings);
  const local = { ...settings, fetch: (request: Request) => target.fetch(request) };
  const url = cardUrl(LOCAL_BASE);
  return clientOf(await fetchCard(url, local, options.signal), url, local);
}

function clientOf(card: AgentCard, from: string | undefined, settings: ClientSettings): Client {
  return new RemoteAgent(card, new Calls(chooseInterface(card, from, settings.prefer), settings));
}
