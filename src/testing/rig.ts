import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert } from '../ground/assert.ts';
import { systemClock } from '../ground/clock.ts';
import { isA2AError } from '../protocol/errors.ts';
import { Front } from './front.ts';
import { LagRecord } from './lag.ts';
import { Probe } from './probe.ts';
import { ReplicaProcess } from './replica-process.ts';
import type { LogLine, ProcessEnd } from './replica-process.ts';

/** What a rig is made of. */
export interface RigOptions {
  /** How many replicas to start. 3. */
  readonly replicas?: number;
  /** `scripted` or the file of an agent. `scripted`. */
  readonly agent?: string;
  /** More arguments of `npm start`, for all replicas or by number. */
  readonly flags?: readonly string[] | ((index: number) => readonly string[]);
  /** Where the tasks are: `memory`, a file, a database's URL. A SQLite file in the rig's own folder. */
  readonly store?: string;
  /** Hears every log line of every replica. */
  readonly onLine?: (replica: string, line: LogLine) => void;
}

/** One line of the effects file (the scripted agent writes it). */
export interface EffectLine {
  readonly at: number;
  readonly pid: number;
  readonly task: string;
  readonly turn: string;
  readonly attempt: number;
  readonly what: 'start' | 'tick' | 'abort' | 'end' | 'refused';
}

/** How a tick that came late is told by a replica's logger. */
const LATE_TICK_EVENT = 'replica: late tick';

/**
 * Several replicas of one agent, each an operating-system process, on one store, behind a round-robin front. Use it with `await using`: it
 * ends the processes and removes its folder.
 *
 * @example
 * ```ts
 * import { Probe, Rig } from 'chorus-a2a/testing';
 *
 * await using rig = await Rig.open({ agent: 'agent.ts', replicas: 3 });
 * const probe = new Probe({ url: rig.front.url });
 * const { id } = await probe.sendForTask('a long report', { returnImmediately: true });
 * await rig.kill(0);
 * for await (const { seq, item } of probe.subscribe(id)) console.log(seq, item);
 * ```
 */
export class Rig implements AsyncDisposable {
  readonly front: Front = new Front();
  /** What the machine had no time for: settle times are judged by it. */
  readonly lag: LagRecord = new LagRecord(systemClock);
  readonly folder: string;
  readonly #options: RigOptions;
  readonly #replicas: ReplicaProcess[] = [];
  /** Names of replicas that were stopped on purpose: their next tick is late and says nothing of the machine. */
  readonly #pardoned = new Set<string>();

  #isOver = false;

  private constructor(folder: string, options: RigOptions) {
    this.folder = folder;
    this.#options = options;
  }

  /** Starts the front and the replicas; all are ready when it resolves. */
  static async open(options: RigOptions = {}): Promise<Rig> {
    const rig = new Rig(await mkdtemp(join(tmpdir(), 'chorus-rig-')), options);
    try {
      await rig.front.open();
      const count = options.replicas ?? 3;
      const started = await Promise.allSettled(Array.from({ length: count }, (_, index) => rig.#start(index)));
      // those that did start are kept first: the rig ends them whatever becomes of the others
      rig.#replicas.push(...started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
      for (const one of started) if (one.status === 'rejected') throw one.reason;
      rig.#route();
      return rig;
    } catch (error) {
      await rig[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The store that all replicas share. */
  get store(): string {
    return this.#options.store ?? join(this.folder, 'tasks.db');
  }

  /** What the runs of the scripted agent do outside the log, a line of JSON for each happening. */
  get effectsFile(): string {
    return join(this.folder, 'effects.jsonl');
  }

  /** The replicas, in the order of their names A, B, C … */
  get replicas(): readonly ReplicaProcess[] {
    return this.#replicas;
  }

  replica(index: number): ReplicaProcess {
    const replica = this.#replicas[index];
    assert(replica, `rig: a replica below ${this.#replicas.length} was expected, ${index} came`);
    return replica;
  }

  /** The replicas that would answer now. */
  get living(): readonly ReplicaProcess[] {
    return this.#replicas.filter((replica) => replica.isAlive && !replica.isStopped);
  }

  /** Begins to record lost time: late beats of this process, late ticks of replicas, and how long the fastest replica takes for a small write. */
  recordLag(): void {
    this.lag.start(() => Promise.any(this.living.map(smallWrite)));
  }

  /** kill -9: no goodbye. Resolves when the process is gone, with the moment it was killed (epoch milliseconds). */
  async kill(index: number): Promise<number> {
    const at = systemClock.wall();
    this.replica(index).signal('SIGKILL');
    await this.replica(index).ended();
    this.#route();
    return at;
  }

  /** SIGSTOP: the process stands still, as under a paused machine. The front passes it by, as a health check would have it. */
  pause(index: number): void {
    this.#pardoned.add(this.replica(index).name);
    this.replica(index).signal('SIGSTOP');
    this.#route();
  }

  /** SIGCONT. */
  resume(index: number): void {
    this.replica(index).signal('SIGCONT');
    this.#route();
  }

  /** SIGTERM, and waits for the end. */
  async terminate(index: number): Promise<ProcessEnd> {
    this.replica(index).signal('SIGTERM');
    const end = await this.replica(index).ended();
    this.#route();
    return end;
  }

  /** A new process in the place of one that has ended. */
  async restart(index: number): Promise<ReplicaProcess> {
    assert(!this.replica(index).isAlive, 'rig: only a replica that has ended is started again');
    const replica = await this.#start(index);
    if (this.#isOver) await replica.destroy(); // a run that broke off while it came up
    this.#replicas[index] = replica;
    this.#route();
    return replica;
  }

  /** What the runs of the scripted agent did outside the log so far. */
  async effects(): Promise<readonly EffectLine[]> {
    const text = await readFile(this.effectsFile, 'utf8').catch(() => ''); // nothing happened yet: there is no file
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as EffectLine); // only the scripted agent writes it
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.lag.stop();
    await Promise.all(this.#replicas.map((replica) => replica.destroy()));
    await this.front.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #start(index: number): Promise<ReplicaProcess> {
    const name = String.fromCharCode('A'.charCodeAt(0) + index);
    const { agent = 'scripted', flags = [], onLine } = this.#options;
    const more = typeof flags === 'function' ? flags(index) : flags;
    // an agent that knows nothing of effects does not look at the flag
    const args = ['--agent', agent, '--port', '0', '--store', this.store, '--public-url', this.front.url];
    args.push('--effects', this.effectsFile, ...more);
    return ReplicaProcess.start(name, args, (line) => {
      const lateMs = line['event'] === LATE_TICK_EVENT ? line['lateMs'] : undefined;
      if (typeof lateMs === 'number' && !this.#pardoned.delete(name)) this.lag.note('tick', lateMs);
      onLine?.(name, line);
    });
  }

  #route(): void {
    this.front.setTargets(this.living.map(({ name, url }) => ({ name, url })));
  }
}

/** Names nothing: to cancel it takes the store's write lock and changes nothing. */
const NO_TASK = '00000000-0000-4000-8000-000000000000';

const SMALL_WRITE_MS_MAX = 5_000;

/** Rejects when the replica could not write, or is gone. */
async function smallWrite({ url, name }: ReplicaProcess): Promise<void> {
  const probe = new Probe({ url, replica: name, timeoutMs: SMALL_WRITE_MS_MAX });
  const answer = await probe.cancel(NO_TASK).catch((error: unknown) => error);
  if (!isA2AError(answer) || answer.code !== 'TASK_NOT_FOUND') throw new Error(`${name} could not write`, { cause: answer });
}
