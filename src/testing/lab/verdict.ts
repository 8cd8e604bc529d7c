import type { Store } from '../../log/store.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { Verdict } from '../checker.ts';
import { checkHistory } from '../checker.ts';
import type { StoredTask } from '../checks/check.ts';
import { canonical, difference } from '../checks/check.ts';
import { foldTo } from '../checks/folding.ts';
import { withoutUsers } from '../checks/observers.ts';
import type { Fact } from '../facts.ts';
import { taskIdsIn } from '../facts.ts';
import { readTask } from '../stored.ts';
import type { ClientView } from './load.ts';
import type { Mark } from './reached.ts';
import { short } from './trace.ts';
import type { LabViolation } from './violation.ts';

/** A check of the user's own: what must hold of the tasks as they stand in the end. */
export type LabCheck = (stored: ReadonlyMap<string, StoredTask>) => Iterable<string>;

/** What a lab found. */
export interface LabVerdict {
  readonly seed: number;
  /** Empty: every promise held. */
  readonly violations: readonly LabViolation[];
  /** How much was looked at. */
  readonly counted: Verdict['counted'];
  /** What the run came to, and how often. */
  readonly reached: Readonly<Partial<Record<Mark, number>>>;
  /** Everything that happened, in order; the same seed gives the same lines. */
  readonly trace: readonly string[];
}

/** What is judged. */
export interface LabEvidence {
  readonly store: Store;
  readonly facts: readonly Fact[];
  /** Tasks that were made and that perhaps nobody was told of. */
  readonly taskIds: Iterable<string>;
  readonly views: readonly ClientView[];
  readonly leaseMs: number;
  readonly checks: readonly LabCheck[];
}

/** Reads what stands in the store, and holds everything that was seen against it. */
export async function judge({ store, facts, taskIds, views, leaseMs, checks }: LabEvidence): Promise<{
  readonly violations: readonly LabViolation[];
  readonly counted: Verdict['counted'];
}> {
  const stored = new Map<string, StoredTask>();
  for (const taskId of new Set([...taskIds, ...taskIdsIn(facts)])) {
    const task = await readTask(store, taskId);
    if (task) stored.set(taskId, task);
  }
  const { violations, counted } = checkHistory({ facts, stored }, { leaseMs });
  const own = checks.flatMap((check) => [...check(stored)].map((says): LabViolation => ({ promise: 'P7', says })));
  return { violations: [...violations, ...viewsAgree(views, stored), ...own], counted };
}

/** P1: what a client folded of a stream, over all its connections, is the task. */
function viewsAgree(views: readonly ClientView[], stored: ReadonlyMap<string, StoredTask>): readonly LabViolation[] {
  return views.flatMap(({ observer, task }) => {
    const stands = stored.get(task.id);
    const whole = stands && foldTo(stands, stands.row.seq);
    if (!whole || !isTerminal(whole.status.state)) return [];
    const [seen, is] = [canonical(withoutUsers(task)), canonical(withoutUsers(whole))];
    if (seen === is) return [];
    return [{ promise: 'P1', taskId: task.id, says: `task ${short(task.id)}: the client of ${observer} came to ${difference(seen, is)}` }];
  });
}
