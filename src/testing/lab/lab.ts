import { setMaxListeners } from 'node:events';
import type { Client } from '../../client/client.ts';
import { connect } from '../../client/connect.ts';
import type { AgentCard, Task } from '../../protocol/types.ts';
import type { TurnSettings } from '../../turn/options.ts';
import { turnSettings } from '../../turn/options.ts';
import { History } from '../facts.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { byHeader, optionsOf, timesOf } from './agent-options.ts';
import { Chance } from './chance.ts';
import type { FaultRates } from './fault-rates.ts';
import { calm, drawRates, peace } from './fault-rates.ts';
import { Hub } from './hub.ts';
import { Ledger } from './ledger.ts';
import { Load, MISTAKEN } from './load.ts';
import { Medium } from './medium.ts';
import { Network } from './network.ts';
import { watchReaders } from './prompt.ts';
import { Reached } from './reached.ts';
import { LabReplica } from './replica.ts';
import { Storm } from './storm.ts';
import { Trace } from './trace.ts';
import type { Lab, LabOptions, RunOptions } from './options.ts';
import type { LabVerdict } from './verdict.ts';
import { judge } from './verdict.ts';
import type { LabViolation } from './violation.ts';
import { Watch } from './watch.ts';

/**
 * Opens a lab: several replicas of your agent over one store, in one process, on a clock that moves only when told. Every call to the store,
 * every hint, every request and every stream can fail by the seed; a run that found something is run again by its seed.
 *
 * @example
 * ```ts
 * import type { AgentOptions } from 'chorus-a2a';
 * import { openLab } from 'chorus-a2a/testing';
 *
 * const poet: AgentOptions = {
 *   card: { name: 'Poet', description: 'Writes poems.', version: '1.0.0' },
 *   onLost: 'retry',
 *   leaseMs: 2_000, // short runs
 *   run: (turn) => turn.stream(['The sea ', 'is ', 'wide.']),
 * };
 * for (let seed = 1; seed <= 20; seed++) {
 *   await using lab = await openLab({ agent: poet, seed });
 *   const { violations, trace } = await lab.run();
 *   if (violations.length > 0) throw new Error([...trace, `seed ${seed}`, JSON.stringify(violations)].join('\n'));
 * }
 * ```
 */
export async function openLab(options: LabOptions): Promise<Lab> {
  const lab = new SeededLab(options);
  await lab.open();
  return lab;
}

const CALLERS = ['ada', 'bob'] as const;
const PLACES = 'abcdefghijklmnopqrstuvwxyz';
/** How long everything must have been in order before anybody is held to be quick. */
const QUIET_MS = 1_000;
/** Requests that were on their way when everybody went home have arrived. */
const LAST_WORDS_MS = 500;
/** Beyond some leases: turns that run again after others were lost. */
const REST_MS = 15_000;
const DURING_MS_MAX = 120_000;

class SeededLab implements Lab {
  readonly seed: number;
  readonly clock = new VirtualClock();
  readonly history = new History();
  readonly reached = new Reached();
  readonly replicas: LabReplica[] = [];
  readonly clients: Client[] = [];
  readonly #options: LabOptions;
  readonly #settings: TurnSettings;
  readonly #ownsIdentity: boolean;
  readonly #chance: Chance;
  readonly #trace = new Trace(this.clock);
  readonly #ledger: Ledger;
  readonly #watch: Watch;
  readonly #medium: Medium;
  readonly #hub: Hub;
  readonly #network: Network;
  readonly #load: Load;
  readonly #storm: Storm;
  readonly #late: readonly LabViolation[];
  readonly #found: LabViolation[] = [];
  readonly #home = new AbortController();
  readonly #generations: number[] = [];
  readonly #isProven: boolean;
  /** How it is while nothing goes wrong. */
  #usual: FaultRates = calm;
  #rates: FaultRates = calm;
  #calmSince = 0;
  #isFinal = false;
  #card: AgentCard | undefined;
  #all: LabReplica[] = [];

