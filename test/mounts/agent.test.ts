import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/index.ts';
import type { OperationName } from '../../src/wire/operations.ts';
import type { Event, RawCaller, Wanted } from '../bindings/callers.ts';
import { allEvents, callers, events, jsonRpc, rest } from '../bindings/callers.ts';
import type { Cluster } from './replicas.ts';
import { as, messageOf, openCluster } from './replicas.ts';

const seqs = (list: readonly Event[]): readonly number[] => list.map(({ id }) => Number(id));

/** The numbers that `emit` counted, in the order in which they came. */
const counted = (caller: RawCaller, list: readonly Event[]): readonly string[] =>
  list.flatMap(({ data }) => {
    const { result } = caller.readEvent(data ?? '{}') as {
      readonly result?: { readonly artifactUpdate?: { artifact: { parts: { text: string }[] } } };
    }; // ours
    return (result?.artifactUpdate?.artifact.parts ?? []).flatMap(({ text }) => text.trim().split(' '));
  });

const upTo = (n: number): readonly string[] => Array.from({ length: n }, (_, index) => `${index + 1}`);

const subscribe = (cluster: Cluster, replica: 0 | 1, caller: RawCaller, id: string, cursor?: string): Promise<Response> =>
  caller.fetch(cluster.urls[replica], 'SubscribeToTask', { id }, { headers: cursor === undefined ? {} : { 'last-event-id': cursor } });

