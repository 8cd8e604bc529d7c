import type { Artifact, Message, Struct, TaskState } from '../protocol/types.ts';

/** Who may see a task: every read and write names it, in the same statement (P10). `owner` is '' for the anonymous caller. */
export interface Scope {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
}

/** Who calls, as `identify` told it. It is stored with the message, so that a turn on any replica, at any time, knows it (case 29). */
export interface Caller {
  /** Owner of the tasks this caller makes; absent for the anonymous caller. 1..255 code points, no control characters. */
  readonly name?: string;
  /** Set by the engine from the request, never by `identify`. */
  readonly tenant?: string;
  /** Anything JSON-shaped the agent should know of the caller; no secrets. */
  readonly claims?: Struct;
}

/**
 * What stands in a log. `message` is what a user said (the agent's words ride on `status`), `taken` says which waiting messages a turn took
 * from its inbox, `closed` ends a turn without a new status. Only `status` and `artifact` are shown on streams. A kind that this version
 * does not know folds to nothing.
 */
export type EntryKind = 'message' | 'status' | 'artifact' | 'taken' | 'closed';

/**
 * One row of a log as a store keeps it. `body` is JSON text made once by the writer: stores never look into it, so what was written is
 * what is read.
 */
export interface EntryRow {
  /** Place in the task's log: 1, 2, 3 … without gaps (P1). */
  readonly seq: number;
  readonly kind: string;
  /** The turn that wrote it; for a message, and for a status with `answers`, the turn it opens; 0 for a message that waits for a turn. */
  readonly turn: number;
  /** The row's fence as it stood when the entry was written. */
  readonly fence: number;
  /** Number of the entry within its fence, from 1: (fence, ordinal) is unique in a task. Absent for what the store itself wrote. */
  readonly ordinal?: number;
  /** Only for kind `status`. */
  readonly state?: TaskState;
  /** On a status that opens a turn: seq of the message the turn answers. */
  readonly answers?: number;
  /** Epoch milliseconds of the store's clock, never before the status that the entry follows. */
  readonly at: number;
  readonly body: string;
}

/** Body of kind `message`. */
export interface MessageBody {
  readonly message: Message;
  readonly caller: Caller;
  /** Metadata of the request that brought the message. */
  readonly metadata?: Struct;
  readonly acceptedOutputModes?: readonly string[];
}

/** Body of kind `status`; state and time are columns of the row. */
export interface StatusBody {
  readonly message?: Message;
  readonly metadata?: Struct;
}

/** Body of kind `artifact`. */
export interface ArtifactBody {
  readonly artifact: Artifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
  readonly metadata?: Struct;
}

/** Body of kind `taken`: the seqs of the messages. */
export interface TakenBody {
  readonly messages: readonly number[];
}

interface EntryHead {
  readonly taskId: string;
  readonly seq: number;
  readonly turn: number;
  readonly fence: number;
  readonly ordinal?: number;
  readonly at: number;
  /** Length of the stored body, for limits on memory. */
  readonly bytes: number;
}

/** An entry, read: what followers, folds and bindings work with. Frozen data, shared by all readers of a replica. */
export type Entry =
  | (EntryHead & { readonly kind: 'message' } & MessageBody)
  | (EntryHead & { readonly kind: 'status'; readonly state: TaskState; readonly answers?: number } & StatusBody)
  | (EntryHead & { readonly kind: 'artifact' } & ArtifactBody)
  | (EntryHead & { readonly kind: 'taken' } & TakenBody)
  | (EntryHead & { readonly kind: 'closed' })
  | (EntryHead & { readonly kind: 'unknown' });

/** An entry that a turn wants to append; its ordinal is its place in the batch. */
export interface NewEntry {
  readonly kind: Exclude<EntryKind, 'message'>;
  /** Only and always for kind `status`. INPUT_REQUIRED and terminal states close the turn. */
  readonly state?: TaskState;
  /** Only for kind `taken`: which messages leave `waiting`. */
  readonly taken?: readonly number[];
  readonly body: string;
}
