import type { Check, Evidence, Violation } from './checks/check.ts';
import { acceptedIsRecorded, answersAreCommitted, cancelsHold, exactlyOneEffect, readsAgree } from './checks/calls.ts';
import { denseLogs, denseOrdinals, failuresTellWhy, nothingWorksForEver, oneHolder, terminalIsFinal } from './checks/log.ts';
import { equalLists, foldsAgree, nothingUncommitted, oneEndForAll } from './checks/observers.ts';
import type { FairMs, JudgedKill } from './checks/settling.ts';
import { judgeKills, settledInTime } from './checks/settling.ts';

/** How settle times are judged. */
export interface Judging {
  /** The lease of the replicas. */
  readonly leaseMs: number;
  /** Which time counts; all of it by itself. */
  readonly fairMs?: FairMs;
}

/** What the checker found. */
export interface Verdict {
  /** Empty: every promise held, in all that was seen. */
  readonly violations: readonly Violation[];
  readonly kills: readonly JudgedKill[];
  /** How much was looked at: a verdict over nothing is worth nothing. */
  readonly counted: {
    readonly facts: number;
    readonly tasks: number;
    readonly entries: number;
    readonly items: number;
    readonly sends: number;
    readonly cancels: number;
    readonly judgedKills: number;
  };
}

const checks: readonly Check[] = [
  denseLogs,
  equalLists,
  foldsAgree,
  nothingUncommitted,
  answersAreCommitted,
  terminalIsFinal,
  oneEndForAll,
  readsAgree,
  oneHolder,
  denseOrdinals,
  acceptedIsRecorded,
  exactlyOneEffect,
  nothingWorksForEver,
  failuresTellWhy,
  cancelsHold,
];

/**
 * Verifies the promises P1 to P9 on a history: everything that clients saw, held against the logs in the store once nothing moves any
 * more. It knows nothing of how the replicas work, so it believes none of them.
 *
 * @example
 * ```ts
 * import { sqlite } from 'chorus-a2a/sqlite';
 * import { checkHistory, History, Probe, readStored, Rig, taskIdsIn } from 'chorus-a2a/testing';
 *
 * await using rig = await Rig.open({ agent: 'agent.ts' });
 * const history = new History();
 * const [a, b] = rig.replicas.map(({ url, name }) => new Probe({ url, replica: name, history }));
 * const task = await a?.sendForTask('hello');
 * if (task) await b?.get(task.id, { isFinal: true });
 * const stored = await readStored(sqlite(rig.store), taskIdsIn(history.facts));
 * console.log(checkHistory({ facts: history.facts, stored }, { leaseMs: 10_000 }).violations);
 * ```
 */
export function checkHistory(evidence: Evidence, judging: Judging): Verdict {
  const kills = judgeKills(evidence, { leaseMs: judging.leaseMs, fairMs: judging.fairMs ?? ((from, to) => to - from) });
  const violations = [...checks.flatMap((check) => [...check(evidence)]), ...settledInTime(kills)];
  const count = (kind: string): number => evidence.facts.filter((fact) => fact.kind === kind).length;
  return {
    violations,
    kills,
    counted: {
      facts: evidence.facts.length,
      tasks: evidence.stored.size,
      entries: [...evidence.stored.values()].reduce((sum, { entries }) => sum + entries.length, 0),
      items: count('item'),
      sends: count('send'),
      cancels: count('cancel'),
      judgedKills: kills.filter(({ isJudged }) => isJudged).length,
    },
  };
}
