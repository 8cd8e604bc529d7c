import type { EntryRow } from '../../src/log/entry.ts';
import type { KeyRecord } from '../../src/log/rules/accept.ts';
import { decideAccept } from '../../src/log/rules/accept.ts';
import { decideAppend } from '../../src/log/rules/append.ts';
import type { Change } from '../../src/log/rules/change.ts';
import type { ReplicaRow } from '../../src/log/rules/living.ts';
import { declareDead, isDead, ownBeat } from '../../src/log/rules/living.ts';
import { decideCancel, decideClaim, decideRelease, decideResume, decideSweep } from '../../src/log/rules/settle.ts';
import type { TaskRow, TurnLimits } from '../../src/log/store.ts';

/** The decisions of the log as the stores take them. A rule is taken away by handing in another function in the place of one of these. */
export interface Decisions {
  readonly accept: typeof decideAccept;
  readonly append: typeof decideAppend;
  readonly cancel: typeof decideCancel;
  readonly claim: typeof decideClaim;
  readonly release: typeof decideRelease;
  readonly resume: typeof decideResume;
  readonly sweep: typeof decideSweep;
  readonly ownBeat: typeof ownBeat;
  readonly declareDead: typeof declareDead;
}

/** The ones that run in production, none of them a copy. */
export const decisions: Decisions = {
  accept: decideAccept,
  append: decideAppend,
  cancel: decideCancel,
  claim: decideClaim,
  release: decideRelease,
  resume: decideResume,
  sweep: decideSweep,
  ownBeat,
  declareDead,
};

/** A store of one task as plain data. Each verb decides and writes in one step, as a store does under the row's lock. */
export interface Shelf {
  readonly row: TaskRow | undefined;
  readonly log: readonly EntryRow[];
  readonly keys: Readonly<Record<string, KeyRecord>>;
  readonly replicas: Readonly<Record<string, ReplicaRow>>;
}

/** A store that these replicas have joined. */
export function shelfOf(replicas: readonly string[]): Shelf {
  return { row: undefined, log: [], keys: {}, replicas: Object.fromEntries(replicas.map((replica) => [replica, { replica, beat: 0 }])) };
}

/** Writes a change: row and entries together, and the key with them. */
export function write(shelf: Shelf, change: Change | undefined, key?: { readonly name: string; readonly record: KeyRecord }): Shelf {
  if (change === undefined) return shelf;
  const { row, entries } = change;
  const keys = key === undefined ? shelf.keys : { ...shelf.keys, [key.name]: key.record };
  return { ...shelf, row, log: entries.length === 0 ? shelf.log : [...shelf.log, ...entries], keys };
}

/** Writes a replica's row, if there is anything to write. */
export function writeReplica(shelf: Shelf, row: ReplicaRow | undefined): Shelf {
  return row === undefined ? shelf : { ...shelf, replicas: { ...shelf.replicas, [row.replica]: row } };
}

/** True if the open turn's holder is dead by the replicas' rows. */
export function isHolderDead({ row, replicas }: Shelf): boolean {
  return row?.holder !== undefined && isDead(replicas[row.holder]);
}

/** The same task again with another fence, in the row and in what the change writes: how a variant keeps a fence from rising. */
export function withFence<Made extends Change>(change: Made, fence: number): Made {
  return { ...change, row: { ...change.row, fence }, entries: change.entries.map((entry) => ({ ...entry, fence })) };
}

/** Times stand still in the model: nothing is due but where a model says so. */
export const NOW = 1;

/** Whose the one task is. */
export const scope = { agent: 'agent', tenant: '', owner: '' } as const;

/** Limits that no model runs into unless it says so. */
export const limits: TurnLimits = {
  onLost: 'fail',
  triesMax: 3,
  queueMs: 1_000,
  pausedTtlMs: 1_000,
  retentionMs: 1_000,
  entriesMax: 1_000,
  bytesMax: 100_000,
};
