import { expect, test } from 'vitest';
import type { EntryRow } from '../../src/log/entry.ts';
import { Folds } from '../../src/log/folds.ts';
import { Follower, type FollowItem } from '../../src/log/follow.ts';
import { Latches } from '../../src/log/latches.ts';
import type { EntriesAsk, EntriesOfTask, Store } from '../../src/log/store.ts';
import { Tail } from '../../src/log/tail.ts';

/** Logs in memory behind the one verb that a tail uses; each read can be held back. */
class Logs {
  readonly logs = new Map<string, EntryRow[]>();
  readonly reads: EntriesAsk[] = [];
  roomFor = Number.POSITIVE_INFINITY;
  #gate: Promise<void> = Promise.resolve();

  add(taskId: string, ...states: string[]): void {
    const rows = this.logs.get(taskId) ?? [];
    this.logs.set(taskId, rows);
    for (const state of states) {
      rows.push({ seq: rows.length + 1, kind: 'status', state: `TASK_STATE_${state}` as never, turn: 1, fence: 1, at: 0, body: '{}' });
    }
  }

  hold(): () => void {
    let open = (): void => {};
    this.#gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  readonly store: Store = {
    entries: async (ask: EntriesAsk): Promise<EntriesOfTask[]> => {
      this.reads.push(ask);
      // the store decides when the call arrives, the answer may take long
      const answer = ask.wants.slice(0, this.roomFor).map(({ taskId, after, upTo = Number.POSITIVE_INFINITY }) => ({
        taskId,
        rows: (this.logs.get(taskId) ?? []).filter((row) => row.seq > after && row.seq <= upTo).slice(0, ask.entriesMax),
        isGone: !this.logs.has(taskId),
      }));
      await this.#gate;
      return answer;
    },
  } as unknown as Store;
}

async function collect(items: AsyncIterable<FollowItem>): Promise<(number | 'gone')[]> {
  const seen: (number | 'gone')[] = [];
  for await (const item of items) seen.push(...(item.kind === 'gone' ? (['gone'] as const) : item.entries.map((entry) => entry.seq)));
  return seen;
}

test('followers that want the same thing share one read, others go along in the same one', async () => {
  const logs = new Logs();
  logs.add('a', 'WORKING');
  logs.add('b', 'WORKING', 'WORKING');
  const tail = new Tail(logs.store);
  const answers = await Promise.all([tail.read('a', 0), tail.read('a', 0), tail.read('b', 1)]);
  expect(answers.map(({ entries }) => entries.map((entry) => entry.seq))).toEqual([[1], [1], [2]]);
  expect(logs.reads).toHaveLength(1);
  expect(logs.reads[0]?.wants).toHaveLength(2);
});

test('whoever asks while a read is under way gets a read that began later', async () => {
  const logs = new Logs();
  logs.add('a', 'WORKING');
  const tail = new Tail(logs.store);
  const open = logs.hold();
  const first = tail.read('a', 1);
  await Promise.resolve();
  expect(logs.reads).toHaveLength(1);
  logs.add('a', 'WORKING'); // after the store looked
  const second = tail.read('a', 1);
  open();
  expect((await first).entries).toHaveLength(0);
  expect((await second).entries).toHaveLength(1);
});

test('a want that found no room is asked again', async () => {
  const logs = new Logs();
  for (const id of ['a', 'b', 'c']) logs.add(id, 'WORKING');
  logs.roomFor = 1;
  const tail = new Tail(logs.store);
  const answers = await Promise.all(['a', 'b', 'c'].map((id) => tail.read(id, 0)));
  expect(answers.map((answer) => answer.entries.length)).toEqual([1, 1, 1]);
});

test('a failing read fails those who asked, the next one works', async () => {
  const logs = new Logs();
  logs.add('a', 'WORKING');
  let isDown = true;
  const store = {
    entries: (ask: EntriesAsk) => (isDown ? Promise.reject(new Error('down')) : logs.store.entries(ask)),
  } as unknown as Store;
  const tail = new Tail(store);
  await expect(tail.read('a', 0)).rejects.toThrow('down');
  isDown = false;
  expect((await tail.read('a', 0)).entries).toHaveLength(1);
});

test('what was just read is kept, and memory is bounded (P11)', async () => {
  const logs = new Logs();
  logs.add('a', ...Array.from({ length: 200 }, () => 'WORKING'));
  logs.add('b', 'WORKING');
  const tail = new Tail(logs.store, 50_000);
  await tail.read('b', 0);
  await tail.read('b', 0);
  expect(logs.reads).toHaveLength(1);
  await tail.read('a', 0); // 200 entries of half a kilobyte and more: too many, the oldest go
  await tail.read('b', 0);
  expect(logs.reads).toHaveLength(3);
});

test('what is kept answers nobody whose cursor it does not reach down to (P1)', async () => {
  const logs = new Logs();
  logs.add('a', 'SUBMITTED', 'WORKING', 'WORKING', 'WORKING', 'COMPLETED');
  const tail = new Tail(logs.store);
  tail.offer('a', (logs.logs.get('a') ?? []).slice(3)); // as a task's read brings them, to who has folded the rest
  const seqs = async (after: number): Promise<readonly number[]> => (await tail.read('a', after)).entries.map(({ seq }) => seq);
  expect(await seqs(3)).toEqual([4, 5]);
  expect(logs.reads).toHaveLength(0);
  expect(await seqs(1)).toEqual([2, 3, 4, 5]);
  expect(logs.reads).toHaveLength(1);
});