describe('one agent on two replicas, over both bindings', () => {
  test('both bindings of both replicas answer alike, whoever ran the task (BIND-02, AMB-39)', async () => {
    await using cluster = await openCluster();
    const done = await cluster.send('work; artifact one hello; data {"n":1,"none":null}; done fine');
    const canceled = await cluster.start('silent 60000');
    const paused = await cluster.send('ask Which one?');
    await cluster.ask(1, rest, 'CancelTask', { id: canceled.id });
    const asked: readonly (readonly [OperationName, Wanted])[] = [
      ...[done, canceled, paused].map(({ id }) => ['GetTask', { id }] as const),
      ['GetTask', { id: done.id, historyLength: 0 }],
      ['ListTasks', {}],
      ['ListTasks', { includeArtifacts: true, pageSize: 2 }],
      ['ListTasks', { status: 'TASK_STATE_INPUT_REQUIRED' }],
      ['ListTasks', { contextId: 'unheard of' }],
      ['CancelTask', { id: canceled.id }], // AMB-04: once more is the same
    ];
    for (const [operation, wanted] of asked) {
      const answers = await Promise.all(
        callers.flatMap((caller) => ([0, 1] as const).map((replica) => cluster.ask(replica, caller, operation, wanted))),
      );
      for (const { result, status } of answers) {
        expect(status).toBe(200);
        expect(result).toEqual(answers[0]?.result);
      }
    }
    expect((await cluster.ask(1, rest, 'GetTask', { id: done.id })).result).toEqual(done);
  });

  // the refusals that need a real task behind them, each on each binding and replica
  test('refusals are the same on both bindings of both replicas (BIND-03, cases 52, 66, 68)', async () => {
    await using cluster = await openCluster();
    const done = await cluster.send('done');
    const paused = await cluster.send('ask');
    const working = await cluster.start('silent 60000');
    const made = crypto.randomUUID();
    const message = (more: Wanted): Wanted => ({ message: { ...messageOf('done'), ...more } });
    const refusals: readonly (readonly [OperationName, Wanted, string])[] = [
      ['GetTask', { id: made }, 'TASK_NOT_FOUND'],
      ['CancelTask', { id: made }, 'TASK_NOT_FOUND'],
      ['SubscribeToTask', { id: made }, 'TASK_NOT_FOUND'],
      ['SendMessage', message({ taskId: made }), 'TASK_NOT_FOUND'],
      ['SendStreamingMessage', message({ taskId: made }), 'TASK_NOT_FOUND'],
      ['CancelTask', { id: done.id }, 'TASK_NOT_CANCELABLE'],
      ['SubscribeToTask', { id: done.id }, 'UNSUPPORTED_OPERATION'], // SUB-03
      ['SendMessage', message({ taskId: done.id }), 'UNSUPPORTED_OPERATION'], // SEND-05
      ['SendStreamingMessage', message({ taskId: done.id }), 'UNSUPPORTED_OPERATION'],
      ['SendMessage', message({ taskId: working.id }), 'UNSUPPORTED_OPERATION'], // AMB-07
      ['SendMessage', message({ taskId: paused.id, contextId: 'another' }), 'INVALID_PARAMS'], // TURN-18
      [
        'SendMessage',
        { ...message({}), configuration: { taskPushNotificationConfig: { url: 'https://x.example' } } },
        'PUSH_NOTIFICATION_NOT_SUPPORTED',
      ],
      ['CreateTaskPushNotificationConfig', { taskId: done.id, url: 'https://x.example' }, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
      ['GetTaskPushNotificationConfig', { taskId: done.id, id: 'c' }, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
      ['ListTaskPushNotificationConfigs', { taskId: done.id }, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
      ['DeleteTaskPushNotificationConfig', { taskId: done.id, id: 'c' }, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
      ['GetExtendedAgentCard', {}, 'UNSUPPORTED_OPERATION'], // XCARD-01
      ['ListTasks', { pageToken: 'forged' }, 'INVALID_PARAMS'],
      ['ListTasks', { pageSize: 0 }, 'INVALID_PARAMS'],
      ['ListTasks', { pageSize: 101 }, 'INVALID_PARAMS'],
      ['GetTask', { id: done.id, historyLength: -1 }, 'INVALID_PARAMS'],
    ];
    for (const [operation, wanted, reason] of refusals) {
      for (const caller of callers) {
        for (const replica of [0, 1] as const) {
          const { error, headers } = await cluster.ask(replica, caller, operation, wanted);
          expect(error?.reason, `${caller.name} ${operation}`).toBe(reason);
          expect(headers.get('content-type')).not.toBe('text/event-stream'); // case 53: a plain error
        }
      }
    }
  });

  test('a stranger is told of nothing, by any operation, in the same words as about nothing at all (P10, case 10)', async () => {
    await using cluster = await openCluster();
    const tasks = [await cluster.start('silent 60000', 'ann'), await cluster.send('ask', 'ann'), await cluster.send('done', 'ann')];
    const before = await Promise.all(tasks.map(({ id }) => cluster.ask(0, jsonRpc, 'GetTask', { id }, { headers: as('ann') })));
    const made = crypto.randomUUID();
    const asked: readonly ((id: string) => readonly [OperationName, Wanted])[] = [
      (id) => ['GetTask', { id }],
      (id) => ['CancelTask', { id }],
      (id) => ['SubscribeToTask', { id }],
      (id) => ['SendMessage', { message: { ...messageOf('done'), taskId: id } }],
      (id) => ['SendStreamingMessage', { message: { ...messageOf('done'), taskId: id } }],
    ];
    for (const caller of callers) {
      for (const name of ['bob', undefined]) {
        for (const ask of asked) {
          const unknown = await cluster.ask(1, caller, ...ask(made), { headers: as(name) });
          for (const { id } of tasks) {
            const foreign = await cluster.ask(1, caller, ...ask(id), { headers: as(name) });
            expect(foreign.status).toBe(unknown.status);
            expect(JSON.parse(JSON.stringify(foreign.error).replaceAll(id, made))).toEqual(unknown.error);
          }
        }
        const list = await cluster.ask(1, caller, 'ListTasks', {}, { headers: as(name) });
        expect(list.result).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
      }
    }
    const after = await Promise.all(tasks.map(({ id }) => cluster.ask(0, jsonRpc, 'GetTask', { id }, { headers: as('ann') })));
    expect(after.map(({ result }) => result)).toEqual(before.map(({ result }) => result));
  });

  test("page tokens work on every replica and binding, and for nobody but their owner's list (case 26, case 59)", async () => {
    await using cluster = await openCluster();
    for (let index = 0; index < 5; index += 1) await cluster.send('done', 'ann');
    await cluster.send('done', 'bob');
    type Page = { readonly tasks: readonly Task[]; readonly nextPageToken: string };
    const list = async (replica: 0 | 1, caller: RawCaller, wanted: Wanted, name: string) =>
      cluster.ask(replica, caller, 'ListTasks', { pageSize: 2, ...wanted }, { headers: as(name) });
    const first = (await list(0, jsonRpc, {}, 'ann')).result as Page; // LIST-14
    const second = (await list(1, rest, { pageToken: first.nextPageToken }, 'ann')).result as Page; // as above
    const third = (await list(0, rest, { pageToken: second.nextPageToken }, 'ann')).result as Page; // as above
    const ids = [...first.tasks, ...second.tasks, ...third.tasks].map(({ id }) => id);
    expect([new Set(ids).size, third.nextPageToken]).toEqual([5, '']);
    for (const caller of callers) {
      for (const [wanted, name] of [
        [{ pageToken: first.nextPageToken }, 'bob'],
        [{ pageToken: first.nextPageToken, status: 'TASK_STATE_FAILED' }, 'ann'],
        [{ pageToken: `${first.nextPageToken}x` }, 'ann'],
        [{ pageToken: first.nextPageToken.slice(0, -1) }, 'ann'],
      ] as const) {
        const { error } = await list(1, caller, wanted, name);
        expect(error).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field: 'pageToken' }] });
      }
    }
  });

  test.each([1, 255])('ids of %i characters of any script are kept as they are (case 95)', async (length) => {
    await using cluster = await openCluster();
    for (const caller of callers) {
      for (const sign of ['x', 'é', '漢', '\u{1f600}', '%', '/', '"']) {
        const contextId = sign.repeat(length);
        const message = { ...messageOf('done'), contextId, messageId: contextId };
        const { result } = await cluster.ask(0, caller, 'SendMessage', { message });
        expect(result).toMatchObject({ task: { contextId, history: [{ messageId: contextId }] } });
        const list = await cluster.ask(1, caller, 'ListTasks', { contextId, pageSize: 1 });
        expect(list.result).toMatchObject({ tasks: [{ contextId }] });
      }
    }
  });

  test.each(callers)('$name: ids no store could keep are refused by name, and nothing of others is told (case 95)', async (caller) => {
    await using cluster = await openCluster();
    for (const bad of ['x'.repeat(256), 'x'.repeat(5_000), '\u{1f600}'.repeat(256), 'a\nb', 'a\u0085b']) {
      for (const field of ['contextId', 'messageId', 'taskId']) {
        const message = { ...messageOf('done secret-text'), [field]: bad };
        const { error } = await cluster.ask(0, caller, 'SendMessage', { message });
        expect(error?.violations, JSON.stringify(bad.slice(0, 10))).toMatchObject([{ field: `message.${field}` }]);
        expect(JSON.stringify(error)).not.toContain('secret-text');
      }
    }
  });
});

