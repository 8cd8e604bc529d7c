import { assertNever } from '../../ground/assert.ts';
import type { Entry } from '../../log/entry.ts';
import { TaskFold } from '../../log/fold.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { StreamResponse, Task } from '../../protocol/types.ts';
import type { CloseFact, Fact, ItemFact, LeaveFact, OpenFact } from '../facts.ts';
import type { Evidence, StoredTask, Violation } from './check.ts';
import { canonical, difference, factsOf } from './check.ts';
import { foldTo, shortened } from './folding.ts';

/** What one observer saw of one task, over all its connections, in order. */
interface Observation {
  readonly taskId: string;
  readonly observer: string;
  readonly facts: (OpenFact | ItemFact | CloseFact)[];
}

/** P1: each observer saw the shown entries of the log in their order, none missing, none twice, over all its connections. */
export function* equalLists(evidence: Evidence): Generator<Violation> {
  const leaving = leavingOf(evidence);
  for (const observation of observations(evidence)) {
    const task = evidence.stored.get(observation.taskId);
    if (task) yield* walk(observation, task, leaving);
  }
}

/** P2: what an observer saw stands in the log, word by word; a snapshot is the fold of the log up to its id. */
export function* nothingUncommitted(evidence: Evidence): Generator<Violation> {
  for (const { taskId, observer, facts } of observations(evidence)) {
    const task = evidence.stored.get(taskId);
    if (!task && facts.some(({ kind }) => kind === 'item')) {
      yield { promise: 'P2', taskId, says: `${observer} saw a task that is not in the store` };
    }
    for (const fact of facts) if (task && fact.kind === 'item') yield* truthOf(fact, task);
  }
}

/** P3: no observer saw anything behind a terminal status, and all saw the same one. */
export function* oneEndForAll(evidence: Evidence): Generator<Violation> {
  const ends = new Map<string, Map<string, string>>();
  for (const { taskId, observer, facts } of observations(evidence)) {
    let end: string | undefined;
    for (const fact of facts) {
      if (fact.kind !== 'item') continue;
      const state = stateIn(fact.item);
      if (end !== undefined && !('task' in fact.item)) yield { promise: 'P3', taskId, says: `${observer} saw an item behind ${end}` };
      if (state === undefined || !isTerminal(state)) continue;
      end = state;
      ends.set(taskId, (ends.get(taskId) ?? new Map<string, string>()).set(state, observer));
    }
  }
  for (const [taskId, states] of ends) {
    if (states.size > 1) yield { promise: 'P3', taskId, says: `observers saw different ends: ${[...states.keys()].join(', ')}` };
  }
}

/** The fold of what an observer saw to the end is the task, but for what users said: their messages are on no stream (AMB-35). */
export function* foldsAgree(evidence: Evidence): Generator<Violation> {
  for (const { taskId, observer, facts } of observations(evidence)) {
    const task = evidence.stored.get(taskId);
    if (!task) continue;
    const items = facts.flatMap((fact) => (fact.kind === 'item' ? [fact.item] : []));
    const start = items.findLastIndex((item) => 'task' in item);
    const last = items.at(-1);
    if (start === -1 || !last || !isTerminal(stateIn(last) ?? 'TASK_STATE_WORKING')) continue;
    const fold = new TaskFold(taskId);
    for (const item of items.slice(start)) fold.see(item);
    const [seen = '', stands = ''] = [fold.task(), foldTo(task, task.row.seq)].map((one) => canonical(one && withoutUsers(one)));
    if (seen !== stands)
      yield { promise: 'P1', taskId, says: `what ${observer} saw does not fold to the task: ${difference(seen, stands)}` };
  }
}

/** Facts about streams by task and observer. */
function observations({ facts }: Evidence): Iterable<Observation> {
  const found = new Map<string, Observation>();
  for (const fact of facts) {
    if (!isOfStream(fact) || fact.taskId === undefined) continue;
    const key = `${fact.taskId} ${fact.observer}`;
    const one = found.get(key) ?? { taskId: fact.taskId, observer: fact.observer, facts: [] };
    one.facts.push(fact);
    found.set(key, one);
  }
  return found.values();
}

function isOfStream(fact: Fact): fact is OpenFact | ItemFact | CloseFact {
  return fact.kind === 'open' || fact.kind === 'item' || fact.kind === 'close';
}

