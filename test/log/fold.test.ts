import { expect, test } from 'vitest';
import type { Entry } from '../../src/log/entry.ts';
import { TaskFold } from '../../src/log/fold.ts';
import type { Message, Task } from '../../src/protocol/types.ts';

const said = (messageId: string, role: Message['role'] = 'ROLE_AGENT'): Message => ({ messageId, role, parts: [{ text: messageId }] });

type Loose = Record<string, unknown> & { kind: string };

/** A log from short descriptions: seq counts up, the rest is the same for all. */
function log(...entries: readonly Loose[]): Entry[] {
  return entries.map(
    (entry, index) => ({ taskId: 't', seq: index + 1, turn: 1, fence: 1, at: 1_000 + index, bytes: 10, ...entry }) as unknown as Entry,
  );
}

function fold(...entries: readonly Loose[]): Task {
  const folded = new TaskFold('t', 'c');
  for (const entry of log(...entries)) folded.apply(entry);
  const task = folded.task();
  if (!task) throw new Error('no status yet');
  return task;
}

const user = (id: string): Loose => ({ kind: 'message', message: said(id, 'ROLE_USER'), caller: {} });
const status = (state: string, message?: string, metadata?: unknown): Loose => ({
  kind: 'status',
  state: `TASK_STATE_${state}`,
  ...(message ? { message: said(message) } : {}),
  ...(metadata ? { metadata } : {}),
});
const chunk = (artifactId: string, text: string, more: { readonly append?: boolean; readonly artifact?: object } = {}): Loose => ({
  kind: 'artifact',
  artifact: { artifactId, parts: [{ text }], ...more.artifact },
  ...(more.append ? { append: true } : {}),
});
const ids = (task: Task): string[] => (task.history ?? []).map((message) => message.messageId);

test('a question stands before its answer although the answer is logged before the status that retires it (AMB-14)', () => {
  const before = fold(user('u1'), status('WORKING'), status('INPUT_REQUIRED', 'question'));
  expect(ids(before)).toEqual(['u1']);
  expect(before.status.message?.messageId).toBe('question');
  const after = fold(user('u1'), status('WORKING'), status('INPUT_REQUIRED', 'question'), user('u2'), status('WORKING'));
  expect(ids(after)).toEqual(['u1', 'question', 'u2']);
  expect(after.status.message).toBeUndefined();
});

test('each message stands once, over several turns and repeated statuses (case 64)', () => {
  const task = fold(
    user('u1'),
    status('WORKING', 'a'),
    status('WORKING', 'b'),
    status('INPUT_REQUIRED', 'q1'),
    user('u2'),
    status('SUBMITTED'),
    status('WORKING', 'c'),
    status('COMPLETED', 'bye'),
  );
  expect(ids(task)).toEqual(['u1', 'a', 'b', 'q1', 'u2', 'c']);
  expect(task.status.message?.messageId).toBe('bye');
});

test('history messages carry the ids of their task and context', () => {
  expect(fold(user('u1'), status('WORKING')).history?.[0]).toMatchObject({ taskId: 't', contextId: 'c' });
});

test('metadata of statuses is merged key by key, the newest value wins (AMB-34)', () => {
  const task = fold(status('WORKING', undefined, { a: 1, b: { x: 1 } }), status('WORKING', undefined, { b: 2, c: null }));
  expect(task.metadata).toEqual({ a: 1, b: 2, c: null });
});

test('append adds parts as they are, replace starts anew, an unknown id is created (AMB-09, case 56)', () => {
  const task = fold(
    status('WORKING'),
    chunk('x', 'lost', { append: true, artifact: { name: 'first', metadata: { a: 1 } } }),
    chunk('y', 'one'),
    chunk('y', 'two', { append: true, artifact: { metadata: { b: 2 }, description: 'd' } }),
    chunk('y', 'three', { append: true, artifact: { name: '', metadata: { b: 3 } } }),
    chunk('x', 'new'),
  );
  expect(task.artifacts).toEqual([
    { artifactId: 'x', parts: [{ text: 'new' }] },
    { artifactId: 'y', parts: [{ text: 'one' }, { text: 'two' }, { text: 'three' }], metadata: { b: 3 }, description: 'd' },
  ]);
});

test('a snapshot does not change when the fold grows (case 35)', () => {
  const folded = new TaskFold('t', 'c');
  const [first, second, third] = log(status('WORKING'), chunk('x', '1'), chunk('x', '2', { append: true }));
  if (!first || !second || !third) throw new Error('three entries');
  folded.apply(first);
  folded.apply(second);
  const early = folded.task();
  folded.apply(third);
  expect(early?.artifacts?.[0]?.parts).toHaveLength(1);
  expect(folded.task()?.artifacts?.[0]?.parts).toHaveLength(2);
});

test('absent members are absent: no empty artifacts, history or metadata', () => {
  expect(Object.keys(fold(status('WORKING')))).toEqual(['id', 'contextId', 'status']);
});

test('kinds of a newer version fold to nothing', () => {
  const plain = fold(status('WORKING'), chunk('x', '1'));
  const newer = fold(
    status('WORKING'),
    { kind: 'unknown' },
    { kind: 'taken', messages: [1] },
    { kind: 'closed' },
    { ...chunk('x', '1'), at: 1_001 },
  );
  expect(newer).toEqual(plain);
});

test('entries out of order are a programmer error', () => {
  const folded = new TaskFold('t', 'c');
  const [, second] = log(status('WORKING'), status('WORKING'));
  expect(() => second && folded.apply(second)).toThrow(/dense/);
});

test('a fold of stream items is the task without the user messages, and a task item replaces everything', () => {
  const seen = new TaskFold('t');
  seen.see({
    task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' }, artifacts: [{ artifactId: 'x', parts: [{ text: '1' }] }] },
  });
  seen.see({ artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'x', parts: [{ text: '2' }] }, append: true } });
  seen.see({ statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_INPUT_REQUIRED', message: said('q') } } });
  seen.see({ statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, metadata: { k: 1 } } });
  expect(seen.task()).toEqual({
    id: 't',
    contextId: 'c',
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: 'x', parts: [{ text: '1' }, { text: '2' }] }],
    history: [said('q')],
    metadata: { k: 1 },
  });
  seen.see({ task: { id: 't', status: { state: 'TASK_STATE_FAILED' } } });
  expect(seen.task()).toEqual({ id: 't', status: { state: 'TASK_STATE_FAILED' } });
});
