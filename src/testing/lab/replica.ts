import type { Agent } from '../../agent/agent.ts';
import { createAgent } from '../../agent/agent.ts';
import type { Exchange, Identify, Reply } from '../../bindings/exchange.ts';
import type { Clock } from '../../ground/clock.ts';
import type { LogFields, Logger } from '../../ground/logger.ts';
import type { Store } from '../../log/store.ts';
import type { LabAgent } from './agent-options.ts';
import { optionsOf } from './agent-options.ts';
import type { Chance } from './chance.ts';
import type { Connection } from './connection.ts';
import type { FaultRates } from './fault-rates.ts';
import { Gate } from './gate.ts';
import type { Hub } from './hub.ts';
import type { Ledger } from './ledger.ts';
import type { AnswerOf, AskOf, LinkMode, LinkWatcher, Verb } from './link.ts';
import { Link } from './link.ts';
import type { Reached } from './reached.ts';
import { ReplicaClock } from './replica-clock.ts';
import { Timeline } from './timeline.ts';
import type { Trace } from './trace.ts';
import type { Watch } from './watch.ts';

/** What a replica shares with its lab. */
export interface ReplicaParts {
  readonly name: string;
  readonly agent: LabAgent;
  readonly store: Store;
  readonly identify: Identify;
  readonly hub: Hub;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly rates: () => FaultRates;
  readonly ledger: Ledger;
  readonly watch: Watch;
  readonly reached: Reached;
  readonly trace: Trace;
}

/** Calls on which the count of silence rests. */
const pulseVerbs: readonly Verb[] = ['tick', 'sweep', 'join'];

/** One replica: the agent, on a clock, a link and a wake that can fail. */
export class LabReplica {
  readonly name: string;
  readonly agent: Agent;
  readonly gate: Gate;
  readonly clock: ReplicaClock;
  readonly link: Link;
  /** When its pulse was in order. */
  readonly pulse: Timeline = new Timeline();
  readonly connections: Set<Connection> = new Set();
  /** When anything last went wrong for it, hints included. */
  disturbedAt = 0;
  readonly #parts: ReplicaParts;
  #closing: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
    this.name = parts.name;
    const { clock, chance, rates, trace, name, hub, watch } = parts;
    this.gate = new Gate(clock);
    this.clock = new ReplicaClock(clock, this.gate);
    this.link = new Link({ clock, gate: this.gate, chance: chance.fork(`${name} link`), rates, trace, name, watcher: this.#watcher() });
    watch.enter(name, this.pulse);
    const wake = hub.open(name, this.gate, (hints) => watch.notified(name, hints));
    const random = chance.fork(`${name} agent`);
    const { wake: _, publicUrl: __, ...options } = optionsOf(parts.agent, { replica: name, clock: this.clock, random });
    this.agent = createAgent({
      identify: parts.identify,
      ...options,
      store: { name: 'lab', reach: 'process', open: () => ({ store: this.link.over(parts.store), wake }) },
      clock: this.clock,
      random: chance.fork(`${name} replica`),
      logger: this.#logger(),
      run: (turn) => watch.run(name, turn, () => options.run(turn)),
    });
  }

  /** Crashed, or shut down: nobody answers there any more. */
  get isGone(): boolean {
    return this.gate.isDead || this.#isClosed;
  }

  get isPaused(): boolean {
    return this.gate.isPaused;
  }

  get isDraining(): boolean {
    return this.#closing !== undefined;
  }

  /** In order, as far as the lab has not said otherwise. */
  get isUp(): boolean {
    return !this.isGone && !this.isPaused && !this.isDraining && this.link.mode === 'up';
  }

  /** Starts the agent; a start that fails for the faults is tried again by the first request. */
  async start(): Promise<void> {
    this.pulse.good(true, this.#now());
    await this.agent.start().catch((error: unknown) => this.#note(`start failed: ${String(error)}`));
  }

  /** Answers a request, unless it is paused or gone. */
  handle(exchange: Exchange): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.gate.pass(() => void this.gate.through(this.agent.handle(exchange)).then(resolve, reject));
    });
  }