test('a follower sees every entry once and ends after the terminal one (P1)', async () => {
  const logs = new Logs();
  const latches = new Latches();
  const tail = new Tail(logs.store);
  logs.add('a', 'SUBMITTED');
  const seen = collect(new Follower({ taskId: 'a', after: 0 }, { tail, latches, signal: new AbortController().signal }));
  for (const state of ['WORKING', 'WORKING', 'COMPLETED']) {
    await Promise.resolve();
    logs.add('a', state);
    latches.set('a', logs.logs.get('a')?.length ?? 0);
  }
  expect(await seen).toEqual([1, 2, 3, 4]);
  expect(latches.isWatching).toBe(false);
});

test('a hint that comes during the read is not lost: no follower sleeps while its log has grown', async () => {
  const logs = new Logs();
  const latches = new Latches();
  logs.add('a', 'WORKING');
  const open = logs.hold();
  const seen = collect(
    new Follower({ taskId: 'a', after: 1 }, { tail: new Tail(logs.store), latches, signal: new AbortController().signal }),
  );
  await new Promise((resolve) => setImmediate(resolve)); // the read is at the store, which found nothing
  logs.add('a', 'COMPLETED');
  latches.set('a', 2);
  open();
  expect(await seen).toEqual([2]);
});

test('hints about what is known already wake nobody', async () => {
  const logs = new Logs();
  const latches = new Latches();
  logs.add('a', 'WORKING');
  const stop = new AbortController();
  const seen = collect(new Follower({ taskId: 'a', after: 1 }, { tail: new Tail(logs.store), latches, signal: stop.signal }));
  await new Promise((resolve) => setImmediate(resolve));
  latches.set('a', 1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(logs.reads).toHaveLength(1);
  expect(latches.watched()).toEqual([{ taskId: 'a', seq: 1 }]);
  stop.abort();
  expect(await seen).toEqual([]);
  expect(latches.isWatching).toBe(false);
});

test('a follower of a purged task ends with one item that says so', async () => {
  const logs = new Logs();
  const latches = new Latches();
  logs.add('a', 'WORKING');
  const seen = collect(
    new Follower({ taskId: 'a', after: 1 }, { tail: new Tail(logs.store), latches, signal: new AbortController().signal }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  logs.logs.delete('a');
  latches.set('a', Number.MAX_SAFE_INTEGER);
  expect(await seen).toEqual(['gone']);
});

test('a fold is exactly as of the seq that was asked for, whatever others fold meanwhile (P2, case 35)', async () => {
  const logs = new Logs();
  logs.add('a', ...Array.from({ length: 600 }, () => 'WORKING'), 'SUBMITTED');
  const folds = new Folds(new Tail(logs.store));
  const row = { id: 'a', contextId: 'c' };
  const [early, late, middle] = await Promise.all([folds.foldTo(row, 1), folds.foldTo(row, 601), folds.foldTo(row, 300)]);
  expect([early, late, middle].map((task) => task?.status.state)).toEqual([
    'TASK_STATE_WORKING',
    'TASK_STATE_SUBMITTED',
    'TASK_STATE_WORKING',
  ]);
  expect(folds.reach('a')).toBe(601);
  expect((await folds.foldTo(row, 2))?.status.state).toBe('TASK_STATE_WORKING');
  expect(folds.reach('a')).toBe(601);
});

test('a fold takes nothing from beyond its seq, although one read brings more (P2)', async () => {
  const logs = new Logs();
  logs.add('a', 'SUBMITTED', 'WORKING', 'COMPLETED');
  const states = await Promise.all(
    [1, 2, 3].map((seq) => new Folds(new Tail(logs.store)).foldTo({ id: 'a', contextId: 'c' }, seq)), // each cold, so each reads all three
  );
  expect(states.map((task) => task?.status.state)).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
});

test('the cache of folds is bounded by what folds cost, not by what is written in them, and a task that is gone has no fold (case 100, P11)', async () => {
  const logs = new Logs();
  for (const id of ['a', 'b', 'c']) logs.add(id, 'WORKING', 'WORKING');
  const folds = new Folds(new Tail(logs.store), 5_000); // two small folds, although their bodies are 8 characters in all
  for (const id of ['a', 'b', 'c']) await folds.foldTo({ id, contextId: 'c' }, 2);
  expect(['a', 'b', 'c'].map((id) => folds.reach(id))).toEqual([0, 2, 2]);
  expect(await folds.foldTo({ id: 'x', contextId: 'c' }, 2)).toBeUndefined();
});

test.each(['COMPLETED', 'INPUT_REQUIRED', 'AUTH_REQUIRED'])(
  'a short log that rests on %s keeps no place in the cache (case 100)',
  async (rest) => {
    const logs = new Logs();
    logs.add('a', 'WORKING', rest);
    const folds = new Folds(new Tail(logs.store));
    await folds.foldTo({ id: 'a', contextId: 'c' }, 1);
    expect(folds.reach('a')).toBe(1);
    expect((await folds.foldTo({ id: 'a', contextId: 'c' }, 2))?.status.state).toBe(`TASK_STATE_${rest}`);
    expect(folds.reach('a')).toBe(0);
  },
);
