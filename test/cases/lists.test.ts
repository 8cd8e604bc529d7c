import { describe, expect, test } from 'vitest';
import type { ListTasksResponse, Task } from '../../src/protocol/types.ts';
import type { Wanted } from '../bindings/callers.ts';
import { callers, ended, eventually, exec, nextMillisecond, rounds, stageOf } from './support.ts';
import type { Stranger } from './support.ts';

const stage = stageOf({ flags: ['--purge-every-ms', '500'] });

const list = (who: Stranger, request: Wanted = {}): Promise<ListTasksResponse> => who.ask<ListTasksResponse>('ListTasks', request);
const idsOf = (tasks: readonly Task[]): readonly string[] => tasks.map(({ id }) => id);

/** All pages, one after the other. */
async function allPages(who: Stranger, request: Wanted, between?: () => Promise<unknown>): Promise<ListTasksResponse[]> {
  const pages: ListTasksResponse[] = [];
  for (let pageToken: string | undefined; pageToken !== '';) {
    const page = await list(who, { ...request, ...(pageToken === undefined ? {} : { pageToken }) });
    pages.push(page);
    pageToken = page.nextPageToken;
    await between?.();
  }
  return pages;
}

/** Gives tasks the time of the first one, in their rows and in their logs: as if all had ended at that moment. */
async function sameTimes(tasks: readonly Task[]): Promise<void> {
  const [first] = tasks;
  const at = Date.parse(first?.status.timestamp ?? '');
  const ids = tasks.map(({ id }) => `'${id}'`).join();
  const rows = `UPDATE chorus_task SET status_at = ${at} WHERE id IN (${ids});`;
  const entries = `UPDATE chorus_entry SET at = ${at} WHERE task_no IN (SELECT no FROM chorus_task WHERE id IN (${ids}))`;
  (await exec(stage.rig.store, rows + entries)).close();
}

const make = (who: Stranger, count: number, script = 'done'): Promise<Task[]> =>
  Promise.all(Array.from({ length: count }, () => who.send(script)));

describe('a list', () => {
  test.each(callers)('$name: without a filter holds all tasks, in every state (case 58, LIST-12, LIST-15, LIST-16)', async (raw) => {
    const who = stage.by(raw).as(`all ${raw.name}`);
    const tasks = [await who.send('done'), await who.send('ask'), await who.send('refuse no')];
    for (const request of [{}, { status: 'TASK_STATE_UNSPECIFIED' }, { contextId: '' }, { status: 0 }]) {
      const page = await list(who, request);
      expect(idsOf(page.tasks).toSorted()).toEqual(idsOf(tasks).toSorted());
      expect(page).toMatchObject({ totalSize: 3, pageSize: 50, nextPageToken: '' });
    }
    expect(idsOf((await list(who, { status: 'TASK_STATE_REJECTED' })).tasks)).toEqual([tasks[2]?.id]);
    expect(idsOf((await list(who, { contextId: tasks[1]?.contextId ?? '' })).tasks)).toEqual([tasks[1]?.id]);
    expect(await list(who, { contextId: 'nobody' })).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
  });

  test.each(callers)(
    '$name: that is empty has all its members, and no artifacts are sent unasked (case 62, LIST-07 to LIST-10, LIST-14)',
    async (raw) => {
      const who = stage.by(raw).as(`empty ${raw.name}`);
      const text = await (await who.fetch('ListTasks', {})).text();
      expect(text).toContain('{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}');
      await who.send('artifact a b; done');
      await nextMillisecond(); // or which of them is newer is chance
      await who.send('done');
      for (const request of [{}, { includeArtifacts: false }]) {
        for (const task of (await list(who, request)).tasks) expect(task).not.toHaveProperty('artifacts');
      }
      const { tasks } = await list(who, { includeArtifacts: true });
      expect(tasks.map(({ artifacts }) => artifacts?.map(({ parts }) => parts))).toEqual([[], [[{ text: 'b' }]]]);
    },
  );

  test.each(callers)(
    '$name: is read in pages, each task once, whatever is the same about them (case 59, LIST-02 to LIST-04, LIST-06)',
    async (raw) => {
      const who = stage.by(raw).as(`pages ${raw.name}`);
      const made: Task[] = [];
      const count = rounds(250, 60);
      while (made.length < count) made.push(...(await make(who, Math.min(50, count - made.length))));
      await sameTimes(made.slice(0, 20)); // three pages of one and the same moment
      const pages = await allPages(who, { pageSize: 7 });
      const shown = pages.flatMap(({ tasks }) => tasks);
      expect(idsOf(shown).toSorted()).toEqual(idsOf(made).toSorted());
      const times = shown.map(({ status }) => status.timestamp ?? '');
      expect(times).toEqual(times.toSorted().toReversed());
      for (const page of pages.slice(0, -1)) expect(page).toMatchObject({ pageSize: 7, totalSize: count, tasks: { length: 7 } });
      expect(pages.at(-1)?.tasks).toHaveLength(count % 7 || 7);
    },
  );

  test.each(callers)(
    '$name: hides no task that stood still while others changed between the pages (case 59, LIST-18, AMB-11)',
    async (raw) => {
      const who = stage.by(raw).as(`moving ${raw.name}`);
      const still = await make(who, 20, 'ask');
      const moving = await make(who, 10, 'ask');
      const more = await make(who, 10, 'ask');
      const seen: string[] = [];
      let next = 0;
      const pages = await allPages(who, { pageSize: 5 }, async () => {
        const task = [...moving, ...more][next++];
        if (task) await who.send('ask again', { taskId: task.id });
      });
      for (const page of pages) seen.push(...idsOf(page.tasks));
      expect(new Set(seen).size).toBe(seen.length);
      for (const { id } of still) expect(seen).toContain(id);
      const last = [...moving, ...more][next - 1]?.id ?? '';
      await nextMillisecond();
      await who.send('ask again', { taskId: last });
      expect(idsOf((await list(who, { pageSize: 5 })).tasks)[0]).toBe(last); // who moved last is in front now
    },
  );

  test.each(callers)('$name: is the same on every replica, at once (AMB-39)', async (raw) => {
    const who = stage.by(raw).as(`equal ${raw.name}`);
    for (let round = 0; round < 10; round += 1) {
      await nextMillisecond();
      const { id } = await who.at(round % 2).send('done');
      const [a, b] = [await list(who.at(0)), await list(who.at(1))];
      expect(a).toEqual(b);
      expect(a.tasks[0]?.id).toBe(id);
    }
  });
});

