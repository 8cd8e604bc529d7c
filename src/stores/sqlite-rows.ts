import { assert } from '../ground/assert.ts';
import type { EntryRow } from '../log/entry.ts';
import type { KeyRecord } from '../log/rules/accept.ts';
import type { ReplicaRow } from '../log/rules/living.ts';
import type { TaskRow, TurnLimits, TurnPhase } from '../log/store.ts';
import { isTerminal } from '../protocol/states.ts';
import type { TaskState } from '../protocol/types.ts';
import type { SqlRow, SqlValue } from './sqlite-driver.ts';

/** A row in the making: optional columns are set one by one, a spread for each would cost more than all the rest. */
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A task's row with its number in the file. */
export interface NumberedRow {
  readonly no: number;
  readonly row: TaskRow;
}

/** The columns of chorus_task that never change; an update that named them would write their indexes anew. */
const IDENTITY_COLUMNS = ['id', 'agent', 'tenant', 'owner', 'context_id'] as const;

/** The columns that a change may set, in the order of `progressValues`. */
export const PROGRESS_COLUMNS = [
  'state',
  'is_terminal',
  'status_at',
  'status_seq',
  'seq',
  'bytes',
  'turn',
  'phase',
  'answers',
  'is_resumed',
  'fence',
  'attempt',
  'tries',
  'holder',
  'ordinal',
  'waiting',
  'is_interrupted',
  'queued_at',
  'due_at',
  'limits',
] as const;

/** All columns of chorus_task beside `no`, in the order of `taskValues`. */
export const TASK_COLUMNS: readonly string[] = [...IDENTITY_COLUMNS, ...PROGRESS_COLUMNS];

export const SELECT_TASKS: string = `SELECT no, ${TASK_COLUMNS.join(', ')} FROM chorus_task`;
export const SELECT_TASK: string = `${SELECT_TASKS} WHERE id = ?`;

/** The columns of chorus_entry beside `no`, in the order of `entryValues`. */
export const ENTRY_COLUMNS = ['task_no', 'seq', 'kind', 'turn', 'fence', 'ordinal', 'state', 'answers', 'at', 'hint', 'body'] as const;

export function taskValues(row: TaskRow): readonly SqlValue[] {
  return [row.id, row.agent, row.tenant, row.owner, row.contextId, ...progressValues(row)];
}

export function progressValues(row: TaskRow): readonly SqlValue[] {
  return [
    row.state,
    isTerminal(row.state) ? 1 : 0,
    row.statusAt,
    row.statusSeq,
    row.seq,
    row.bytes,
    row.turn,
    row.phase,
    row.answers,
    row.isResumed ? 1 : 0,
    row.fence,
    row.attempt,
    row.tries,
    row.holder ?? null,
    row.ordinal,
    JSON.stringify(row.waiting),
    row.isInterrupted ? 1 : 0,
    row.queuedAt ?? null,
    row.dueAt ?? null,
    limitsText(row.limits),
  ];
}

export function entryValues(taskNo: number, entry: EntryRow, hint: number): readonly SqlValue[] {
  const { seq, kind, turn, fence, ordinal = null, state = null, answers = null, at, body } = entry;
  return [taskNo, seq, kind, turn, fence, ordinal, state, answers, at, hint, body];
}