describe('streams of one agent on two replicas', () => {
  test.each(callers)('$name: a stream that was cut goes on at another replica without gap or repeat (AMB-03, case 20)', async (caller) => {
    await using cluster = await openCluster();
    const { id } = await cluster.start('emit 60 5; done');
    const leaving = new AbortController();
    const first = await caller.fetch(cluster.urls[0], 'SubscribeToTask', { id }, { signal: leaving.signal });
    const got: Event[] = [];
    for await (const event of events(first)) {
      got.push(event);
      if (got.length === 10) break;
    }
    leaving.abort();
    const cursor = got.at(-1)?.id ?? '';
    const tail = await allEvents(await subscribe(cluster, 1, caller, id, cursor));
    const list = [...got, ...tail];
    expect(seqs(list)).toEqual(seqs(list).toSorted((a, b) => a - b));
    expect(new Set(seqs(list)).size).toBe(list.length);
    expect(seqs(tail)[0]).toBeGreaterThan(Number(cursor)); // no snapshot: a continuation
    // the snapshot stands for what was before it, the events for the rest
    const start = (caller.readEvent(got[0]?.data ?? '').result as { readonly task: Task }).task; // SUB-05
    const before = (start.artifacts?.[0]?.parts ?? []).flatMap((part) => ('text' in part ? part.text.trim().split(' ') : []));
    expect([...before, ...counted(caller, list)]).toEqual(upTo(60));
  });

  test.each(callers)(
    '$name: Last-Event-ID to the letter: 0, the middle, the end, above, garbage, after the end (AMB-03, SUB-03)',
    async (caller) => {
      await using cluster = await openCluster();
      const paused = await cluster.send('emit 3 20; ask');
      const ended = await cluster.start('done');
      // an open task: a continuation from the beginning shows every shown entry; anything that is no cursor of ours begins with the task
      const begin = events(await subscribe(cluster, 1, caller, paused.id, '0'));
      const first = (await begin.next()).value as Event; // it is open
      expect(caller.readEvent(first.data ?? '').result).toHaveProperty('statusUpdate');
      await begin.return(undefined);
      for (const cursor of [undefined, 'garbage', '-1', '1e3', '99999999', '']) {
        const stream = events(await subscribe(cluster, 1, caller, paused.id, cursor));
        const snapshot = (await stream.next()).value as Event; // it is open
        expect(caller.readEvent(snapshot.data ?? '').result, `cursor ${cursor}`).toMatchObject({ task: { id: paused.id } });
        await stream.return(undefined);
      }
      // an ended one: what stands above the cursor, then the end; nothing above it: SUB-03
      const tail = await allEvents(await subscribe(cluster, 1, caller, ended.id, '0'));
      expect(tail.length).toBeGreaterThan(0);
      const end = tail.at(-1)?.id ?? '';
      const middle = await allEvents(await subscribe(cluster, 0, caller, ended.id, tail[0]?.id));
      expect(middle).toEqual(tail.slice(1));
      for (const cursor of [end, undefined, 'garbage', '99999999']) {
        const refused = await caller.read(await subscribe(cluster, 0, caller, ended.id, cursor));
        expect(refused.error?.reason).toBe('UNSUPPORTED_OPERATION');
      }
    },
  );

  test('all subscribers on both replicas and bindings get the same list (STRM-12, STRM-13, AMB-31)', async () => {
    await using cluster = await openCluster();
    const { id } = await cluster.start('silent 1500; emit 200 0; meta k v; done');
    const streams = await Promise.all(
      callers.flatMap((caller) =>
        ([0, 1] as const).map(async (replica) => ({ caller, list: await allEvents(await subscribe(cluster, replica, caller, id)) })),
      ),
    );
    const told = streams.map(({ caller, list }) => list.map(({ id: seq, data }) => [seq, caller.readEvent(data ?? '').result]));
    for (const one of told) expect(one.slice(1)).toEqual(told[0]?.slice(1)); // the first is a snapshot of its own moment
    for (const { caller, list } of streams) expect(counted(caller, list)).toEqual(upTo(200));
  });

  test.each(callers)('$name: who hangs up on a stream or a blocking send does not stop the task (STRM-15, case 21)', async (caller) => {
    await using cluster = await openCluster();
    for (const operation of ['SendStreamingMessage', 'SendMessage'] as const) {
      const contextId = crypto.randomUUID();
      const leaving = new AbortController();
      const message = { ...messageOf('work; silent 200; emit 5 5; done'), contextId };
      const call = caller.fetch(cluster.urls[0], operation, { message }, { signal: leaving.signal }).then(
        (response) => response.body?.getReader().read(),
        () => undefined,
      );
      const find = async (): Promise<Task | undefined> => {
        const { result } = await cluster.ask(1, rest, 'ListTasks', { contextId });
        return (result as { readonly tasks: readonly Task[] }).tasks[0]; // LIST-14
      };
      await expect.poll(find, { interval: 5, timeout: 15_000 }).toBeDefined();
      leaving.abort();
      await call.catch(() => undefined); // it was cut: that is the point
      const { id } = (await find()) ?? { id: '' };
      const stateOf = async () => (await cluster.ask(1, caller, 'GetTask', { id })).result;
      await expect.poll(stateOf, { interval: 10, timeout: 15_000 }).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
      const { result } = await cluster.ask(1, caller, 'GetTask', { id });
      expect((result as Task).artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('')).toBe('1 2 3 4 5 ');
    }
  });

  test('a drain lets streams and blocked calls see their end, and a stream that cannot is closed without an end event (SIGTERM)', async () => {
    const cluster = await openCluster();
    const short = cluster.send('silent 300; done well');
    const { id } = await cluster.start('silent 60000');
    const cut = await subscribe(cluster, 0, jsonRpc, id);
    const reading = events(cut);
    await reading.next();
    await expect
      .poll(async () => (await cluster.ask(1, rest, 'ListTasks', {})).result, { timeout: 10_000 })
      .toMatchObject({ totalSize: 2 });
    const closing = cluster[Symbol.asyncDispose]();
    expect((await short).status.state).toBe('TASK_STATE_COMPLETED');
    const left: Event[] = [];
    for await (const event of reading) left.push(event);
    expect(left.filter(({ data }) => data !== undefined && jsonRpc.readEvent(data).error !== undefined)).toEqual([]);
    await closing;
  });
});
