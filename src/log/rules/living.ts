import type { ReplicaBeat, TickAsk } from '../store.ts';

/** A replica's row: its counter, and since when it is dead. A dead one never lives again; its process takes a new id. */
export interface ReplicaRow {
  readonly replica: string;
  readonly beat: number;
  /** Epoch milliseconds; absent while it lives. Only for the purge, never for the question who lives. */
  readonly diedAt?: number;
}

/** How long a dead replica's row is kept. A holder without a row counts as dead, so nothing depends on it but an operator's look back. */
export const DEAD_KEPT_MS = 3_600_000;

/** A holder lives only while its row says so: one that was purged, or never joined, will not come back either. */
export function isDead(row: ReplicaRow | undefined): boolean {
  return row === undefined || row.diedAt !== undefined;
}

/** What a tick does to the replica's own row; undefined: there is nothing to write, and if the row is dead it stays so ⚖. */
export function ownBeat(row: ReplicaRow | undefined, own: TickAsk['own'], now: number): ReplicaRow | undefined {
  if (row === undefined || row.diedAt !== undefined || own === 'look') return undefined;
  return own === 'renew' ? { ...row, beat: row.beat + 1 } : { ...row, diedAt: now };
}

/** Marks a suspect dead if its counter is still the one seen ⚖: a beat that came meanwhile proves that it lives. */
export function declareDead(row: ReplicaRow | undefined, seen: ReplicaBeat, now: number): ReplicaRow | undefined {
  if (row === undefined || row.diedAt !== undefined || row.beat !== seen.beat) return undefined;
  return { ...row, diedAt: now };
}
