import type { Clock } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { Scope } from '../log/entry.ts';
import type { TaskRow, TurnLimits } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';
import type { AgentCapabilities } from '../protocol/types.ts';
import type { TurnSettings } from '../turn/options.ts';
import type { Reply } from '../turn/turn.ts';
import type { Call } from './call.ts';
import type { LateReplies } from './late-replies.ts';
import type { OpenCalls } from './open-calls.ts';

/** What operations need of the part that runs turns. */
export interface TurnTaker {
  /** Id of the present incarnation. */
  readonly replica: string;
  /** It has room and knows of no older queued turn. */
  readonly canStart: boolean;
  /** Queued turns of all replicas, as of the last tick. */
  readonly queued: number;
  /** As `canStart`, and keeps a slot until it is disposed of, behind the offer: a burst of messages takes no more slots than there are. */
  reserve(): Disposable | undefined;
  /** Hands over an open turn that names this replica; one that it has already is no news to it. */
  offer(row: TaskRow): void;
}

/** How long the stream of a send lasts (AMB-01). */
export type StreamUntil = 'answered' | 'ended';

/** What operations are made of. */
export interface OperationParts {
  /** Name of the agent in the store: replicas of one agent share it. */
  readonly agent: string;
  readonly capabilities: AgentCapabilities;
  readonly log: TaskLog;
  readonly turns: TurnTaker;
  readonly settings: TurnSettings;
  /** A blocking send that has waited for so long answers with the task as it stands then (AMB-24). Off when absent. */
  readonly blockingMs?: number;
  /** Whether a send's stream ends when its turn asks its user (`answered`, the default) or only with the task (AMB-01). */
  readonly streamUntil?: StreamUntil;
  readonly reply?: Reply;
  /** Resolves when the log can be used; nothing to wait for when it gives undefined. An agent starts with its first request. */
  readonly ready?: () => Promise<void> | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The same with what operations share among themselves. */
export interface SharedParts extends OperationParts {
  /** Those of every turn that is accepted here: one object for all rows. */
  readonly limits: TurnLimits;
  readonly calls: OpenCalls;
  readonly lateReplies: LateReplies;
}

/** Whose tasks a call may see: it goes into every read and write (P10). */
export function scopeOf({ agent }: OperationParts, call: Call): Scope {
  return { agent, tenant: call.tenant, owner: call.caller.name ?? '' };
}

/** A row that names this replica on an open turn is a grant: whoever gets one hands it over. */
export function offerGrant(turns: TurnTaker, row: TaskRow): void {
  if (row.phase === 'open' && row.holder === turns.replica) turns.offer(row);
}