  /** From now on nothing of it runs; what it had sent to the store may still arrive. */
  crash(): void {
    if (this.isGone) return;
    this.#note('crash');
    this.gate.kill();
    this.#parts.hub.drop(this.gate);
    this.pulse.goDown('crashed', this.#now());
    for (const connection of this.connections) connection.cut();
  }

  /** Everything of it stands still. */
  pause(): void {
    if (this.isGone || this.isPaused) return;
    this.#note('pause');
    this.gate.pause();
    this.#judge();
  }

  goOn(): void {
    if (!this.isPaused) return;
    this.#note('goes on');
    this.gate.goOn();
    this.#judge();
  }

  /** Cuts it off from the store. */
  unlink(mode: Exclude<LinkMode, 'up'>): void {
    if (this.isGone) return;
    this.#note(`link: ${mode}`);
    this.link.break(mode);
    this.#judge();
  }

  mend(): void {
    if (this.isGone || this.link.mode === 'up') return;
    this.#note('link: up');
    this.link.mend();
    this.#judge();
  }

  /** Shuts it down in order. Resolves when it is gone. */
  drain(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  /** Calls the code that an OAuth callback would call. */
  resume(taskId: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.gate.pass(() => void this.gate.through(this.agent.resume(taskId)).then(resolve, reject));
    });
  }

  async #drain(): Promise<void> {
    this.#note('drain');
    this.pulse.good(false, this.#now());
    await this.gate.through(this.agent.close()).catch((error: unknown) => this.#note(`drain: ${String(error)}`));
    this.#isClosed = true;
    this.#note('drained');
    this.#parts.reached.count('drain');
    this.#parts.hub.drop(this.gate);
    this.pulse.goDown('left', this.#now());
    this.gate.kill(); // the process ends
    for (const connection of this.connections) connection.cut();
  }

  #judge(): void {
    if (this.isPaused) this.pulse.goDown('paused', this.#now());
    else if (this.link.mode !== 'up') this.pulse.goDown(`link ${this.link.mode}`, this.#now());
    else this.pulse.comeBack(this.#now());
    if (this.isDraining) this.pulse.good(false, this.#now());
    this.disturbedAt = this.#now();
  }

  #watcher(): LinkWatcher {
    const { ledger, watch, reached, name } = this.#parts;
    return {
      ran: (verb, ask, answer) => {
        if (verb === 'join' && 'replica' in ask) watch.joined(name, ask.replica);
        if (verb === 'tick' && 'own' in ask && ask.own === 'renew') this.pulse.seem(this.#now());
        // true: the name of the verb says what its ask and its answer are
        if (verb === 'accept') watch.accepted(ask as AskOf<'accept'>, answer as AnswerOf<'accept'>);
        ledger.ran(name, verb, ask, answer);
      },
      heard: (_verb, answer) => watch.heard(name, answer),
      disturbed: (verb, how) => {
        if (how !== 'down') reached.count(how);
        this.disturbedAt = this.#now();
        // a count of silence that met a failed look, or a new life, starts anew
        if (pulseVerbs.includes(verb)) this.pulse.disturb(this.#now());
      },
    };
  }

  #logger(): Logger {
    const say =
      (level: string) =>
      (event: string, fields: LogFields = {}): void => {
        const { stack: _, ...rest } = fields; // where it came from is the program's, and changes with it
        const told = JSON.stringify(rest);
        if (event === 'replica: taken for dead, joins again under a new id') this.#onDeath();
        this.#note(`${level}: ${event} ${told}`);
        if (told.includes('AssertionError')) this.#parts.watch.broken(this.name, event);
      };
    return { debug() {}, info: say('info'), warn: say('warn'), error: say('error') };
  }

  /** Under its new id it counts the silence of others from the beginning. */
  #onDeath(): void {
    this.#parts.reached.count('dead');
    this.pulse.disturb(this.#now());
  }

  #now(): number {
    return this.#parts.clock.monotonic();
  }

  #note(what: string): void {
    this.#parts.trace.note(this.name, what);
  }
}
