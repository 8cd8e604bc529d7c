import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../src/protocol/errors.ts';
import { A2AError } from '../../src/protocol/errors.ts';
import { allEvents, callers, jsonRpc, rest } from './callers.ts';
import { aTask, chunk, Feed, onStage } from './stage.ts';

// behaviour.md, table B, written down once more: [code, JSON-RPC, its HTTP status, REST's HTTP status, REST's status name]
const table: readonly (readonly [ErrorCode, number, number, number, string])[] = [
  ['TASK_NOT_FOUND', -32001, 200, 404, 'NOT_FOUND'],
  ['TASK_NOT_CANCELABLE', -32002, 200, 400, 'FAILED_PRECONDITION'],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', -32003, 200, 400, 'FAILED_PRECONDITION'],
  ['UNSUPPORTED_OPERATION', -32004, 200, 400, 'FAILED_PRECONDITION'],
  ['CONTENT_TYPE_NOT_SUPPORTED', -32005, 200, 400, 'INVALID_ARGUMENT'],
  ['INVALID_AGENT_RESPONSE', -32006, 200, 500, 'INTERNAL'],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32007, 200, 400, 'FAILED_PRECONDITION'],
  ['EXTENSION_SUPPORT_REQUIRED', -32008, 200, 400, 'FAILED_PRECONDITION'],
  ['VERSION_NOT_SUPPORTED', -32009, 200, 400, 'FAILED_PRECONDITION'],
  ['INVALID_PARAMS', -32602, 200, 400, 'INVALID_ARGUMENT'],
  ['TOO_LARGE', -32600, 200, 413, 'RESOURCE_EXHAUSTED'],
  ['INTERNAL', -32603, 200, 500, 'INTERNAL'],
  ['UNAVAILABLE', -32603, 200, 503, 'UNAVAILABLE'],
  ['UNAUTHENTICATED', -32031, 401, 401, 'UNAUTHENTICATED'],
  ['PERMISSION_DENIED', -32032, 403, 403, 'PERMISSION_DENIED'],
];

const throwing = (error: unknown) => ({
  getTask: async (): Promise<never> => {
    throw error;
  },
  subscribeToTask: async (): Promise<never> => {
    throw error;
  },
});

describe('errors on both bindings', () => {
  test.each(table)(
    '%s has its number, status and ErrorInfo on both, in unary and streaming calls (ERR-20, BIND-03, case 68)',
    async (...row) => {
      const [code, number, rpcHttp, restHttp, name] = row;
      const error = new A2AError(code, 'Told to the caller.', { metadata: { taskId: 'x' } });
      await using open = await onStage({ operations: throwing(error) });
      for (const operation of ['GetTask', 'SubscribeToTask'] as const) {
        for (const caller of callers) {
          const answer = await caller.read(await caller.fetch(open.url, operation, { id: 'task-1' }));
          expect(answer.status).toBe(caller === jsonRpc ? rpcHttp : restHttp);
          expect(answer.error).toMatchObject({ reason: code, domain: 'a2a-protocol.org', metadata: { taskId: 'x' } });
          expect(answer.error?.code).toBe(caller === jsonRpc ? number : restHttp);
          expect(answer.error?.message).toContain('Told to the caller.');
          if (caller === rest) expect(answer.error?.status).toBe(name);
          expect(answer.error?.details.every((one) => typeof one['@type'] === 'string')).toBe(true); // RPC-07, REST-13
          expect(answer.headers.get('content-type')).toBe(caller === jsonRpc ? 'application/json' : 'application/a2a+json');
        }
      }
    },
  );

  test.each(callers)('$name names every field that is wrong and why (ERR-10, RPC-08, REST-14)', async (caller) => {
    await using open = await onStage();
    const answer = await caller.read(await caller.fetch(open.url, 'SendMessage', { message: { role: 'ROLE_USER', parts: [{}] } }));
    expect(answer.error?.reason).toBe('INVALID_PARAMS');
    expect(answer.error?.violations.map(({ field }) => field)).toEqual(['message.messageId', 'message.parts[0]']);
    expect(open.stage.seen).toEqual([]);
  });

  test.each(callers)('$name tells when to try again (ERR-14, ERR-15)', async (caller) => {
    await using open = await onStage({ operations: throwing(new A2AError('UNAVAILABLE', 'Later.', { retryAfterMs: 2_500 })) });
    const answer = await caller.read(await caller.fetch(open.url, 'GetTask', { id: 'x' }));
    expect(answer.headers.get('retry-after')).toBe('3');
    expect(answer.error?.details).toContainEqual({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2.5s' });
  });

  test.each(callers)(
    '$name tells nothing of an unexpected error but a reference, under which the logger has it (case 71)',
    async (caller) => {
      await using open = await onStage({ operations: throwing(new Error('password=hunter2 SELECT * FROM task /srv/app')) });
      const response = await caller.fetch(open.url, 'GetTask', { id: 'x' });
      const answer = await caller.read(response.clone());
      expect(await response.text()).not.toMatch(/hunter2|SELECT|srv|at /);
      expect(answer.error?.reason).toBe('INTERNAL');
      const reference = answer.error?.metadata?.['referenceId'];
      expect(reference).toMatch(/^[\da-f-]{36}$/);
      const line = open.stage.logged.find(({ fields }) => fields['referenceId'] === reference);
      expect(String(line?.fields['error'])).toContain('hunter2');
    },
  );

  test.each(callers)('$name tells an error after the first event as one last event, then closes (AMB-12, case 53)', async (caller) => {
    const feed = new Feed();
    feed.push(
      { seq: 1, item: { task: aTask } },
      chunk(2),
      new A2AError('TASK_NOT_FOUND', 'It was purged.', { metadata: { taskId: 'task-1' } }),
    );
    await using open = await onStage({ operations: { subscribeToTask: async () => feed } });
    const response = await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' });
    expect(response.status).toBe(200);
    const got = await allEvents(response);
    expect(got.map(({ id }) => id)).toEqual(['1', '2', undefined]);
    const { error } = caller.readEvent(got[2]?.data ?? '');
    expect(error).toMatchObject({ reason: 'TASK_NOT_FOUND', code: caller === jsonRpc ? -32001 : 404 });
  });

  test.each(callers)('$name hides what an unexpected error in mid-stream says (case 71)', async (caller) => {
    const feed = new Feed();
    feed.push(chunk(1), new Error('secret of the store'));
    await using open = await onStage({ operations: { subscribeToTask: async () => feed } });
    const got = await allEvents(await caller.fetch(open.url, 'SubscribeToTask', { id: 'task-1' }));
    expect(got).toHaveLength(2);
    expect(got[1]?.data).not.toContain('secret');
    expect(caller.readEvent(got[1]?.data ?? '').error?.reason).toBe('INTERNAL');
  });

  test.each(callers)('$name challenges who brings no credentials, before the body is looked at (AMB-27, AUTH-09)', async (caller) => {
    const identify = (): never => {
      throw new A2AError('UNAUTHENTICATED', 'Bring a token.', { metadata: { challenge: 'Bearer realm="stage"' } });
    };
    await using open = await onStage({ identify });
    const answer = await caller.read(await caller.fetch(open.url, 'SendMessage', { message: 'not even a message' }));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="stage"');
    expect(answer.error?.reason).toBe('UNAUTHENTICATED');
  });
});
