import type { Client } from '../../client/client.ts';
import type { StoreSource } from '../../log/store.ts';
import type { Task } from '../../protocol/types.ts';
import type { History } from '../facts.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import type { LabAgent } from './agent-options.ts';
import type { Chance } from './chance.ts';
import type { FaultRates } from './fault-rates.ts';
import type { Reached } from './reached.ts';
import type { LabReplica } from './replica.ts';
import type { LabCheck, LabVerdict } from './verdict.ts';

/** What a lab is opened with. */
export interface LabOptions {
  /** The agent: its options, an agent that was made, or a function that makes it for one replica and takes time and chance from the lab. */
  readonly agent: LabAgent;
  /** The same seed gives the same run, to the last line of its trace. */
  readonly seed: number;
  /** 3. */
  readonly replicas?: number;
  /** Where the tasks are: a new `memory()`, or for example `sqlite(file)` with a new file. Its own wake is not used. */
  readonly store?: StoreSource;
  /** How often what goes wrong while a storm lasts; what is not given is drawn by the seed. */
  readonly faults?: Partial<FaultRates>;
  /** What clients say to the agent in `run`. */
  readonly messages?: (chance: Chance) => string;
  /** What else must hold of the tasks in the end: gives a sentence for each thing that does not. */
  readonly checks?: readonly LabCheck[];
}

/** How `run` goes. Times are of the lab. */
export interface RunOptions {
  /** How long faults happen: two leases and 3 s. */
  readonly stormMs?: number;
  /** How long clients go on afterwards, with nothing going wrong: 2.5 s. */
  readonly calmMs?: number;
  /** Clients that do one thing after another: 4. */
  readonly actors?: number;
}

/** Several replicas of an agent in one process, on time and chance that a seed owns. */
export interface Lab extends AsyncDisposable {
  readonly seed: number;
  readonly clock: VirtualClock;
  readonly history: History;
  /** The replicas, by their places; one that was started anew stands where it stood before. */
  readonly replicas: readonly LabReplica[];
  /** A client for each place. */
  readonly clients: readonly Client[];
  readonly reached: Reached;
  /** What has happened so far. */
  readonly trace: readonly string[];
  /** A client of that caller's; without a place, each of its requests goes to any replica. */
  client(options?: { readonly caller?: string; readonly place?: number }): Promise<Client>;
  /** Moves time on. */
  advance(ms: number): Promise<void>;
  /** Moves time on until the work is done, and gives its result. */
  during<T>(work: Promise<T>, msMax?: number): Promise<T>;
  /** Moves time on until something is so. */
  until(isSo: () => boolean, what: string, msMax?: number): Promise<void>;
  /** Moves time on until the task has ended or waits for its user, and gives it as the store has it. */
  settled(taskId: string, msMax?: number): Promise<Task>;
  /** A replica dies, and is not started again before `restart`. */
  crash(place: number): void;
  /** Starts a new replica where one has crashed or left. */
  restart(place: number): Promise<void>;
  /** Lets clients work while everything goes wrong that may, then in peace, and gives the verdict. */
  run(options?: RunOptions): Promise<LabVerdict>;
  /** Mends everything, waits until nothing moves any more, and holds what was seen against what the store has. */
  verdict(): Promise<LabVerdict>;
}
