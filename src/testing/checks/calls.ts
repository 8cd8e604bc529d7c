import type { Entry } from '../../log/entry.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { Task } from '../../protocol/types.ts';
import type { CancelFact, SendFact } from '../facts.ts';
import type { Evidence, StoredTask, Violation } from './check.ts';
import { canonical, difference, factsOf } from './check.ts';
import { said } from './log.ts';
import { foldTo, shortened, wholeText } from './folding.ts';

/** P2: every task that was answered is the fold of its log up to some entry. */
export function* answersAreCommitted(evidence: Evidence): Generator<Violation> {
  for (const fact of [...factsOf(evidence, 'send'), ...factsOf(evidence, 'cancel'), ...factsOf(evidence, 'read')]) {
    if (fact.outcome.kind !== 'task') continue;
    const { task } = fact.outcome;
    const stored = evidence.stored.get(task.id);
    if (!stored) yield { promise: 'P2', taskId: task.id, says: `${fact.observer} was answered a task that is not in the store` };
    else if (!isPrefix(task, stored, fact.kind === 'cancel' ? undefined : fact.historyLength)) {
      const says = `${fact.observer} was answered what never stood in the log: ${difference(canonical(task), wholeText(stored))}`;
      yield { promise: 'P2', taskId: task.id, says };
    }
  }
}

/** P3 and P5: once nothing moves any more, every replica reads the same task, the one in the store. */
export function* readsAgree(evidence: Evidence): Generator<Violation> {
  for (const { taskId, observer, outcome, isFinal } of factsOf(evidence, 'read')) {
    const stored = evidence.stored.get(taskId);
    if (!isFinal || !stored) continue;
    const [read, stands] = [outcome.kind === 'task' ? canonical(outcome.task) : outcome.kind, wholeText(stored)];
    if (read !== stands) yield { promise: 'P3', taskId, says: `${observer} reads at the end ${difference(read, stands)}` };
  }
}

/** P5: an answered message is in the log exactly once, with the change of state it causes; one without an answer at most once. */
export function* acceptedIsRecorded(evidence: Evidence): Generator<Violation> {
  const recorded = messagesOf(evidence);
  for (const fact of factsOf(evidence, 'send')) {
    const places = recorded.get(fact.messageId) ?? [];
    const taskId = places[0]?.task.row.id ?? fact.taskId;
    const wrong = (says: string): Violation => ({ promise: 'P5', ...(taskId === undefined ? {} : { taskId }), says });
    if (fact.outcome.kind === 'message' && places.length > 0) yield wrong(`message ${fact.messageId} had a direct answer and is in a log`);
    if (isAccepted(fact) && places.length === 0) yield wrong(`message ${fact.messageId} was accepted and is in no log`);
  }
  for (const places of recorded.values()) for (const { task, entry } of places) yield* causeOf(task, entry);
}

/** P9: whatever was repeated or lost on the way, no message stands in any log twice. */
export function* exactlyOneEffect(evidence: Evidence): Generator<Violation> {
  for (const [messageId, places] of messagesOf(evidence)) {
    const [first] = places;
    if (first && places.length > 1) {
      const where = places.map(({ task, entry }) => `${task.row.id} ${entry.seq}`).join(', ');
      yield { promise: 'P9', taskId: first.task.row.id, says: `message ${messageId} stands ${places.length} times: ${where}` };
    }
  }
}

/** P8: CANCELED answered means CANCELED stored; a refusal means that the task has ended otherwise. */
export function* cancelsHold(evidence: Evidence): Generator<Violation> {
  for (const fact of factsOf(evidence, 'cancel')) {
    const stored = evidence.stored.get(fact.taskId);
    if (stored) yield* cancelHolds(fact, stored);
  }
}

