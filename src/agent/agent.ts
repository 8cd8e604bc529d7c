import type { Mountable } from '../bindings/exchange.ts';
import { createFetch } from '../bindings/fetch.ts';
import { interfacesAt, withoutEndSlash } from '../bindings/paths.ts';
import { createRouter } from '../bindings/router.ts';
import { assert } from '../ground/assert.ts';
import { systemClock } from '../ground/clock.ts';
import { systemRandom } from '../ground/random.ts';
import type { StoreParts } from '../log/store.ts';
import { TaskLog } from '../log/task-log.ts';
import { createOperations } from '../operations/operations.ts';
import { completeCard } from '../protocol/card.ts';
import type { CardDraft } from '../protocol/card.ts';
import { idProblem } from '../protocol/ids.ts';
import type { AgentCapabilities, AgentCard, Task } from '../protocol/types.ts';
import { turnSettings } from '../turn/options.ts';
import { TurnRunner } from '../turn/runner.ts';
import { jsonLogger } from './json-logger.ts';
import { Lifetime } from './lifetime.ts';
import type { AgentOptions } from './options.ts';
import { openStore } from './open-store.ts';

/**
 * One replica of an agent, made by `createAgent`. Hand it to `serve` of `chorus-a2a/node`, to `connect` of `chorus-a2a/client` for tests in
 * one process, or use `fetch` wherever requests and responses are the web's own.
 */
export interface Agent extends Mountable {
  /** The completed card. Its interfaces are those of `publicUrl`; without one, each mount tells the address it was reached by. */
  readonly card: AgentCard;
  /** What it was made of: `createAgent({ ...agent.options, store })` is the same agent on another store. */
  readonly options: AgentOptions;
  /** Id of this replica: random per start, another one after it was taken for dead. */
  readonly replica: string;
  /** Started and not closing; `isReady` wants contact with the store as well. */
  readonly isAlive: boolean;
  /** Answers a request of the web's own kind: Hono, Bun, Deno, Workers, Next. The first one starts the agent. */
  fetch(request: Request): Promise<Response>;
  /** Goes on with a task that waits on AUTH_REQUIRED, without a message of its user: what an OAuth callback calls, on any replica. */
  resume(taskId: string): Promise<Task>;
}

/** What is offered here; a card may declare less, never more. */
const OFFERED: AgentCapabilities = { streaming: true, pushNotifications: false, extendedAgentCard: false };

/**
 * Makes an agent of a card and a function. It runs nothing and connects to nothing before `start`, `serve` or the first request.
 *
 * @example
 * ```ts
 * import { createAgent } from 'chorus-a2a';
 * import { serve } from 'chorus-a2a/node';
 *
 * const greeter = createAgent({
 *   card: { name: 'Greeter', description: 'Greets people by name.', version: '1.0.0' },
 *   async run(turn) {
 *     if (!turn.text) return turn.ask('Who should I greet?');
 *     await turn.working('Choosing warm words…');
 *     return `Hello, ${turn.text}!`;
 *   },
 * });
 * await serve(greeter, { port: 4000 });
 * ```
 */
export function createAgent(options: AgentOptions): Agent {
  const { card: draft, run, reply, store, wake, identify, publicUrl, blockingMs, streamUntil, limits, ...others } = options;
  const { clock = systemClock, random = systemRandom, logger = jsonLogger(clock), name: givenName, ...turnOptions } = others;
  const cardAt = cardsOf(draft, publicUrl);
  const card = cardAt();
  const name = checkedName(givenName ?? card.name);
  const settings = turnSettings(turnOptions);
  assert(blockingMs === undefined || blockingMs >= 1, `option blockingMs: a number of at least 1 was expected, ${blockingMs} came`);
  const parts: StoreParts = { clock, random, logger };
  const opened = openStore({ store, wake }, parts);
  const log = new TaskLog({ store: opened.store, wake: opened.wake, logger });
  const turns = new TurnRunner({ ...parts, agent: name, run, log, settings });
  const operations = createOperations({
    ...parts,
    agent: name,
    capabilities: card.capabilities,
    log,
    turns,
    settings,
    ready: () => lifetime.ready(),
    ...(blockingMs === undefined ? {} : { blockingMs }),
    ...(streamUntil === undefined ? {} : { streamUntil }),
    ...(reply === undefined ? {} : { reply }),
  });
  const lifetime: Lifetime = new Lifetime({ log, turns, operations, clock, drainMs: settings.drainMs, announce: opened.announce });
  const handle = createRouter({
    ...parts,
    operations,
    card: cardAt,
    ...(identify === undefined ? {} : { identify }),
    ...(limits === undefined ? {} : { limits }),
  });
  return {
    card,
    options,
    clock,
    logger,
    drainMs: settings.drainMs,
    get replica() {
      return turns.replica;
    },
    get isAlive() {
      return lifetime.isAlive;
    },
    get isReady() {
      return lifetime.isReady;
    },
    handle,
    fetch: createFetch(handle, publicUrl === undefined ? {} : { publicUrl }),
    start: () => lifetime.start(),
    close: () => lifetime.close(),
    resume: (taskId) => operations.resumeTask(taskId),
  };
}

/** Replicas find each other's tasks by it, so it is held to the rule of all keys (case 95). */
function checkedName(name: string): string {
  const problem = idProblem(name);
  if (problem !== undefined) throw new TypeError(`option name: the agent's name ${problem}`);
  return name;
}

/** An agent is reached by few names; a caller who makes them up must not fill the memory. */
export const CARDS_MAX = 64;

/** The card for whoever reached the agent at `base`; the same object for the same base. */
function cardsOf(draft: CardDraft, publicUrl: string | undefined): (base?: string) => AgentCard {
  const made = new Map<string, AgentCard>();
  const publicBase = publicUrl === undefined ? undefined : withoutEndSlash(publicUrl);
  return (reachedAt = '') => {
    const base = publicBase ?? reachedAt;
    const known = made.get(base);
    if (known !== undefined) return known;
    const interfaces = base === '' ? [] : interfacesAt(base);
    const card = completeCard(draft, { interfaces, capabilities: OFFERED });
    if (made.size >= CARDS_MAX) made.clear();
    made.set(base, card);
    return card;
  };
}