export function toTask(columns: SqlRow): NumberedRow {
  const holder = optionalText(columns, 'holder');
  const queuedAt = optionalNumber(columns, 'queued_at');
  const dueAt = optionalNumber(columns, 'due_at');
  const row: Mutable<TaskRow> = {
    id: text(columns, 'id'),
    agent: text(columns, 'agent'),
    tenant: text(columns, 'tenant'),
    owner: text(columns, 'owner'),
    contextId: text(columns, 'context_id'),
    state: text(columns, 'state') as TaskState, // only states are written there; one of a newer version is carried along
    statusAt: number(columns, 'status_at'),
    statusSeq: number(columns, 'status_seq'),
    seq: number(columns, 'seq'),
    bytes: number(columns, 'bytes'),
    turn: number(columns, 'turn'),
    phase: text(columns, 'phase') as TurnPhase, // only phases are written there
    answers: number(columns, 'answers'),
    isResumed: number(columns, 'is_resumed') === 1,
    fence: number(columns, 'fence'),
    attempt: number(columns, 'attempt'),
    tries: number(columns, 'tries'),
    ordinal: number(columns, 'ordinal'),
    waiting: waitingOf(text(columns, 'waiting')),
    isInterrupted: number(columns, 'is_interrupted') === 1,
    limits: limitsOf(text(columns, 'limits')),
  };
  if (holder !== undefined) row.holder = holder;
  if (queuedAt !== undefined) row.queuedAt = queuedAt;
  if (dueAt !== undefined) row.dueAt = dueAt;
  return { no: number(columns, 'no'), row };
}

export function toEntry(columns: SqlRow): EntryRow {
  const ordinal = optionalNumber(columns, 'ordinal');
  const state = optionalText(columns, 'state') as TaskState | undefined; // only states are written there
  const answers = optionalNumber(columns, 'answers');
  const entry: Mutable<EntryRow> = {
    seq: number(columns, 'seq'),
    kind: text(columns, 'kind'),
    turn: number(columns, 'turn'),
    fence: number(columns, 'fence'),
    at: number(columns, 'at'),
    body: text(columns, 'body'),
  };
  if (ordinal !== undefined) entry.ordinal = ordinal;
  if (state !== undefined) entry.state = state;
  if (answers !== undefined) entry.answers = answers;
  return entry;
}

export function toKeyRecord(columns: SqlRow): KeyRecord {
  const turn = optionalNumber(columns, 'turn');
  return {
    digest: text(columns, 'digest'),
    seq: number(columns, 'seq'),
    messageSeq: number(columns, 'message_seq'),
    ...(turn === undefined ? {} : { turn }),
  };
}

export function toReplica(columns: SqlRow): ReplicaRow {
  const diedAt = optionalNumber(columns, 'died_at');
  return { replica: text(columns, 'id'), beat: number(columns, 'beat'), ...(diedAt === undefined ? {} : { diedAt }) };
}

export function text(columns: SqlRow, name: string): string {
  const value = columns[name];
  assert(typeof value === 'string', `sqlite: column ${name} holds text`);
  return value;
}

export function number(columns: SqlRow, name: string): number {
  const value = columns[name];
  assert(typeof value === 'number', `sqlite: column ${name} holds a number`);
  return value;
}

function optionalText(columns: SqlRow, name: string): string | undefined {
  return columns[name] === null ? undefined : text(columns, name);
}

export function optionalNumber(columns: SqlRow, name: string): number | undefined {
  return columns[name] === null ? undefined : number(columns, name);
}

// Nearly all rows of a program carry one of a few sets of limits and wait for nothing: those texts are made and read once.
const limitsByText = new Map<string, TurnLimits>();
const textByLimits = new WeakMap<TurnLimits, string>();
export const LIMITS_KEPT_MAX = 1_000;
const nothing: readonly number[] = [];

function limitsText(limits: TurnLimits): string {
  const known = textByLimits.get(limits);
  if (known !== undefined) return known;
  const made = JSON.stringify(limits);
  textByLimits.set(limits, made);
  return made;
}

function limitsOf(json: string): TurnLimits {
  const known = limitsByText.get(json);
  if (known !== undefined) return known;
  const limits = JSON.parse(json) as TurnLimits; // written by limitsText alone
  if (limitsByText.size >= LIMITS_KEPT_MAX) limitsByText.clear();
  limitsByText.set(json, limits);
  textByLimits.set(limits, json);
  return limits;
}

/** How many of those texts are kept. */
export function limitsKept(): number {
  return limitsByText.size;
}

function waitingOf(json: string): readonly number[] {
  return json === '[]' ? nothing : (JSON.parse(json) as readonly number[]); // written by taskValues alone
}
