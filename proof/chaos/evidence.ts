import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../../src/log/entry.ts';
import type { StoredTask } from '../../src/testing/checks/check.ts';
import type { JudgedKill } from '../../src/testing/checks/settling.ts';
import type { Fact } from '../../src/testing/facts.ts';
import type { EffectLine } from '../../src/testing/rig.ts';
import type { Complaint } from './complaint.ts';
import type { Reached, RuleName } from './reached.ts';

const takeovers = { fail: 'takeoverFail', retry: 'takeoverRetry', ask: 'takeoverAsk' } as const;

/** What a stretch of a run left behind. */
export interface Traces {
  readonly stored: ReadonlyMap<string, StoredTask>;
  readonly kills: readonly JudgedKill[];
  readonly facts: readonly Fact[];
  readonly effects: readonly EffectLine[];
}

/** Counts the rules that show in what was written down, by whoever did it. */
export function countTraces({ stored, kills, facts, effects }: Traces, reached: Reached): void {
  for (const { settled } of kills) {
    for (const { taskId, wallMs } of settled) {
      const onLost = stored.get(taskId)?.row.limits.onLost;
      if (onLost !== undefined && wallMs !== undefined) reached.add(takeovers[onLost]);
    }
  }
  for (const { entries } of stored.values()) for (const rule of rulesIn(entries)) reached.add(rule);
  // the first run of a turn whose replica stood still past its lease, and then spoke again
  const superseded = new Set(kills.flatMap(({ kill }) => (kill.signal === 'SIGSTOP' ? kill.holding : [])));
  const refused = effects.filter(({ what, task, attempt }) => what === 'refused' && attempt === 1 && superseded.has(task));
  reached.add('fencedVerb', refused.length);
  reached.add(
    'throughFront',
    facts.filter((fact) => fact.kind === 'send' && fact.observer.endsWith('the front') && fact.outcome.kind === 'task').length,
  );
}

/** Keeps all that was seen of the tasks that a promise was broken on, and the kills around; gives the file. */
export async function keepEvidence(
  { stored, kills, facts, effects }: Traces,
  complaints: readonly Complaint[],
  seed: number,
): Promise<string> {
  const taskIds = new Set(complaints.flatMap(({ taskId }) => taskId ?? []));
  const isAbout = (value: unknown): boolean => {
    const text = JSON.stringify(value);
    return [...taskIds].some((taskId) => text.includes(taskId));
  };
  const kept = {
    complaints,
    kills,
    leaves: facts.filter(({ kind }) => kind === 'leave'),
    stored: [...stored].filter(([taskId]) => taskIds.has(taskId)),
    facts: facts.filter((fact) => fact.kind !== 'kill' && isAbout(fact)),
    effects: effects.filter(({ task }) => taskIds.has(task)),
  };
  const file = join(tmpdir(), `chorus-chaos-${seed}.json`);
  await writeFile(file, JSON.stringify(kept, undefined, 1));
  return file;
}

function* rulesIn(entries: readonly Entry[]): Generator<RuleName> {
  for (const [index, entry] of entries.entries()) {
    if (entry.kind === 'taken') yield 'inboxTaken';
    if (entry.kind !== 'status') continue;
    const message = entry.answers === undefined ? undefined : entries[entry.answers - 1];
    // the message stood in the log before it had a turn
    if (message?.kind === 'message' && message.turn === 0) yield 'handOver';
    const before = entries.slice(0, index).findLast(({ kind }) => kind === 'status');
    const wasQueued = before?.kind === 'status' && before.state === 'TASK_STATE_SUBMITTED';
    if (wasQueued && entry.state === 'TASK_STATE_WORKING' && entry.ordinal === undefined) yield 'claimedFromQueue';
  }
}