  constructor(options: LabOptions) {
    this.#options = options;
    this.seed = options.seed;
    this.#chance = new Chance(options.seed);
    setMaxListeners(0, this.#home.signal);
    const chance = this.#chance.fork('lab');
    const made = optionsOf(options.agent, { replica: 'none', clock: this.clock, random: this.#chance.fork('none') });
    this.#settings = turnSettings(timesOf(made));
    this.#ownsIdentity = made.identify !== undefined;
    this.#isProven = chance.happens(0.6);
    const { clock, reached } = this;
    const trace = this.#trace;
    this.#ledger = new Ledger({ clock, reached, trace });
    this.#watch = new Watch({ clock, ledger: this.#ledger, leaseMs: this.#settings.leaseMs, tickMs: this.#settings.tickMs });
    this.#medium = new Medium(options.store, { clock, chance: this.#chance.fork('medium') });
    const rates = (): FaultRates => this.#rates;
    this.#hub = new Hub({
      clock,
      chance: this.#chance.fork('hub'),
      rates,
      isProven: this.#isProven,
      onFault: (_receiver, how) => {
        reached.count(how);
        this.#calmSince = Math.max(this.#calmSince, clock.monotonic());
      },
    });
    this.#network = new Network({
      clock,
      chance: this.#chance.fork('network'),
      rates,
      history: this.history,
      trace,
      reached,
      choose: (place) => this.#choose(place),
      isFinal: () => this.#isFinal,
      onError: ({ asked, observer }, error) => {
        if (!observer.endsWith(MISTAKEN)) this.#onError(asked.operation, error.code, error.metadata['taskId']);
      },
    });
    this.#load = new Load({
      clock,
      trace,
      reached,
      client: (observer, caller, place) => this.#connect(observer, caller, place),
      text: options.messages ?? ((random) => random.pick(['hello', 'go on', 'and then?']) ?? 'hello'),
      callers: this.#ownsIdentity ? CALLERS.slice(0, 1) : CALLERS,
      places: this.#places,
      resume: (taskId, place) => this.#resume(taskId, place),
      onStranger: (observer, taskId, what) =>
        this.#found.push({ promise: 'P10', taskId, says: `${observer} asked for a stranger's task: ${what}` }),
      onMistake: (observer, came) =>
        this.#found.push({ promise: 'P9', says: `${observer} used a key for two messages, and was told ${came}` }),
      signal: this.#home.signal,
    });
    this.#storm = new Storm({
      chance: this.#chance.fork('storm'),
      clock,
      hub: this.#hub,
      reached,
      trace,
      leaseMs: this.#settings.leaseMs,
      history: this.history,
      replicas: this.replicas,
      taskIds: () => [...this.#ledger.rows.keys()],
      holders: () => this.#watch.holders(),
      restart: (place) => this.restart(place),
    });
    this.#late = watchReaders({
      clock,
      ledger: this.#ledger,
      network: this.#network,
      mayTakeMs: this.#isProven ? PROMPT_MS : this.#settings.pollMs + PROMPT_MS,
      isQuiet: () => this.#isQuiet(),
    });
  }

  get trace(): readonly string[] {
    return this.#trace.text();
  }

  get #places(): number {
    return this.#options.replicas ?? 3;
  }

  async open(): Promise<void> {
    for (let place = 0; place < this.#places; place++) await this.restart(place);
    const first = await this.during(
      connect({ fetch: this.#network.fetchFor('lab', 0) }, { clock: this.clock, random: this.#chance.fork('card') }),
    );
    this.#card = first.card;
    for (let place = 0; place < this.#places; place++) this.clients.push(await this.client({ place }));
  }

  async client({ caller = CALLERS[0], place }: { readonly caller?: string; readonly place?: number } = {}): Promise<Client> {
    return this.#connect(place === undefined ? caller : `${caller}@${PLACES[place]}`, caller, place);
  }

  advance(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }

  async during<T>(work: Promise<T>, msMax: number = DURING_MS_MAX): Promise<T> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    done.catch(() => {}); // told below
    await this.until(() => isDone, 'the work is done', msMax);
    return done;
  }

  async until(isSo: () => boolean, what: string, msMax: number = DURING_MS_MAX): Promise<void> {
    const end = this.clock.monotonic() + msMax;
    await this.clock.settle();
    while (!isSo()) {
      if (this.clock.monotonic() >= end) throw new Error(`seed ${this.seed}: waited ${msMax} ms of the lab's time until ${what}`);
      await this.clock.advance(STEP_MS);
    }
  }

  async settled(taskId: string, msMax?: number): Promise<Task> {
    await this.until(() => this.#ledger.row(taskId)?.phase === 'closed', `task ${taskId} is settled`, msMax);
    const client = await this.client();
    return this.during(client.task(taskId).get());
  }

  crash(place: number): void {
    this.replicas[place]?.crash();
  }

  async restart(place: number): Promise<void> {
    const before = this.replicas[place];
    if (before && !before.isGone) return;
    const generation = (this.#generations[place] ?? 0) + 1;
    this.#generations[place] = generation;
    const name = `${PLACES[place]}${generation}`;
    await this.clock.settle(); // what moves now has moved before a driver takes time of the machine's
    const replica = new LabReplica({
      name,
      agent: this.#options.agent,
      store: await this.#medium.open(name),
      identify: byHeader,
      hub: this.#hub,
      clock: this.clock,
      chance: this.#chance,
      rates: () => this.#rates,
      ledger: this.#ledger,
      watch: this.#watch,
      reached: this.reached,
      trace: this.#trace,
    });
    this.replicas[place] = replica;
    this.#all.push(replica);
    void replica.start();
    await this.clock.settle();
  }

  async run({ stormMs = 2 * this.#settings.leaseMs + 3_000, calmMs = 2_500, actors = 4 }: RunOptions = {}): Promise<LabVerdict> {
    this.#usual = peace;
    await this.#load.begin(actors, this.#chance.fork('load'));
    this.#rates = { ...drawRates(this.#chance.fork('rates')), ...this.#options.faults };
    await this.#storm.blow(stormMs, this.#rates);
    await this.#heal();
    await this.clock.advance(calmMs);
    this.#load.stop();
    return this.verdict();
  }

  async verdict(): Promise<LabVerdict> {
    await this.#heal();
    this.#load.stop();
    await this.#rest();
    this.#home.abort();
    await this.during(this.#load.done());
    // whoever went home may have said something last, and what ran late may have opened one more turn
    await this.until(() => !this.#all.some(({ link }) => link.hasLateCalls), 'late calls have run');
    await this.clock.advance(LAST_WORDS_MS);
    await this.#rest();
    this.#watch.finish();
    const read = await this.#readAll();
    const hasMoved = (taskId: string): boolean => this.#ledger.row(taskId)?.seq !== read.get(taskId);
    const { violations, counted } = await judge({
      store: await this.#medium.open('checker'),
      // a pause that expired meanwhile was not read at its last
      facts: this.history.facts.map((fact) => (fact.kind === 'read' && hasMoved(fact.taskId) ? { ...fact, isFinal: false } : fact)),
      taskIds: this.#ledger.rows.keys(),
      views: this.#load.views,
      leaseMs: this.#settings.leaseMs,
      checks: this.#options.checks ?? [],
    });
    const { seed, reached } = this;
    const all = [...violations, ...this.#ledger.violations, ...this.#watch.violations, ...this.#late, ...this.#found];
    return { seed, violations: all, counted, reached: reached.counts(), trace: this.trace };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#home.abort();
    for (const replica of this.#all) replica.crash();
    await this.clock.settle();
    await this.#medium.close();
  }

  /** Every replica is there, in order, and nothing goes wrong any more. */
  async #heal(): Promise<void> {
    this.#rates = this.#usual;
    this.#calmSince = Math.max(this.#calmSince, this.clock.monotonic());
    for (const replica of this.replicas) {
      replica.mend();
      replica.goOn();
    }
    await this.#storm.end();
    await this.until(() => this.replicas.every((replica) => !replica.isDraining || replica.isGone), 'whoever leaves has left');
    for (let place = 0; place < this.#places; place++) await this.restart(place);
  }

  /** Until every turn is over: what never comes to rest is what the checker finds. */
  async #rest(): Promise<void> {
    const isAtRest = (): boolean => [...this.#ledger.rows.values()].every(({ row }) => row.phase === 'closed');
    await this.until(isAtRest, 'every task has come to rest', 5 * this.#settings.leaseMs + REST_MS).catch(() =>
      this.#trace.note('lab', 'some task never comes to rest'),
    );
  }

  /** Each task as one more reader sees it now, at any replica; gives where each stood then. */
  async #readAll(): Promise<ReadonlyMap<string, number>> {
    this.#isFinal = true;
    const read = new Map<string, number>();
    const chance = this.#chance.fork('final');
    const clients = new Map<string, Client>();
    for (const { row } of this.#ledger.rows.values()) {
      const place = chance.below(this.#places);
      const name = `${row.owner}@${place}`;
      const client = clients.get(name) ?? (await this.#connect(`${row.owner || 'all'}@${PLACES[place]}`, row.owner, place));
      clients.set(name, client);
      read.set(row.id, row.seq);
      await this.during(client.task(row.id).get()).catch(() => undefined); // the tap has written down what came
    }
    return read;
  }

  async #connect(observer: string, caller: string, place?: number): Promise<Client> {
    const fetch = this.#network.fetchFor(observer, place);
    const chance = this.#chance.fork(`client ${observer} ${this.clock.monotonic()}`);
    const headers: Readonly<Record<string, string>> = caller === '' ? {} : { authorization: `Bearer ${caller}` };
    const prefer = chance.happens(0.5) ? 'JSONRPC' : 'HTTP+JSON';
    const times = { timeoutMs: 8_000, waitTimeoutMs: 8_000, silentMs: 3_000, idleTimeoutMs: 20_000 };
    return connect(this.#card ?? { fetch }, { fetch, headers, prefer, random: chance, clock: this.clock, ...times });
  }

  /** A balancer knows who is ready, but not at once. */
  #choose(place: number | undefined): LabReplica | undefined {
    if (place !== undefined) return this.replicas[place];
    const chance = this.#chance;
    const ready = this.replicas.filter(({ isGone, isDraining }) => !isGone && !isDraining);
    return chance.pick(ready.length === 0 || (this.#rates !== this.#usual && chance.happens(0.1)) ? this.replicas : ready);
  }

  async #resume(taskId: string, place: number): Promise<unknown> {
    const replica = this.replicas[place];
    if (!replica || replica.isGone) throw new Error('nobody is there');
    return replica.resume(taskId);
  }

  #isQuiet(): boolean {
    const since = this.clock.monotonic() - QUIET_MS;
    return this.#rates === this.#usual && this.#calmSince <= since && this.replicas.every((one) => one.isUp && one.disturbedAt <= since);
  }

  /** Errors that no fault of the network or of the store may turn into (P9: a repeat is a repeat, never a mistake of its sender's). */
  #onError(operation: string, code: string, taskId: string | undefined): void {
    if (code === 'INTERNAL' && taskId !== undefined) return; // the agent's own code threw
    if (!strangeCodes.has(code)) return;
    this.#found.push({ promise: 'P9', says: `${operation} was answered with ${code}` });
  }
}

const PROMPT_MS = 250;
const STEP_MS = 50;
const strangeCodes: ReadonlySet<string> = new Set([
  'INTERNAL',
  'INVALID_PARAMS',
  'INVALID_REQUEST',
  'PARSE_ERROR',
  'METHOD_NOT_FOUND',
  'INVALID_AGENT_RESPONSE',
]);
