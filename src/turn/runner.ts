import type { Signal } from '../ground/signal.ts';
import type { Clock } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { Service } from '../ground/service.ts';
import type { TaskRow, TickResult } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';
import { Claims } from './claims.ts';
import type { TurnSettings } from './options.ts';
import { Pulse } from './pulse.ts';
import { RunningTurns } from './running-turns.ts';
import type { Run } from './turn.ts';
import { Upkeep } from './upkeep.ts';

/** How long settling and leaving may take: a store that does not answer must not keep a process alive (drainMs + 2 s). */
const SETTLE_MS_MAX = 2_500;

/** What a runner is made of. */
export interface TurnRunnerParts {
  readonly log: TaskLog;
  /** Name of the agent: only its turns are claimed. */
  readonly agent: string;
  readonly run: Run;
  readonly settings: TurnSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Runs turns on this replica: joins the others, starts what is granted, claims what waits, settles what is lost, and leaves in order. Whether
 * a turn is this replica's is the store's to say, each time; what stands here is only what it said last.
 */
export class TurnRunner implements Service {
  readonly #parts: TurnRunnerParts;
  readonly #pulse: Pulse;
  readonly #turns: RunningTurns;
  readonly #claims: Claims;
  readonly #upkeep: Upkeep;
  #queued = 0;
  #isDraining = false;
  #isStopped = false;
  #settled: Promise<void> | undefined;

  constructor(parts: TurnRunnerParts) {
    this.#parts = parts;
    const { log, agent, logger } = parts;
    this.#upkeep = new Upkeep(parts);
    this.#turns = new RunningTurns({ ...parts, look: () => this.#pulse.look, onRoom: () => this.#claims.claim() });
    this.#claims = new Claims({
      log,
      agent,
      logger,
      replica: () => this.#pulse.replica,
      room: () => this.#room(),
      onClaimed: (row) => this.offer(row),
    });
    this.#pulse = new Pulse({
      ...parts,
      isRunning: () => this.#turns.isRunning,
      onSend: () => this.#onSend(),
      onDeath: () => this.#turns.loseAll('dead'),
      onSilence: () => this.#onSilence(),
      onSweepable: () => this.#upkeep.sweep(),
    });
  }

  /** Joins under a random id and starts to tick. */
  async start(): Promise<void> {
    if (this.#isStopped) return;
    this.#parts.log.listen({
      onQueued: () => this.#claims.hint(),
      onMoved: (taskId) => this.#onMoved(taskId),
      onGrew: () => {}, // an open inbox follows the log like everybody else
      onAny: () => this.#onAny(),
    });
    await this.#pulse.start();
    this.#upkeep.start();
  }

  /** Settles what runs, leaves, and resolves when nothing of the engine moves any more. Code that ignores its signal cannot be stopped. */
  async stop(): Promise<void> {
    this.beginDrain();
    await this.settle();
  }

  /** Takes on nothing new; what runs goes on. */
  beginDrain(): void {
    this.#isDraining = true;
  }

  /** Resolves when no turn runs here, or the signal fires. */
  drained(signal: Signal): Promise<void> {
    return this.#turns.whenEmpty(signal);
  }

  /**
   * Gives the remaining turns away by `onLost`, as a sweep would; their signals fire behind the commit. Then this incarnation marks itself
   * dead, so that nobody waits a lease for what could not be given away in time.
   */
  settle(): Promise<void> {
    this.#isDraining = true;
    this.#settled ??= this.#settle();
    return this.#settled;
  }

  /** Id of the present incarnation: random per start, another one after this process was taken for dead. */
  get replica(): string {
    return this.#pulse.replica;
  }

  /** This replica may take a turn that a message opens: it has room, is in contact, and knows of no queued turn that would be overtaken. */
  get canStart(): boolean {
    return this.#room() > 0 && !this.#claims.isQueueKnown;
  }

  /** Queued turns of all replicas, as of the last look. */
  get queued(): number {
    return this.#queued;
  }

  /** Fit to serve: joined, the last look not older than a lease, not draining. */
  get isReady(): boolean {
    return this.#pulse.isLive && !this.#isDraining;
  }

  /**
   * As `canStart`, and keeps the slot until the returned reservation is disposed of: dispose when the verb has answered and its row was
   * offered. Many messages at once then never take more slots than there are.
   */
  reserve(): Disposable | undefined {
    return this.canStart ? this.#turns.reserve() : undefined;
  }

  /** Starts the grant that a row shows, if it names this incarnation, is open and was never started here. */
  offer(row: TaskRow): void {
    if (!this.#isStopped) this.#turns.offer(row, this.#pulse.replica);
  }

  #room(): number {
    if (this.#isDraining || !this.#pulse.isInContact || this.#turns.isOverrun) return 0;
    return Math.max(0, this.#turns.room - this.#claims.asked);
  }

  /** What was running and hinted before a look is sent is what its answer can be held against. */
  #onSend(): (result: TickResult) => void {
    const asked = this.#turns.held();
    const { hints } = this.#claims;
    const { look } = this.#pulse;
    return (result) => {
      this.#queued = result.queued;
      for (const row of this.#turns.reconcile(result, asked, look)) this.#start(row);
      this.#claims.count(result.queued, hints);
    };
  }

  /** A grant whose answer was lost. While draining, a turn that may run elsewhere is better off there; another one has the drain to run in. */
  #start(row: TaskRow): void {
    if (this.#isDraining && (this.#settled || row.limits.onLost === 'retry')) this.#turns.giveBack(row, 'drain');
    else this.offer(row);
  }

  /** Others may have taken us for dead by now, and a retry may run already: what must not run twice at once stops (P4). */
  #onSilence(): void {
    this.#turns.loseAll('silence', (turn) => turn.onLost === 'retry');
  }

  /** What the row of that one turn does not tell, because it cannot be read now or too many moved at once, the next look does. */
  #onMoved(taskId: string): void {
    if (!this.#turns.holds(taskId)) return;
    const hurry = (): void => this.#pulse.hurry();
    this.#turns.recheck(taskId).then((isDone) => isDone || hurry(), hurry);
  }

  #onAny(): void {
    this.#pulse.hurry();
    this.#claims.hint();
  }

  async #settle(): Promise<void> {
    const { clock, logger } = this.#parts;
    const late = new AbortController();
    const timer = clock.after(SETTLE_MS_MAX, () => late.abort());
    const inTime = (work: Promise<unknown>): Promise<unknown> => Promise.race([work, sleep(clock, SETTLE_MS_MAX, late.signal)]);
    const complain = (error: unknown): void =>
      logger.warn('replica: could not leave in order', { replica: this.replica, error: String(error) });
    await inTime(Promise.all(this.#turns.held().map((turn) => turn.release('drain', late.signal).catch(complain))));
    this.#isStopped = true;
    this.#turns.loseAll('drain');
    await inTime(this.#pulse.leave().catch(complain));
    await inTime(Promise.all([this.#pulse.stop(), this.#upkeep.stop()]));
    timer.cancel();
    late.abort(); // lets go of the waits that were won
  }
}
