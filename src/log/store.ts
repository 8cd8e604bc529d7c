import type { Clock } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { Service } from '../ground/service.ts';
import type { TaskState } from '../protocol/types.ts';
import type { EntryKind, EntryRow, NewEntry, Scope } from './entry.ts';
import type { Reach, Wake } from './wake.ts';

/** A turn is queued (waits for a replica), open (a replica holds it) or closed. */
export type TurnPhase = 'queued' | 'open' | 'closed';

/** What becomes of a turn whose holder is lost: FAILED, queued anew, or given back to the user as INPUT_REQUIRED (P6). */
export type OnLost = 'fail' | 'retry' | 'ask';

/** What a message to a task with a queued or open turn does (AMB-07). */
export type WhileWorking = 'refuse' | 'enqueue' | 'interrupt';

/** How many messages may wait on one task. */
export const WAITING_MAX = 16;

/** Limits that travel with the turn, so that whichever replica settles it applies the ones it was accepted under. */
export interface TurnLimits {
  readonly onLost: OnLost;
  /** Runs that may be lost before the turn ends FAILED although `onLost` is 'retry'. */
  readonly triesMax: number;
  /** A queued turn older than this fails (QUEUE_TIMEOUT). */
  readonly queueMs: number;
  /** INPUT_REQUIRED or closed AUTH_REQUIRED for longer: FAILED (EXPIRED). */
  readonly pausedTtlMs: number;
  /** A terminal task older than this is purged. */
  readonly retentionMs: number;
  readonly entriesMax: number;
  readonly bytesMax: number;
}

/** The task's row: all that a write may decide on, read under its lock ⚖. */
export interface TaskRow extends Scope {
  readonly id: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** Epoch milliseconds of the present status; with the id the sort key of lists. */
  readonly statusAt: number;
  /** seq of the entry that carries the present status. */
  readonly statusSeq: number;
  /** seq of the last entry. */
  readonly seq: number;
  /** Sum of the bodies' lengths. */
  readonly bytes: number;
  /** Number of the newest turn, from 1. */
  readonly turn: number;
  readonly phase: TurnPhase;
  /** seq of the message that the newest turn answers. */
  readonly answers: number;
  /** True when `resume` opened the turn: it answers the same message as the turn before. */
  readonly isResumed: boolean;
  /** Rises at accept, claim, cancel, sweep, release and hand-over, never at a plain close, never resets ⚖. */
  readonly fence: number;
  /** Rises whenever the turn goes to another run; `turn` + `attempt` name one run only. From 1. */
  readonly attempt: number;
  /** Losses only, held against `limits.triesMax`. From 0. */
  readonly tries: number;
  /** Id of the replica that holds the open turn. */
  readonly holder?: string;
  /** Last ordinal applied under the present fence. */
  readonly ordinal: number;
  /** seqs of the messages that wait for a turn, oldest first, at most WAITING_MAX. */
  readonly waiting: readonly number[];
  /** The open turn's signal shall fire, its place goes to the next waiting message (`whileWorking: 'interrupt'`). */
  readonly isInterrupted: boolean;
  /** Since when the turn is queued (epoch milliseconds): the order in which turns are claimed. */
  readonly queuedAt?: number;
  /** When the clock settles the row if nothing else does: queue timeout, expiry of a pause, end of retention. Absent while open. */
  readonly dueAt?: number;
  readonly limits: TurnLimits;
}

export interface AcceptAsk {
  readonly scope: Scope;
  /** The task the message names; for a new one the id made from the key, or a random one where the key is of our own making. */
  readonly taskId: string;
  readonly isNew: boolean;
  /** As the message names it. For a new task always given; for an existing one absent when the message names none (TURN-17). */
  readonly contextId?: string;
  /** Unique per task; made before the first try (P9). */
  readonly key: string;
  /** Digest of the message as read and the ids it names: the same key with another digest is refused. */
  readonly digest: string;
  /** MessageBody as JSON text. */
  readonly body: string;
  readonly replica: string;
  /** The replica has room and knows of no older queued turn: it takes a turn that this message opens. */
  readonly canStart: boolean;
  readonly whileWorking: WhileWorking;
  readonly limits: TurnLimits;
}

/**
 * The entries that the commit of this very call put into the log, if the store knows them without another read; its followers need not read
 * them again then. Nothing for a repeat, and never anything whose commit is not known (P2).
 */
export type Written = readonly EntryRow[];

