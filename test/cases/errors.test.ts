import { describe, expect, test } from 'vitest';
import type { Told } from '../bindings/callers.ts';
import {
  callers,
  collect,
  ended,
  eventually,
  exec,
  inTime,
  opened,
  refusalOf,
  Refused,
  sendRequest,
  stageOf,
  statesOf,
  taskIn,
  textsIn,
} from './support.ts';
import type { Stranger } from './support.ts';

const logged: string[] = [];
const stage = stageOf({ onLine: (_replica, line) => void logged.push(JSON.stringify(line)) });

/** Table B of the protocol, as written there (v1.0.1): reason, JSON-RPC code, HTTP status, name of the gRPC status. */
const tableB = [
  ['TASK_NOT_FOUND', -32001, 404, 'NOT_FOUND'],
  ['TASK_NOT_CANCELABLE', -32002, 400, 'FAILED_PRECONDITION'],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', -32003, 400, 'FAILED_PRECONDITION'],
  ['UNSUPPORTED_OPERATION', -32004, 400, 'FAILED_PRECONDITION'],
  ['CONTENT_TYPE_NOT_SUPPORTED', -32005, 400, 'INVALID_ARGUMENT'],
  ['INVALID_AGENT_RESPONSE', -32006, 500, 'INTERNAL'],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32007, 400, 'FAILED_PRECONDITION'],
  ['EXTENSION_SUPPORT_REQUIRED', -32008, 400, 'FAILED_PRECONDITION'],
  ['VERSION_NOT_SUPPORTED', -32009, 400, 'FAILED_PRECONDITION'],
] as const;

/** That an answer is this error, in the form of its binding, with all that every error carries. */
const expectTold = ({ told, status }: Refused, binding: string, reason: (typeof tableB)[number][0]): void => {
  const [, code, http, grpc] = tableB.find(([known]) => known === reason) ?? [];
  const isRest = binding === 'REST';
  expect(status).toBe(isRest ? http : 200);
  expect(told).toMatchObject({ code: isRest ? http : code, reason, domain: 'a2a-protocol.org', ...(isRest ? { status: grpc } : {}) });
  expect(told.message.length).toBeGreaterThan(5);
  for (const detail of told.details) expect(detail['@type']).toMatch(/^type\.googleapis\.com\/google\.rpc\./); // ERR-18, ERR-19
};

describe('an error', () => {
  const natural: readonly (readonly [(typeof tableB)[number][0], string, (who: Stranger) => Promise<unknown>])[] = [
    ['TASK_NOT_FOUND', 'a task that is not there', (who) => who.get('no-such-task')],
    ['TASK_NOT_CANCELABLE', 'a cancel of what is done', async (who) => who.cancel((await who.send('done')).id)],
    [
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      'a webhook (PUSH-01)',
      (who) => who.ask('CreateTaskPushNotificationConfig', { taskId: 't', url: 'https://example.com' }),
    ],
    [
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      'an inline webhook (SEND-14)',
      (who) => who.send('done', { configuration: { taskPushNotificationConfig: { url: 'https://example.com' } } }),
    ],
    ['UNSUPPORTED_OPERATION', 'a message to what is done', async (who) => who.send('more', { taskId: (await who.send('done')).id })],
    ['UNSUPPORTED_OPERATION', 'a subscription to what is done', async (who) => collect(who.subscribe((await who.send('done')).id))],
    ['UNSUPPORTED_OPERATION', 'the extended card (XCARD-01)', (who) => who.ask('GetExtendedAgentCard', {})],
    [
      'CONTENT_TYPE_NOT_SUPPORTED',
      'a body of another type',
      (who) => who.ask('SendMessage', sendRequest('done'), { headers: { 'content-type': 'text/plain' } }),
    ],
    ['VERSION_NOT_SUPPORTED', 'another version', (who) => who.ask('ListTasks', {}, { headers: { 'a2a-version': '2.0' } })],
    ['INVALID_AGENT_RESPONSE', 'an agent that returns nonsense (ERR-21)', (who) => who.send('!nonsense')],
  ];

  test.each(callers.flatMap((raw) => natural.map(([reason, why, provoke]) => ({ raw, name: raw.name, reason, why, provoke }))))(
    '$name: $reason is told as table B says, for $why (case 68, ERR-01, ERR-17, ERR-20, RPC-06 to RPC-10, REST-11 to REST-13)',
    async ({ raw, reason, provoke }) => {
      expectTold(await refusalOf(provoke(stage.by(raw))), raw.name, reason);
    },
  );

  test.each(callers.flatMap((raw) => tableB.map(([reason]) => ({ raw, name: raw.name, reason }))))(
    '$name: $reason thrown by the agent reaches its blocking sender as it is, and stands in the task (case 68, P7)',
    async ({ raw, reason }) => {
      const who = stage.by(raw);
      const refused = await refusalOf(who.send(`error ${reason} a reason of its own`));
      expectTold(refused, raw.name, reason);
      expect(refused.told.message).toContain('a reason of its own');
      const { taskId = '' } = refused.told.metadata ?? {};
      const task = await who.get(taskId);
      expect(task.status.state).toBe('TASK_STATE_FAILED');
      expect(task.metadata?.['chorus/error']).toMatchObject({ code: reason, message: 'a reason of its own' });
    },
  );

  test.each(callers)('$name: of another copy of the package is the same error (case 69)', async (raw) => {
    const refused = await refusalOf(stage.by(raw).send('!copy some-task'));
    expectTold(refused, raw.name, 'TASK_NOT_FOUND');
  });

  test.each(callers)(
    '$name: names every field that is wrong, and says what would be right (ERR-02, ERR-10, ERR-11, RPC-08, REST-14)',
    async (raw) => {
      const { told } = await refusalOf(
        stage
          .by(raw)
          .ask('SendMessage', { message: { role: 'ROLE_JESTER', parts: [{ text: 7 }, {}] }, configuration: { historyLength: -1 } }),
      );
      expect(told.violations.map(({ field }) => field).toSorted()).toEqual([
        'configuration.historyLength',
        'message.messageId',
        'message.parts[0].text',
        'message.parts[1]',
        'message.role',
      ]);
      const said = told.violations.map(({ description }) => description).join(' ');
      for (const hint of ['is required', 'ROLE_USER', 'must be a string', 'from 0 to']) expect(said).toContain(hint);
    },
  );
});

