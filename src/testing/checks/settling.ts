import type { Entry } from '../../log/entry.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { KillFact } from '../facts.ts';
import type { StoredTask, Evidence, Violation } from './check.ts';
import { factsOf } from './check.ts';

/** Time that counts between two moments (epoch milliseconds): the rig's record of lag tells it. */
export type FairMs = (from: number, to: number) => number;

/** What became of a turn whose holder was killed. */
export interface Settled {
  readonly taskId: string;
  readonly killedAt: number;
  /** From the kill to the entry that settled it; absent if nothing did. */
  readonly wallMs?: number;
  /** The part of it that counts. */
  readonly fairMs?: number;
  /**
   * `inTime`: by the clock on the wall. `late`: even by the time that counts, or never. `unjudged`: late by the wall, in time by what counts:
   * the machine had too little time for a verdict, and that is neither a pass nor a failure.
   */
  readonly verdict: 'inTime' | 'late' | 'unjudged';
}

/** A kill with the turns that were lost with it. */
export interface JudgedKill {
  readonly kill: KillFact;
  readonly settled: readonly Settled[];
  /** At least one turn was held, and each of them has a verdict. */
  readonly isJudged: boolean;
}

/** How long a turn of a dead holder may stay unsettled, on top of the lease (P6). */
export const SETTLE_SLACK_MS = 1_500;

/** Judges every kill: how long did the turns of the dead holder stay unsettled. */
export function judgeKills(
  evidence: Evidence,
  { leaseMs, fairMs }: { readonly leaseMs: number; readonly fairMs: FairMs },
): readonly JudgedKill[] {
  return factsOf(evidence, 'kill').map((kill) => {
    const settled = kill.holding.flatMap((taskId) => {
      const task = evidence.stored.get(taskId);
      return task ? (judge({ taskId, task, killedAt: kill.at }, leaseMs + SETTLE_SLACK_MS, fairMs) ?? []) : [];
    });
    return { kill, settled, isJudged: settled.length > 0 && settled.every(({ verdict }) => verdict !== 'unjudged') };
  });
}

/** P6 as violations. */
export function* settledInTime(kills: readonly JudgedKill[]): Generator<Violation> {
  for (const { kill, settled } of kills) {
    for (const { taskId, wallMs, fairMs, verdict } of settled) {
      const took = wallMs === undefined ? 'never' : `after ${Math.round(wallMs)} ms, ${Math.round(fairMs ?? wallMs)} of them counted`;
      if (verdict === 'late')
        yield { promise: 'P6', taskId, says: `its holder ${kill.replica ?? ''} was killed, and it was settled ${took}` };
    }
  }
}

interface Lost {
  readonly taskId: string;
  readonly task: StoredTask;
  readonly killedAt: number;
}

function judge({ taskId, task, killedAt }: Lost, limitMs: number, fair: FairMs): Settled | undefined {
  const last = task.entries.findLast((entry) => entry.at < killedAt);
  // it had ended, or paused, before the kill: nothing was lost with the replica
  if (!last || hasNoHolder(task, last)) return undefined;
  // what the holder had under way when it was killed may still be committed: under its own fence, and perhaps as the end of the turn
  const settling = task.entries.find((entry) => entry.seq > last.seq && (entry.fence > last.fence || isRest(entry)));
  if (!settling) return { taskId, killedAt, verdict: 'late' };
  const wallMs = settling.at - killedAt;
  const fairMs = fair(killedAt, settling.at);
  return { taskId, killedAt, wallMs, fairMs, verdict: wallMs <= limitMs ? 'inTime' : fairMs <= limitMs ? 'unjudged' : 'late' };
}

function hasNoHolder({ entries }: StoredTask, last: Entry): boolean {
  const status = entries.findLast((entry) => entry.seq <= last.seq && entry.kind === 'status');
  return status === undefined || isRest(status) || (status.kind === 'status' && status.state === 'TASK_STATE_SUBMITTED');
}

function isRest(entry: Entry): boolean {
  return entry.kind === 'status' && (isTerminal(entry.state) || entry.state === 'TASK_STATE_INPUT_REQUIRED');
}