export type AcceptResult =
  | {
      readonly kind: 'accepted';
      /** The key was recorded before: nothing was written now. This is decided before every refusal ⚖. */
      readonly isRepeat: boolean;
      /** The log as of the commit that recorded the message: the first answer is the fold up to here. */
      readonly seq: number;
      readonly messageSeq: number;
      /** The turn that the message opened; absent if it waits (its turn is the one that takes it, as the log tells). */
      readonly turn?: number;
      /** The row as it stands now. `holder` equal to the asking replica on an open turn is a grant. */
      readonly row: TaskRow;
      readonly written?: Written;
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'terminal'; readonly state: TaskState }
  | { readonly kind: 'busy'; readonly state: TaskState }
  | { readonly kind: 'full' }
  | { readonly kind: 'contextMismatch' }
  | { readonly kind: 'keyMismatch' };

export interface AppendAsk {
  readonly taskId: string;
  readonly fence: number;
  /** Ordinal of the first entry; the others follow without gap. */
  readonly from: number;
  readonly entries: readonly NewEntry[];
}

export type AppendResult =
  /** All entries stand in the log (some perhaps since an earlier call). `row` as of now. */
  | { readonly kind: 'applied'; readonly row: TaskRow; readonly written?: Written }
  /** The first ordinal is above the last applied one + 1: nothing was written, send again from there ⚖. */
  | { readonly kind: 'gap'; readonly ordinal: number }
  /** The task has ended. After an unknown outcome look into the log before believing it. */
  | { readonly kind: 'terminal'; readonly row: TaskRow }
  /** The fence moved or the turn is not open. After an unknown outcome look into the log before believing it. */
  | { readonly kind: 'fenced'; readonly row?: TaskRow }
  /** The entries would exceed entriesMax or bytesMax. Entries that close the turn are always let through. */
  | { readonly kind: 'limit' };

export interface CancelAsk {
  readonly scope: Scope;
  readonly taskId: string;
  /** StatusBody of the CANCELED entry as JSON text. */
  readonly body: string;
}

export type CancelResult =
  /** Canceled now or before (`isRepeat`, AMB-04); answer with the fold up to `row.seq`. */
  | { readonly kind: 'canceled'; readonly isRepeat: boolean; readonly row: TaskRow }
  | { readonly kind: 'settled'; readonly state: TaskState }
  | { readonly kind: 'absent' };

export interface ClaimAsk {
  readonly agent: string;
  readonly replica: string;
  readonly limit: number;
}

export interface ReleaseAsk {
  readonly taskId: string;
  readonly fence: number;
  /**
   * `drain`: the replica leaves, settled by `onLost`, not counted as a loss. `silence`: the replica had no contact for a lease (only for
   * `onLost: 'retry'`), counted. `interrupt`: the turn did not end within the grace, its place goes to the waiting message.
   */
  readonly why: 'drain' | 'silence' | 'interrupt';
}

export type ReleaseResult = { readonly kind: 'released'; readonly row: TaskRow } | { readonly kind: 'fenced' };

export interface ResumeAsk {
  readonly agent: string;
  readonly taskId: string;
  readonly replica: string;
  readonly canStart: boolean;
  readonly limits: TurnLimits;
}

export type ResumeResult =
  | { readonly kind: 'resumed'; readonly row: TaskRow }
  | { readonly kind: 'absent' }
  /** Only a closed AUTH_REQUIRED task can be resumed without a message. */
  | { readonly kind: 'notPaused'; readonly state: TaskState };

/** A replica as another one sees it: alive while its counter moves, never by a timestamp ⚖. */
export interface ReplicaBeat {
  readonly replica: string;
  readonly beat: number;
}

export interface TickAsk {
  readonly agent: string;
  readonly replica: string;
  /** `renew` raises the own beat, `look` only reads, `leave` marks the own incarnation dead (end of a drain). */
  readonly own: 'renew' | 'look' | 'leave';
  /** Replicas whose beat this one saw unchanged for a lease: each is marked dead if its beat is still the one seen. */
  readonly suspects: readonly ReplicaBeat[];
  /** Tasks with followers, with the last seq they know. */
  readonly watched: readonly { readonly taskId: string; readonly seq: number }[];
}

export interface TickResult {
  /** False: this incarnation was declared dead (or never joined); it must end and take a new id. */
  readonly isAlive: boolean;
  /** The living others. */
  readonly beats: readonly ReplicaBeat[];
  /** Open turns that name this replica: grants to start, and the proof that a running turn's fence has not moved. */
  readonly held: readonly TaskRow[];
  /** Queued turns of the agent, all replicas. */
  readonly queued: number;
  readonly oldestQueuedAt?: number;
  /** `sweep` would find something: an open turn of a dead replica, or a queued or paused turn past its time. */
  readonly hasSweepable: boolean;
  readonly grown: readonly { readonly taskId: string; readonly seq: number }[];
  /** Watched tasks that are no longer there. */
  readonly gone: readonly string[];
}

