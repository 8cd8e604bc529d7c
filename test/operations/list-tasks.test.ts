import { describe, expect, test } from 'vitest';
import type { A2AError } from '../../src/protocol/errors.ts';
import type { ListTasksRequest, ListTasksResponse, Task } from '../../src/protocol/types.ts';
import type { ListAsk } from '../../src/log/store.ts';
import { listTasks, PAGE_BYTES_MAX } from '../../src/operations/list-tasks.ts';
import type { SharedParts } from '../../src/operations/parts.ts';
import type { Call } from '../../src/operations/call.ts';
import { callOf, codeOf, kinds, sayAndGo, Stage, taskOf } from './stage.ts';

async function fieldOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => 'no error',
    // every operation throws A2AErrors only
    (error: A2AError) => (error.code === 'INVALID_PARAMS' ? error.violations[0]?.field : error.code),
  );
}

async function make(stage: Stage, texts: readonly string[], call: Call = callOf(), contextId?: string): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  for (const text of texts)
    tasks.push(taskOf(await stage.operations.sendMessage(call, sayAndGo(text, contextId === undefined ? {} : { contextId }))));
  return tasks;
}

async function pages(stage: Stage, request: ListTasksRequest, call: Call = callOf()): Promise<readonly ListTasksResponse[]> {
  const found: ListTasksResponse[] = [];
  for (let pageToken = ''; ;) {
    // every page on another replica
    const { operations } = stage.replica(found.length % stage.replicas.length);
    const page = await operations.listTasks(call, { ...request, ...(pageToken === '' ? {} : { pageToken }) });
    found.push(page);
    pageToken = page.nextPageToken;
    if (pageToken === '') return found;
  }
}

test('a page of very long tasks has fewer of them, at least one, and the next page goes on behind it (LIST-04, P11)', async () => {
  const listed = [0.9, 0.2, 1.5, 0.1].map((share, index) => ({ id: `t${index}`, statusAt: 9 - index, bytes: share * PAGE_BYTES_MAX }));
  const log = {
    list: async ({ after, limit }: ListAsk) => {
      const rows = listed.filter(({ statusAt }) => statusAt < (after?.statusAt ?? Infinity)).slice(0, limit);
      return { rows, total: listed.length };
    },
    foldWithoutArtifacts: async (rows: readonly { readonly id: string }[]) => rows,
  };
  const parts = { agent: 'a', log } as unknown as SharedParts; // what a list uses of them
  const sizes: number[] = [];
  for (let pageToken = ''; ;) {
    const page = await listTasks(parts, callOf(), { pageSize: 3, ...(pageToken === '' ? {} : { pageToken }) });
    sizes.push(page.tasks.length);
    pageToken = page.nextPageToken;
    if (pageToken === '') break;
  }
  expect(sizes).toEqual([1, 1, 1, 1]);
});