function* walk({ taskId, observer, facts }: Observation, task: StoredTask, leaving: Leaving): Generator<Violation> {
  const wrong = (says: string): Violation => ({ promise: 'P1', taskId, says: `${observer} ${says}` });
  let reached: number | undefined;
  let how: OpenFact['how'] = 'subscribe';
  for (const fact of facts) {
    if (fact.kind === 'open') {
      how = fact.how;
      // a cursor is a promise of the observer's: it has seen everything up to it
      if (fact.after !== undefined) reached = fact.after;
      continue;
    }
    if (fact.kind === 'close') {
      if (fact.how !== 'ended' || reached === undefined || hasLeft(fact, leaving)) continue;
      if (!mayEndAt(task, reached, how)) yield wrong(`was told the end at ${reached}, and the log goes on to ${task.row.seq}`);
      continue;
    }
    const { seq, item } = fact;
    if (seq === undefined) yield wrong('saw an item without an id');
    else if ('task' in item) {
      if (reached !== undefined && seq < reached) yield wrong(`saw a snapshot as of ${seq} after ${reached}`);
      reached = seq;
    } else {
      const due = nextShown(task, reached ?? 0);
      if (seq !== due) yield wrong(`saw ${seq} after ${reached ?? 'nothing'}, where ${due ?? 'nothing'} was due`);
      reached = Math.max(seq, reached ?? 0);
    }
  }
}

/** When replicas were leaving: in that time they end streams without an end event (design section 6, SIGTERM). */
type Leaving = readonly LeaveFact[];

function leavingOf(evidence: Evidence): Leaving {
  return factsOf(evidence, 'leave');
}

function hasLeft({ replica, at }: CloseFact, leaving: Leaving): boolean {
  if (replica === undefined) return false;
  return leaving.some((leave) => leave.replica === replica && at >= leave.at && at < (leave.until ?? Number.POSITIVE_INFINITY));
}

/** A server ends a stream at a terminal status, and that of a send where its turn asks the user (AMB-01). */
function mayEndAt({ entries }: StoredTask, seq: number, how: OpenFact['how']): boolean {
  const status = entries.findLast((entry) => entry.seq <= seq && entry.kind === 'status');
  if (status?.kind !== 'status') return false;
  return isTerminal(status.state) || (how === 'send' && status.state === 'TASK_STATE_INPUT_REQUIRED');
}

/** The id that is due to an observer that has seen everything up to `seq`. */
function nextShown({ entries }: StoredTask, seq: number): number | undefined {
  for (let index = seq; index < entries.length; index++) {
    const entry = entries[index];
    if (entry && isShown(entry)) return entry.seq;
  }
  return undefined;
}

function* truthOf({ taskId, observer, seq, item, historyLength }: ItemFact, task: StoredTask): Generator<Violation> {
  if (seq === undefined || seq > task.entries.length) {
    yield { promise: 'P2', taskId, says: `${observer} saw ${seq ?? 'an item without id'}, which is not in the log` };
    return;
  }
  const stands = 'task' in item ? { task: shortened(foldTo(task, seq), historyLength) } : itemOf(task.entries[seq - 1], task);
  const [seen, stored] = [canonical(item), canonical(stands)];
  if (seen !== stored)
    yield { promise: 'P2', taskId, says: `${observer} saw at ${seq} what is not in the log: ${difference(seen, stored)}` };
}

/** The item that shows an entry, made here anew from the log: the server's own words are what is checked. */
function itemOf(entry: Entry | undefined, { row }: StoredTask): StreamResponse | undefined {
  switch (entry?.kind) {
    case undefined:
    case 'message':
    case 'taken':
    case 'closed':
    case 'unknown':
      return undefined;
    case 'status': {
      const { state, message, metadata, at } = entry;
      const status = { state, timestamp: new Date(at).toISOString(), ...(message ? { message } : {}) };
      return { statusUpdate: { taskId: row.id, contextId: row.contextId, status, ...(metadata ? { metadata } : {}) } };
    }
    case 'artifact': {
      const { artifact, append = false, lastChunk = false, metadata } = entry;
      return {
        artifactUpdate: { taskId: row.id, contextId: row.contextId, artifact, append, lastChunk, ...(metadata ? { metadata } : {}) },
      };
    }
    default:
      return assertNever(entry);
  }
}

function isShown({ kind }: Entry): boolean {
  return kind === 'status' || kind === 'artifact';
}

/** The state an item tells, if it tells one. */
export function stateIn(item: StreamResponse): Task['status']['state'] | undefined {
  if ('task' in item) return item.task.status.state;
  return 'statusUpdate' in item ? item.statusUpdate.status.state : undefined;
}

/** A task without what users said: their messages are on no stream (AMB-35). */
export function withoutUsers(task: Task): Task {
  const { history, ...rest } = task;
  const said = history?.filter((message) => message.role !== 'ROLE_USER') ?? [];
  return { ...rest, ...(said.length > 0 ? { history: said } : {}) };
}
