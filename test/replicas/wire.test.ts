import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Probe } from '../../src/testing/probe.ts';
import { collect, dataOf, openStage, partsOf, rounds, textsOf } from './support.ts';
import type { Stage } from './support.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ replicas: 2 });
});
afterAll(() => stage[Symbol.asyncDispose]());

const bindings = ['JSONRPC', 'HTTP+JSON'] as const;
const json = { 'a2a-version': '1.0', 'content-type': 'application/json' };
const rpc = async (body: unknown): Promise<unknown> =>
  (
    await fetch(stage.rig.replica(0).url, { method: 'POST', headers: json, body: typeof body === 'string' ? body : JSON.stringify(body) })
  ).json();

describe('behind a front that takes turns', () => {
  test('every replica knows every task, and the card names the front (case 37)', async () => {
    const front = new Probe({ url: stage.rig.front.url });
    const { id } = await front.sendForTask('emit 2 0; done');
    for (let round = 0; round < 4; round++) expect(partsOf(await front.get(id))).toEqual(['1 ', '2 ']);
    for (const { url } of (await front.card()).supportedInterfaces) expect(url.startsWith(stage.rig.front.url)).toBe(true);
  });
});

describe.each(bindings)('over %s', (binding) => {
  const probe = (index: number, caller: string): Probe => stage.probe(index, { binding, caller: `${caller} ${binding}` });

  test('an artifact is one artifact: appended to, replaced, its metadata and the task merged by key (case 55, case 56)', async () => {
    const task = await probe(0, 'art').sendForTask(
      'append notes a; append notes b; append notes c; meta color red; meta size 3; meta color blue; ask more?',
    );
    expect(task.artifacts).toMatchObject([{ artifactId: 'notes', parts: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] }]);
    expect(task.metadata).toMatchObject({ color: 'blue', size: '3' });
    const later = await probe(1, 'art').sendForTask('append notes d; artifact whole 1; artifact whole 2; done', { taskId: task.id });
    expect(later.artifacts?.find(({ artifactId }) => artifactId === 'notes')?.parts).toHaveLength(4);
    expect(later.artifacts?.filter(({ name }) => name === 'whole').flatMap(({ parts }) => parts)).toContainEqual({ text: '2' });
  });

  test('lists: no filter means all, required members are there, artifacts only if asked for (case 58, case 62, case 61)', async () => {
    const a = probe(0, 'lists');
    expect(await a.list()).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
    for (let round = 0; round < 3; round++) await a.sendForTask('artifact x 1; done');
    const all = await probe(1, 'lists').list();
    expect(all).toMatchObject({ totalSize: 3, nextPageToken: '', pageSize: 50 });
    for (const task of all.tasks) expect(task).not.toHaveProperty('artifacts');
    expect((await a.list({ includeArtifacts: true })).tasks.every(({ artifacts }) => artifacts?.length === 1)).toBe(true);
    const times = all.tasks.map(({ status }) => Date.parse(status.timestamp ?? ''));
    expect(times).toEqual(times.toSorted((one, other) => other - one)); // newest first, by number and not by text
  });

  test('pages give each task once, while others change (case 59)', async () => {
    const count = rounds(250, 60);
    const [a, b] = [probe(0, 'pages'), probe(1, 'pages')];
    const ids = new Set<string>();
    for (let done = 0; done < count; done += 20) {
      const batch = Array.from({ length: Math.min(20, count - done) }, () => a.sendForTask('ask on?', { returnImmediately: false }));
      for (const { id } of await Promise.all(batch)) ids.add(id);
    }
    const seen: string[] = [];
    let [moved] = ids;
    for (let pageToken = ''; ;) {
      const page = await b.list({ pageSize: 7, ...(pageToken === '' ? {} : { pageToken }) });
      seen.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
      if (pageToken === '') break;
      // a task that moves to the front of the order hides none that did not move
      moved = [...ids].find((id) => !seen.includes(id) && id !== moved) ?? moved;
      if (moved !== undefined) await a.sendForTask('ask on?', { taskId: moved });
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThanOrEqual(count - Math.ceil(count / 7));
    await expect(b.list({ pageSize: 7, pageToken: 'forged' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  }, 60_000);

  test('historyLength: unset all, 0 none, n the last n, negative refused, on get, list, send and stream (case 63)', async () => {
    const a = probe(0, 'history');
    const { id } = await a.sendForTask('work one; work two; ask three?');
    const lengths = async (historyLength?: number): Promise<number[]> => {
      const words = historyLength === undefined ? {} : { historyLength };
      const got = await a.get(id, words);
      const listed = await a.list({ ...words, pageSize: 1 });
      return [got.history?.length ?? 0, listed.tasks[0]?.history?.length ?? 0];
    };
    expect(await lengths()).toEqual([3, 3]); // the user's and two that statuses carried; the question is the present status
    expect(await lengths(0)).toEqual([0, 0]);
    expect(await lengths(2)).toEqual([2, 2]);
    expect(await lengths(99)).toEqual([3, 3]);
    for (const ask of [
      () => a.get(id, { historyLength: -1 }),
      () => a.list({ historyLength: -1 }),
      () => a.send('done', { historyLength: -1 }),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    }
    expect((await a.sendForTask('work one; ask two?', { historyLength: 1 })).history).toHaveLength(1);
    const [first] = await collect(a.stream('work one; done', { historyLength: 0 }));
    expect(first && 'task' in first.item ? first.item.task.history : 'no task').toBeUndefined();
  });

  test('ids: an unknown task is not found, a foreign context is refused, a missing one is filled in (case 66)', async () => {
    const a = probe(0, 'ids');
    await expect(a.send('done', { taskId: crypto.randomUUID() })).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    const { id, contextId = '' } = await a.sendForTask('ask on?');
    await expect(a.send('done', { taskId: id, contextId: `${contextId}x` })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    const task = await a.sendForTask('done', { taskId: id });
    expect(task).toMatchObject({ id, contextId });
  });

  test('ids of any script are kept, too long ones are refused with the field and nothing of the store (case 95)', async () => {
    const a = probe(0, 'scripts');
    for (const contextId of ['x', 'é'.repeat(255), '龍'.repeat(255), '😀'.repeat(255)]) {
      expect((await a.sendForTask('done', { contextId })).contextId).toBe(contextId);
    }
    for (const contextId of ['x'.repeat(256), '龍'.repeat(5_000)]) {
      const refusal = await a.send('done', { contextId }).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: 'INVALID_PARAMS', violations: [{ field: expect.stringContaining('contextId') }] });
      expect(JSON.stringify(refusal)).not.toMatch(/sql|insert|select|龍龍/i);
    }
  });

  test('text is the same on every road: unescaped, uncut, in unary and streamed answers (case 74)', async () => {
    const a = probe(0, 'text');
    const text = '<b>&"\' 漢字 😀 \u2028 \u00e9 \\ / end';
    const streamed = await collect(a.stream(`artifact x ${text}`));
    expect(textsOf(streamed)).toEqual([text]);
    const id = streamed[0] && 'task' in streamed[0].item ? streamed[0].item.task.id : '';
    expect(partsOf(await probe(1, 'text').get(id))).toEqual([text]);
    for (const bad of ['a\u0000b', 'a\ud800b']) await expect(a.send(`artifact x ${bad}`)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  test('JSON in data parts comes back as it went in', async () => {
    const value = { a: null, b: 1, c: 9_007_199_254_740_991, d: 1.5, e: [], f: { g: 'h' } };
    expect(dataOf(await probe(0, 'data').sendForTask(`data ${JSON.stringify(value)}`), 'data')).toEqual(value);
  });
});

describe('JSON-RPC', () => {
  const ask = (more: object): object => ({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' }, ...more });
  const without = (name: string): object => Object.fromEntries(Object.entries(ask({})).filter(([key]) => key !== name));

  test.each([
    ['bad JSON', '{"jsonrpc":', -32700, null],
    ['a fractional id', ask({ id: 1.5 }), -32600, null],
    ['an object as id', ask({ id: {} }), -32600, null],
    ['no version', without('jsonrpc'), -32600, 1],
    ['an empty method', ask({ method: '' }), -32600, 1],
    ['params that are a list', ask({ params: [] }), -32602, 1],
    ['an unknown method', ask({ method: 'tasks/get' }), -32601, 1],
    ['a batch', [ask({})], -32600, null],
    ['an id that is a text', ask({ id: 'x' }), -32001, 'x'],
  ])('answers %s to the letter (case 70)', async (_what, body, code, id) => {
    expect(await rpc(body)).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
  });

  test('ignores members it does not know, at any depth (case 73)', async () => {
    const part = { text: 'done', future: 1 };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [part], future: {} };
    const params = { message, future: [] };
    expect(await rpc({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params })).toMatchObject({
      result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
    });
  });
});

describe('REST', () => {
  test('takes a cancel without a body, with {} and with null, and a subscription by GET and POST (case 72)', async () => {
    const a = stage.probe(0);
    const base = `${stage.rig.replica(0).url}/rest`;
    for (const body of [undefined, '{}', 'null']) {
      const { id } = await a.sendForTask('ask on?');
      const answer = await fetch(`${base}/tasks/${id}:cancel`, { method: 'POST', headers: json, ...(body === undefined ? {} : { body }) });
      expect(await answer.json()).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
    }
    for (const method of ['GET', 'POST']) {
      const { id } = await a.sendForTask('ask on?');
      const answer = await fetch(`${base}/tasks/${id}:subscribe`, { method, headers: json });
      expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
      const reader = answer.body?.getReader();
      const text = Buffer.from((await reader?.read())?.value ?? []).toString();
      expect(text).toContain('TASK_STATE_INPUT_REQUIRED');
      await reader?.cancel();
    }
  });
});

test('broke no promise in all that was seen here', async () => {
  expect((await stage.verdict()).violations).toEqual([]);
});