describe('times', () => {
  /** Writes the time of a task's status as if it had been then: tenths and hundredths sort otherwise as text than as numbers. */
  async function setTime(id: string, at: number): Promise<void> {
    (await exec(stage.rig.store, `UPDATE chorus_task SET status_at = ${at} WHERE id = '${id}'`)).close();
  }

  test.each(callers)(
    '$name: are compared as numbers, from the first year to the last (case 61, LIST-03, LIST-11, STATE-06)',
    async (raw) => {
      const who = stage.by(raw).as(`times ${raw.name}`);
      const base = Date.parse('2026-01-01T00:00:00.000Z');
      const times = [
        base + 900,
        base + 100,
        base + 1_000,
        base + 90,
        Date.parse('0001-01-01T00:00:00.000Z'),
        Date.parse('9999-12-31T23:59:59.999Z'),
        -1,
        0,
      ];
      const tasks = await make(who, times.length);
      for (const [index, { id }] of tasks.entries()) await setTime(id, times[index] ?? 0);
      const expected = times.map((at, index) => ({ at, id: tasks[index]?.id })).toSorted((a, b) => b.at - a.at);
      const pages = await allPages(who, { pageSize: 3 });
      expect(pages.flatMap(({ tasks: shown }) => idsOf(shown))).toEqual(expected.map(({ id }) => id));
      const from = async (statusTimestampAfter: string): Promise<number> => (await list(who, { statusTimestampAfter })).totalSize;
      expect(await from('0001-01-01T00:00:00Z')).toBe(8);
      expect(await from('9999-12-31T23:59:59.999999999Z')).toBe(1);
      expect(await from('2026-01-01T00:00:00.1Z')).toBe(4); // inclusive: .100 itself, .900, 1.000, and the last year
      expect(await from('2026-01-01T00:00:00.101Z')).toBe(3);
      expect(await from('2026-01-01T01:00:00.9+01:00')).toBe(3);
      expect(await from('1970-01-01T00:00:00Z')).toBe(6);
    },
  );

  test.each(callers)(
    '$name: are UTC with milliseconds, never run backwards within a task, and list it (STATE-06, JSON-03 to JSON-05, AMB-40)',
    async (raw) => {
      const who = stage.by(raw).as(`clock ${raw.name}`);
      const { id } = await who.at(0).start('work a; work b; work c; ask');
      const seen: string[] = [];
      for await (const { item } of who.at(1).subscribe(id, 0)) {
        if (item && 'statusUpdate' in item) seen.push(item.statusUpdate.status.timestamp ?? '');
        if (item && 'statusUpdate' in item && item.statusUpdate.status.state === 'TASK_STATE_INPUT_REQUIRED') break;
      }
      for (const time of seen) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(seen).toEqual(seen.toSorted());
      const { status } = await who.send('done', { taskId: id });
      const found = await list(who, { statusTimestampAfter: status.timestamp ?? '' });
      expect(idsOf(found.tasks)).toEqual([id]);
    },
  );
});

describe('a purged task', () => {
  test.each(callers)('$name: is as one that never was, for every operation (GET-06, IDEM-04)', async (raw) => {
    const who = stage.by(raw).as(`purged ${raw.name}`);
    const { id } = await who.send('done');
    await ended(who, id);
    // its retention is over
    (await exec(stage.rig.store, `UPDATE chorus_task SET due_at = 1 WHERE id = '${id}'`)).close();
    const gone = await eventually('the purge', async () => {
      const answered = await who.answer('GetTask', { id });
      return answered.error;
    });
    expect(gone.reason).toBe('TASK_NOT_FOUND');
    for (const [operation, request] of [
      ['CancelTask', { id }],
      ['SubscribeToTask', { id }],
      ['SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', taskId: id, parts: [{ text: 'x' }] } }],
    ] as const) {
      expect((await who.answer(operation, request)).error?.reason).toBe('TASK_NOT_FOUND');
    }
    expect((await list(who)).tasks).toEqual([]);
  });
});