export interface ReadAsk {
  /** Absent only for the program itself (its own turn, `agent.resume`), never for a request of a caller. */
  readonly scope?: Scope;
  readonly taskId: string;
  /** Entries above this one come with the row, as many as `entries` would give. */
  readonly after: number;
}

export interface EntriesAsk {
  readonly wants: readonly { readonly taskId: string; readonly after: number; readonly upTo?: number }[];
  /** All kinds when absent. */
  readonly kinds?: readonly EntryKind[];
  /** Over all wants; what does not fit is left for the next call. */
  readonly entriesMax: number;
  readonly bytesMax: number;
}

export interface EntriesOfTask {
  readonly taskId: string;
  readonly rows: readonly EntryRow[];
  /** The task is not there (any more). */
  readonly isGone: boolean;
}

export interface ListAsk {
  readonly scope: Scope;
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Inclusive (LIST-11), epoch milliseconds. */
  readonly statusAtMin?: number;
  /** Only rows after this one in the order (statusAt DESC, id DESC). */
  readonly after?: { readonly statusAt: number; readonly id: string };
  readonly limit: number;
}

export interface ListResult {
  readonly rows: readonly TaskRow[];
  /** Matches of the filters before paging (LIST-15). */
  readonly total: number;
}

/** Most entries and bytes one read or one commit carries. */
export const BATCH_ENTRIES_MAX = 256;
export const BATCH_BYTES_MAX = 1_048_576;

/**
 * The shared log (design section 4). Every verb is one atomic decision on one task's locked row, harmless when it runs late or twice;
 * a refusal is a result, never an exception. Rows in, rows out: a store parses nothing. It throws StoreError only.
 */
export interface Store extends Service {
  /** Enters a new incarnation with beat 0. A replica's id is random per start, never configured. */
  join(ask: { readonly replica: string }): Promise<void>;
  accept(ask: AcceptAsk): Promise<AcceptResult>;
  append(ask: AppendAsk): Promise<AppendResult>;
  cancel(ask: CancelAsk): Promise<CancelResult>;
  /** Opens the oldest queued turns of the agent for this replica. */
  claim(ask: ClaimAsk): Promise<readonly TaskRow[]>;
  release(ask: ReleaseAsk): Promise<ReleaseResult>;
  resume(ask: ResumeAsk): Promise<ResumeResult>;
  /** Settles open turns of dead replicas and turns past their time, at most `limit`; answers with the rows it changed. */
  sweep(ask: { readonly limit: number }): Promise<readonly TaskRow[]>;
  tick(ask: TickAsk): Promise<TickResult>;
  /** The row and the entries above `after`, as of one moment. */
  read(ask: ReadAsk): Promise<{ readonly row: TaskRow; readonly rows: readonly EntryRow[] } | undefined>;
  /** Answers in the order of `wants`; those for which a limit left no room are missing at the end (at least one is always answered). */
  entries(ask: EntriesAsk): Promise<readonly EntriesOfTask[]>;
  list(ask: ListAsk): Promise<ListResult>;
  /** Removes terminal tasks past their retention, at most `limit`, and replicas long dead that hold nothing; answers with the tasks' ids. */
  purge(ask: { readonly limit: number }): Promise<readonly string[]>;
}

/**
 * What a store throws. `unavailable`: no contact, busy or full, may pass; `isUnknown` tells whether the verb may have been (or may yet be)
 * applied. `unstorable`: this one call's content is refused for good. `misconfigured`: rights, read-only, a newer schema: needs a person.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly kind: 'unavailable' | 'unstorable' | 'misconfigured';
  readonly isUnknown: boolean;

  constructor(kind: StoreError['kind'], message: string, details: { readonly isUnknown?: boolean; readonly cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.isUnknown = details.isUnknown ?? false;
  }
}

/** What a store or wake gets from its agent. */
export interface StoreParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** What `store:` takes: knows how to open a store and the wake that belongs to it. Opening connects to nothing yet; `start` does. */
export interface StoreSource {
  readonly name: string;
  readonly reach: Reach;
  open(parts: StoreParts): { readonly store: Store; readonly wake: Wake };
}

/** What `wake:` takes. */
export interface WakeSource {
  readonly name: string;
  readonly reach: Reach;
  open(parts: StoreParts): Wake;
}