function* cancelHolds({ taskId, observer, outcome }: CancelFact, { row }: StoredTask): Generator<Violation> {
  if (outcome.kind === 'task') {
    const { state } = outcome.task.status;
    if (state !== 'TASK_STATE_CANCELED') yield { promise: 'P8', taskId, says: `${observer} was answered ${state} to a cancel` };
    else if (row.state !== state) yield { promise: 'P8', taskId, says: `${observer} was answered CANCELED, the store has ${row.state}` };
  }
  if (outcome.kind === 'error' && outcome.code === 'TASK_NOT_CANCELABLE') {
    const isRight = isTerminal(row.state) && row.state !== 'TASK_STATE_CANCELED';
    if (!isRight) yield { promise: 'P8', taskId, says: `${observer} was refused a cancel, the store has ${row.state}` };
  }
}

interface Place {
  readonly task: StoredTask;
  readonly entry: Entry & { readonly kind: 'message' };
}

function messagesOf({ stored }: Evidence): ReadonlyMap<string, readonly Place[]> {
  const found = new Map<string, Place[]>();
  for (const task of stored.values()) {
    for (const entry of task.entries) {
      if (entry.kind !== 'message') continue;
      const places = found.get(entry.message.messageId) ?? [];
      places.push({ task, entry });
      found.set(entry.message.messageId, places);
    }
  }
  return found;
}

/** An error that names a task, to a message that named none, comes from that task's own log (P7): the message was accepted too. */
function isAccepted({ taskId, outcome }: SendFact): boolean {
  return outcome.kind === 'task' || (outcome.kind === 'error' && taskId === undefined && outcome.metadata['taskId'] !== undefined);
}

/** A message opens a turn in the same commit, or waits for one that takes or answers it, or the task ends for all who wait. */
function* causeOf({ row, entries }: StoredTask, message: Place['entry']): Generator<Violation> {
  const next = entries[message.seq];
  if (message.turn > 0) {
    const isCaused = next?.kind === 'status' && next.answers === message.seq && next.turn === message.turn;
    if (!isCaused) {
      yield {
        promise: 'P5',
        taskId: row.id,
        says: `the message at ${message.seq} opens a turn, and ${next ? said(next) : 'nothing'} follows`,
      };
    } else if (next.state !== 'TASK_STATE_SUBMITTED' && next.state !== 'TASK_STATE_WORKING') {
      yield { promise: 'P5', taskId: row.id, says: `the message at ${message.seq} republished ${next.state}` };
    }
    return;
  }
  const takings = entries.filter((entry) => entry.kind === 'taken' && entry.messages.includes(message.seq)).length;
  const isAnswered = entries.some((entry) => entry.kind === 'status' && entry.answers === message.seq);
  const count = takings + (isAnswered ? 1 : 0);
  if (count > 1) yield { promise: 'P9', taskId: row.id, says: `the message at ${message.seq} was taken or answered ${count} times` };
  // COMPLETED ends a turn and not the waiting: only the other ends are ends for all who wait
  const isCleared = isTerminal(row.state) && row.state !== 'TASK_STATE_COMPLETED';
  if (count === 0 && !isCleared && !row.waiting.includes(message.seq)) {
    yield { promise: 'P5', taskId: row.id, says: `the message at ${message.seq} waits for a turn that never comes` };
  }
}

/** Whether a task is what its log folded to at some moment. Only moments with the same status and the same amount of parts are folded. */
function isPrefix(task: Task, stored: StoredTask, historyLength?: number): boolean {
  const wanted = canonical(task);
  if (historyLength === undefined && wanted === wholeText(stored)) return true; // most answers are about what has ended
  let parts = new Map<string, number>();
  let isAt = false;
  for (const entry of stored.entries) {
    if (entry.kind === 'status') isAt = entry.state === task.status.state && new Date(entry.at).toISOString() === task.status.timestamp;
    if (entry.kind === 'artifact') {
      const before = entry.append ? (parts.get(entry.artifact.artifactId) ?? 0) : 0;
      parts = parts.set(entry.artifact.artifactId, before + entry.artifact.parts.length);
    }
    if (isAt && hasParts(task, parts) && canonical(shortened(foldTo(stored, entry.seq), historyLength)) === wanted) return true;
  }
  return false;
}

function hasParts({ artifacts = [] }: Task, parts: ReadonlyMap<string, number>): boolean {
  return artifacts.length === parts.size && artifacts.every((artifact) => parts.get(artifact.artifactId) === artifact.parts.length);
}
