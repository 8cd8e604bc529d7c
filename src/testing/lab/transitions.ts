import type { TaskRow } from '../../log/store.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { LabViolation } from './violation.ts';

/** Verbs that change a row. */
export type WritingVerb = 'accept' | 'append' | 'cancel' | 'release' | 'resume' | 'claim' | 'sweep';

type Finding = readonly [LabViolation['promise'], string];

/**
 * What a verb may have done to a row. Clients see the outcome of a wrong step only when a late call meets it in the right moment; here it is
 * seen when it is taken.
 */
export function judgeStep(verb: WritingVerb, before: TaskRow | undefined, after: TaskRow): readonly Finding[] {
  if (before === undefined) return after.fence > 0 ? [] : [['P4', `${verb} opened a task under fence 0`]];
  return [...endings(verb, before, after), ...fences(verb, before, after), ...runs(verb, before, after)];
}

/** P4: only under the present fence is anything written, or given away. */
export function judgeFence(verb: 'append' | 'release', before: TaskRow | undefined, step: Under): readonly Finding[] {
  if (before === undefined || step.row.seq === before.seq || step.fence === before.fence) return [];
  return [['P4', `${verb} under fence ${step.fence} wrote entry ${step.row.seq}, and the fence was ${before.fence}`]];
}

/** A row as a verb left it, and the fence that the verb came with. */
interface Under {
  readonly fence: number;
  readonly row: TaskRow;
}

/** P3: nothing is written behind an end, and nothing waits there. */
function* endings(verb: WritingVerb, before: TaskRow, after: TaskRow): Generator<Finding> {
  if (isTerminal(before.state) && after.seq > before.seq) yield ['P3', `${verb} wrote entry ${after.seq} behind ${before.state}`];
  if (!isTerminal(after.state)) return;
  if (after.phase !== 'closed') yield ['P3', `${verb} ended the task, and its turn is ${after.phase}`];
  if (after.waiting.length > 0) yield ['P3', `${verb} ended the task, and messages wait on it`];
}

/** P4: the fence rises whenever the turn changes hands or begins, and never at a plain close ⚖: a repeat of the last words must find it. */
function* fences(verb: WritingVerb, before: TaskRow, after: TaskRow): Generator<Finding> {
  const rises = after.fence > before.fence;
  const isMove = after.turn > before.turn || (verb !== 'append' && verb !== 'accept' && after.seq > before.seq);
  if (isMove && !rises) yield ['P4', `${verb} moved the turn and left the fence at ${after.fence}`];
  if (!isMove && rises) yield ['P4', `${verb} moved no turn and raised the fence to ${after.fence}`];
}

/** P4: turn and attempt name one run only: whoever queues a turn anew makes it another run. */
function* runs(verb: WritingVerb, before: TaskRow, after: TaskRow): Generator<Finding> {
  const isRequeued = after.turn === before.turn && before.phase === 'open' && after.phase === 'queued';
  if (isRequeued && after.attempt <= before.attempt)
    yield ['P4', `${verb} queued turn ${after.turn} anew as the same attempt ${after.attempt}`];
  if (after.turn === before.turn && after.attempt < before.attempt) yield ['P4', `${verb} let the attempt fall to ${after.attempt}`];
  if (after.tries > after.limits.triesMax) yield ['P6', `${verb} let turn ${after.turn} be lost ${after.tries} times`];
}
