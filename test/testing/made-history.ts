import type { Entry } from '../../src/log/entry.ts';
import type { TaskRow } from '../../src/log/store.ts';
import { isTerminal } from '../../src/protocol/states.ts';
import type { Task, TaskState } from '../../src/protocol/types.ts';
import type { StoredTask } from '../../src/testing/checks/check.ts';
import { foldTo } from '../../src/testing/checks/folding.ts';
import type { Fact } from '../../src/testing/facts.ts';

export const T0: number = Date.UTC(2026, 0, 1);
export const TASK = 'task-1';
const CONTEXT = 'context-1';

type Head = Pick<Entry, 'taskId' | 'seq' | 'turn' | 'fence' | 'at' | 'bytes'>;

const head = (seq: number, more: Partial<Head> = {}): Head => ({ taskId: TASK, seq, turn: 1, fence: 1, at: T0 + seq, bytes: 2, ...more });

export const message = (seq: number, messageId: string, more: Partial<Head> = {}): Entry => ({
  ...head(seq, more),
  kind: 'message',
  message: { messageId, role: 'ROLE_USER', parts: [{ text: 'hi' }] },
  caller: {},
});

export const status = (
  seq: number,
  state: TaskState,
  more: Partial<Head> & { ordinal?: number; answers?: number; metadata?: Record<string, { code: string }>; text?: string } = {},
): Entry => {
  const { text, ...rest } = more;
  const words = text === undefined ? {} : { message: { messageId: `m-${seq}`, role: 'ROLE_AGENT' as const, parts: [{ text }] } };
  return { ...head(seq), kind: 'status', state, ...words, ...rest };
};

export const chunk = (seq: number, ordinal: number, text: string, more: Partial<Head> = {}): Entry => ({
  ...head(seq, more),
  kind: 'artifact',
  ordinal,
  artifact: { artifactId: 'out', parts: [{ text }] },
  append: ordinal > 1,
});

export const taken = (seq: number, ordinal: number, messages: readonly number[]): Entry => ({
  ...head(seq),
  kind: 'taken',
  ordinal,
  messages,
});

/** A task that was asked, wrote two chunks and completed. */
export const completed: readonly Entry[] = [
  message(1, 'm1'),
  status(2, 'TASK_STATE_WORKING', { answers: 1 }),
  chunk(3, 1, '1 '),
  chunk(4, 2, '2 '),
  status(5, 'TASK_STATE_COMPLETED', { ordinal: 3, text: 'done' }),
];

export const canceled: readonly Entry[] = [...completed.slice(0, 4), status(5, 'TASK_STATE_CANCELED', { fence: 2 })];

export function stored(entries: readonly Entry[], more: Partial<TaskRow> = {}): StoredTask {
  const last = entries.findLast((entry) => entry.kind === 'status');
  const state = last?.kind === 'status' ? last.state : 'TASK_STATE_WORKING';
  const isClosed = isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED';
  const row: TaskRow = {
    agent: 'a',
    tenant: '',
    owner: '',
    id: TASK,
    contextId: CONTEXT,
    state,
    statusAt: last?.at ?? T0,
    statusSeq: last?.seq ?? 0,
    seq: entries.length,
    bytes: 0,
    turn: 1,
    phase: isClosed ? 'closed' : 'open',
    answers: 1,
    isResumed: false,
    fence: entries.at(-1)?.fence ?? 1,
    attempt: 1,
    tries: 0,
    ordinal: 0,
    waiting: [],
    isInterrupted: false,
    limits: { onLost: 'fail', triesMax: 3, queueMs: 1, pausedTtlMs: 1, retentionMs: 1, entriesMax: 1, bytesMax: 1 },
    ...more,
  };
  return { row, entries };
}

export const taskAt = (task: StoredTask, seq: number): Task => foldTo(task, seq) as Task; // the histories below begin with a status

/** What an observer sees that follows a task from a snapshot at `from` to the end, as the server would tell it. */
export function observed(task: StoredTask, from: number, observer = 'o1'): Fact[] {
  const base = { at: T0, observer, replica: 'A' };
  const facts: Fact[] = [
    { ...base, kind: 'open', how: 'subscribe', taskId: TASK },
    { ...base, kind: 'item', taskId: TASK, seq: from, item: { task: taskAt(task, from) } },
  ];
  for (const entry of task.entries.slice(from)) {
    if (entry.kind === 'status') {
      const { state, message: words, metadata, at } = entry;
      const update = { state, timestamp: new Date(at).toISOString(), ...(words ? { message: words } : {}) };
      const statusUpdate = { taskId: TASK, contextId: CONTEXT, status: update, ...(metadata ? { metadata } : {}) };
      facts.push({ ...base, kind: 'item', taskId: TASK, seq: entry.seq, item: { statusUpdate } });
    }
    if (entry.kind === 'artifact') {
      const { artifact, append } = entry;
      const artifactUpdate = { taskId: TASK, contextId: CONTEXT, artifact, ...(append ? { append } : {}) };
      facts.push({ ...base, kind: 'item', taskId: TASK, seq: entry.seq, item: { artifactUpdate } });
    }
  }
  facts.push({ ...base, kind: 'close', taskId: TASK, how: 'ended' });
  return facts;
}