describe.each(kinds)('ListTasks on %s', (kind) => {
  test('of nobody is an empty list with every member (LIST-14, case 62)', async () => {
    await using stage = await Stage.open({ kind });
    expect(await stage.operations.listTasks(callOf(), {})).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
  });

  test('walks all tasks once, newest first, over any replica, whatever shares a timestamp (LIST-02, LIST-03, case 59)', async () => {
    await using stage = await Stage.open({ kind, replicas: 2 });
    const ids = (
      await make(
        stage,
        Array.from({ length: 40 }, (_, index) => `task ${index}`),
      )
    ).map(({ id }) => id);
    const found = await pages(stage, { pageSize: 7 });
    expect(found.map(({ tasks }) => tasks.length)).toEqual([7, 7, 7, 7, 7, 5]);
    expect(found.every(({ totalSize, pageSize }) => totalSize === 40 && pageSize === 7)).toBe(true);
    const tasks = found.flatMap((page) => page.tasks);
    expect(tasks.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    const times = tasks.map(({ status }) => status.timestamp ?? '');
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test('a page that is exactly full and the last has no next one (LIST-07, LIST-08)', async () => {
    await using stage = await Stage.open({ kind });
    await make(stage, ['a', 'b', 'c']);
    expect((await pages(stage, { pageSize: 3 })).map(({ tasks }) => tasks.length)).toEqual([3]);
  });

  test('tasks that change while pages are read hide none that did not (AMB-11, case 59)', async () => {
    await using stage = await Stage.open({ kind });
    const ids = (await make(stage, ['a', 'b', 'c', 'd', 'e', 'f'])).map(({ id }) => id);
    const first = await stage.operations.listTasks(callOf(), { pageSize: 2 });
    const moved = ids.filter((id) => !first.tasks.some((task) => task.id === id))[0] ?? '';
    await (await stage.replica().actor(moved)).status('TASK_STATE_WORKING', 'moved to the front');
    const seen = first.tasks.map(({ id }) => id);
    for (let pageToken = first.nextPageToken; pageToken !== '';) {
      const page = await stage.operations.listTasks(callOf(), { pageSize: 2, pageToken });
      seen.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    }
    // within the millisecond of the page's end the moved task may not have moved: it is the others that must come, once each
    expect(seen.filter((id) => id !== moved).toSorted()).toEqual(ids.filter((id) => id !== moved).toSorted());
  });

  test('filters by context, state and time, inclusively (LIST-11, LIST-12, case 58)', async () => {
    await using stage = await Stage.open({ kind });
    const [a] = await make(stage, ['a'], callOf(), 'X');
    const [b] = await make(stage, ['b'], callOf(), 'Y');
    await (await stage.replica().actor(b?.id ?? '')).status('TASK_STATE_COMPLETED');
    const idsFor = async (request: ListTasksRequest): Promise<readonly string[]> =>
      (await stage.operations.listTasks(callOf(), request)).tasks.map(({ id }) => id);
    expect(await idsFor({ contextId: 'X' })).toEqual([a?.id]);
    expect(await idsFor({ status: 'TASK_STATE_COMPLETED' })).toEqual([b?.id]);
    expect(await idsFor({ contextId: 'X', status: 'TASK_STATE_COMPLETED' })).toEqual([]);
    const [newest] = (await stage.operations.listTasks(callOf(), {})).tasks;
    const at = newest?.status.timestamp ?? '';
    expect(await idsFor({ statusTimestampAfter: at })).toContain(b?.id);
    expect(await idsFor({ statusTimestampAfter: new Date(Date.parse(at) + 1).toISOString() })).toEqual([]);
  });

  test('leaves artifacts out unless asked, then they are there even when there are none (LIST-09, LIST-10)', async () => {
    await using stage = await Stage.open({ kind });
    const [a, b] = await make(stage, ['a', 'b']);
    const actor = await stage.replica().actor(a?.id ?? '');
    await actor.chunk('piece');
    await actor.status('TASK_STATE_INPUT_REQUIRED', 'more?');
    const plain = await stage.operations.listTasks(callOf(), {});
    for (const task of plain.tasks) expect(task).not.toHaveProperty('artifacts');
    const whole = await stage.operations.listTasks(callOf(), { includeArtifacts: true });
    const byId = new Map(whole.tasks.map((task) => [task.id, task]));
    expect(byId.get(b?.id ?? '')?.artifacts).toEqual([]);
    expect(byId.get(a?.id ?? '')).toEqual(await stage.operations.getTask(callOf(), { id: a?.id ?? '' }));
    const { artifacts: _artifacts, ...rest } = byId.get(a?.id ?? '') ?? { artifacts: [] };
    expect(plain.tasks.find(({ id }) => id === a?.id)).toEqual(rest);
  });

  test('bounds the history of each (LIST-17)', async () => {
    await using stage = await Stage.open({ kind });
    await make(stage, ['a']);
    expect((await stage.operations.listTasks(callOf(), {})).tasks[0]?.history).toHaveLength(1);
    expect((await stage.operations.listTasks(callOf(), { historyLength: 0 })).tasks[0]).not.toHaveProperty('history');
  });

  test('names what is out of range (LIST-05)', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    for (const pageSize of [0, 101, -1, 1.5]) expect(await fieldOf(operations.listTasks(callOf(), { pageSize }))).toBe('pageSize');
    expect(await fieldOf(operations.listTasks(callOf(), { historyLength: -1 }))).toBe('historyLength');
    expect(await fieldOf(operations.listTasks(callOf(), { statusTimestampAfter: 'yesterday' }))).toBe('statusTimestampAfter');
    expect((await operations.listTasks(callOf(), { pageSize: 100 })).pageSize).toBe(100);
  });

  test('takes no token that is damaged, forged, or of another list or caller (AMB-11)', async () => {
    await using stage = await Stage.open({ kind });
    const { operations } = stage;
    const ann = callOf({ caller: { name: 'Ann' } });
    await make(stage, ['a', 'b', 'c'], ann);
    const { nextPageToken: token } = await operations.listTasks(ann, { pageSize: 1 });
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
    expect((await operations.listTasks(ann, { pageSize: 2, pageToken: token })).tasks).toHaveLength(2); // the size may change
    const flipped = token.slice(0, 20) + (token[20] === 'A' ? 'B' : 'A') + token.slice(21);
    const bad = ['x', '!', token.slice(0, -4), flipped, `${token}A`, btoa('0.0.0.x'), 'ÿ'];
    for (const pageToken of bad) expect(await fieldOf(operations.listTasks(ann, { pageToken })), pageToken).toBe('pageToken');
    expect(await fieldOf(operations.listTasks(callOf({ caller: { name: 'Bob' } }), { pageToken: token }))).toBe('pageToken');
    expect(await fieldOf(operations.listTasks({ ...ann, tenant: 'T' }, { pageToken: token }))).toBe('pageToken');
    expect(await fieldOf(operations.listTasks(ann, { pageToken: token, contextId: 'c' }))).toBe('pageToken');
    expect(await codeOf(operations.listTasks(ann, { pageToken: token, status: 'TASK_STATE_WORKING' }))).toBe('INVALID_PARAMS');
  });
});