describe('what is inside', () => {
  const SECRET = 'hunter2';
  const inside = /hunter2|SELECT |INSERT |chorus_|\.ts\b|node_modules|\bat \w+ \(|sqlite|libsql|\/tmp\/|tasks\.db/i;

  test.each(callers)('$name: of a failed agent does not leave it: a reference leads to the log (case 71, ERR-16)', async (raw) => {
    const who = stage.by(raw);
    const refused = await refusalOf(who.send(`fail SELECT pass FROM /etc/users: ${SECRET}`));
    expect(refused.told).toMatchObject({ reason: 'INTERNAL', message: expect.stringMatching(/Reference: [0-9a-f-]{36}/) });
    const { taskId = '', referenceId = '' } = refused.told.metadata ?? {};
    const { history: _own, ...task } = await who.get(taskId); // the message is the caller's own
    const streamed = (await collect(who.stream(`fail ${SECRET}`))).slice(1);
    const told = JSON.stringify([refused.told, task, streamed]);
    expect(told).not.toMatch(inside);
    const line = await eventually('the log line', () => logged.find((text) => text.includes(referenceId)));
    expect(line).toContain(SECRET); // whoever runs the agent finds it there
  });

  test.each(callers)('$name: does not show in answers to what is no JSON, no request or no id (case 71, case 95)', async (raw) => {
    const printed = raw.print('SendMessage', sendRequest(SECRET));
    const bodies = [
      '',
      '{',
      `{"a":"${SECRET}`,
      `"${SECRET}"`,
      `[${'['.repeat(2_000)}`,
      '\u0000',
      printed.body?.replace('"parts"', '"portions"') ?? '',
    ];
    for (const body of bodies) {
      const response = await fetch(stage.by(raw).url + printed.path, { method: 'POST', headers: printed.headers, body });
      const text = await response.text();
      expect(response.headers.get('content-type')).toMatch(/^application\/(a2a\+)?json$/);
      expect(text).not.toMatch(inside);
    }
  });
});

describe('a stream', () => {
  test.each(callers)(
    '$name: to what has ended, and a message to it, are plain errors at once (case 52, SEND-05, STRM-08, SUB-03)',
    async (raw) => {
      const who = stage.by(raw);
      const { id } = await who.send('done');
      for (const [operation, request] of [
        ['SendMessage', sendRequest('more', { taskId: id })],
        ['SendStreamingMessage', sendRequest('more', { taskId: id })],
        ['SubscribeToTask', { id }],
      ] as const) {
        const response = await who.fetch(operation, request);
        expect(response.headers.get('content-type')).toMatch(/^application\/(a2a\+)?json$/);
        const { status, error } = await raw.read(response);
        expectTold(new Refused({ status, headers: response.headers }, error as Told), raw.name, 'UNSUPPORTED_OPERATION'); // it is there, or the line fails
      }
    },
  );

  test.each(callers)('$name: to an unknown task is a plain typed error before any event (case 53, STRM-08, SUB-02)', async (raw) => {
    const who = stage.by(raw);
    for (const [operation, request] of [
      ['SendStreamingMessage', sendRequest('x', { taskId: 'no-such-task' })],
      ['SubscribeToTask', { id: 'no-such-task' }],
    ] as const) {
      const response = await who.fetch(operation, request);
      expect(response.headers.get('content-type')).not.toBe('text/event-stream');
      expect(response.status).toBe(raw.name === 'REST' ? 404 : 200);
      expect((await raw.read(response)).error?.reason).toBe('TASK_NOT_FOUND');
    }
  });

  test.each(callers)('$name: that breaks after its start tells one typed error event, then closes (case 53, AMB-12)', async (raw) => {
    const who = stage.by(raw);
    const { id } = await who.send('ask who?');
    const two = await Promise.all([0, 1].map((index) => opened(who.at(index).subscribe(id))));
    // what a purge does, to a task that is still followed
    (await exec(stage.rig.store, `DELETE FROM chorus_task WHERE id = '${id}'`)).close();
    for (const { all } of two) {
      const [snapshot, error, ...more] = await all;
      expect(taskIn(snapshot).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(error?.error).toMatchObject({ reason: 'TASK_NOT_FOUND', code: raw.name === 'REST' ? 404 : -32001 });
      expect(more).toEqual([]);
    }
  });
});

describe('an agent that fails first thing', () => {
  test.each(callers)(
    '$name: is an error to its blocking sender, and a FAILED task of the id that the error names (case 32)',
    async (raw) => {
      const who = stage.by(raw);
      const refused = await refusalOf(who.at(0).send('fail'));
      expect(refused.told.reason).toBe('INTERNAL');
      const task = await who.at(1).get(refused.told.metadata?.['taskId'] ?? '');
      expect(task.status.state).toBe('TASK_STATE_FAILED');
      expect(task.history).toMatchObject([{ role: 'ROLE_USER', parts: [{ text: 'fail' }] }]);
    },
  );

  test.each(callers)('$name: is a Task and then its end to a stream, under one id (case 32, STRM-04)', async (raw) => {
    const who = stage.by(raw);
    const seen = await collect(who.stream('fail'));
    const { id } = taskIn(seen[0]);
    expect(statesOf(seen).at(-1)).toBe('TASK_STATE_FAILED');
    for (const { item } of seen.slice(1)) expect(item).toMatchObject({ statusUpdate: { taskId: id } });
    expect((await who.get(id)).status.state).toBe('TASK_STATE_FAILED');
  });

  test.each(callers)(
    '$name: after its first answer ends FAILED in a second, told to streams, the message kept (case 31, SEND-03)',
    async (raw) => {
      const who = stage.by(raw);
      // it fails after one second, and one more is allowed
      await inTime(2_000, async () => {
        const { id } = await who.start('work hard; emit 2 0; silent 1000; fail');
        const seen = await opened(who.subscribe(id));
        const task = await ended(who, id);
        expect(task.status.state).toBe('TASK_STATE_FAILED');
        expect(task.metadata?.['chorus/error']).toMatchObject({ code: 'INTERNAL' });
        expect(textsIn(task).join('')).toBe('1 2 ');
        expect(task.history?.map(({ role }) => role)).toEqual(['ROLE_USER', 'ROLE_AGENT']); // what was said before it failed is kept
        expect(statesOf(await seen.all).at(-1)).toBe('TASK_STATE_FAILED');
      });
    },
  );

  test.each(callers)('$name: after its first word gives its sender the FAILED task that holds the word (P7)', async (raw) => {
    const task = await stage.by(raw).send('artifact a word; fail');
    expect([task.status.state, textsIn(task)]).toEqual(['TASK_STATE_FAILED', ['word']]);
  });
});
