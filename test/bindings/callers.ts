import type { Json } from '../../src/protocol/types.ts';
import type { OperationName } from '../../src/wire/operations.ts';

/** What came back, in words that are the same for both bindings. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** JSON of the result, if it is one. */
  readonly result?: unknown;
  readonly error?: Told;
}

/** An error as either binding tells it. */
export interface Told {
  /** JSON-RPC's number, or REST's HTTP status in the body. */
  readonly code: number;
  readonly message: string;
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  readonly metadata: Record<string, string> | undefined;
  readonly violations: readonly { readonly field: string; readonly description: string }[];
  readonly details: readonly Record<string, unknown>[];
  /** Only REST has one. */
  readonly status?: string;
}

/** A request's fields, for REST scalars where they stand in path or query. */
export type Wanted = Readonly<Record<string, Json>>;

export interface Asking {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** A request as it goes out, for tests that change something in it first. */
export interface Printed {
  readonly method: string;
  /** Below the mount's base, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A client of one binding that does exactly what it is told and hides nothing. */
export interface RawCaller {
  readonly name: string;
  print(operation: OperationName, request: Wanted): Printed;
  fetch(base: string, operation: OperationName, request: Wanted, asking?: Asking): Promise<Response>;
  read(response: Response): Promise<Answered>;
  /** The payload of one SSE event. */
  readEvent(data: string): { readonly result?: unknown; readonly error?: Told };
}

const version = { 'a2a-version': '1.0' };

const fetchPrinted = (base: string, { path, headers, ...printed }: Printed, asking: Asking = {}): Promise<Response> =>
  fetch(base + path, { ...printed, headers: { ...headers, ...asking.headers }, ...(asking.signal ? { signal: asking.signal } : {}) });

const toTold = (error: Record<string, unknown>, details: unknown): Told => {
  const list = details as Record<string, unknown>[]; // every error of ours has them: the tests look
  const typed = (name: string): Record<string, unknown> | undefined =>
    list.find((one) => one['@type'] === `type.googleapis.com/google.rpc.${name}`);
  return {
    code: error['code'] as number,
    message: error['message'] as string,
    reason: typed('ErrorInfo')?.['reason'] as string | undefined,
    domain: typed('ErrorInfo')?.['domain'] as string | undefined,
    metadata: typed('ErrorInfo')?.['metadata'] as Record<string, string> | undefined,
    violations: (typed('BadRequest')?.['fieldViolations'] ?? []) as Told['violations'],
    details: list,
    ...(error['status'] === undefined ? {} : { status: error['status'] as string }),
  };
};

/** JSON-RPC as a stranger speaks it. */
export const jsonRpc: RawCaller = {
  name: 'JSON-RPC',
  print: (operation, params) => ({
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/json', ...version },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: operation, params }),
  }),
  fetch(base, operation, request, asking) {
    return fetchPrinted(base, this.print(operation, request), asking);
  },
  async read(response) {
    const json = (await response.json()) as Record<string, unknown>; // an answer is an object: the tests look
    return { status: response.status, headers: response.headers, ...this.readEvent(JSON.stringify(json)) };
  },
  readEvent(data) {
    const json = JSON.parse(data) as Record<string, unknown>; // as above
    const error = json['error'] as Record<string, unknown> | undefined;
    return error ? { error: toTold(error, error['data']) } : { result: json['result'] };
  },
};

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

const pathOf = (operation: OperationName, request: Wanted): readonly [method: string, path: string] => {
  const id = encodeURIComponent(textOf(request['id']));
  const configs = `/tasks/${encodeURIComponent(textOf(request['taskId']))}/pushNotificationConfigs`;
  switch (operation) {
    case 'SendMessage':
      return ['POST', '/message:send'];
    case 'SendStreamingMessage':
      return ['POST', '/message:stream'];
    case 'GetTask':
      return ['GET', `/tasks/${id}`];
    case 'ListTasks':
      return ['GET', '/tasks'];
    case 'CancelTask':
      return ['POST', `/tasks/${id}:cancel`];
    case 'SubscribeToTask':
      return ['POST', `/tasks/${id}:subscribe`];
    case 'CreateTaskPushNotificationConfig':
      return ['POST', configs];
    case 'GetTaskPushNotificationConfig':
      return ['GET', `${configs}/${id}`];
    case 'ListTaskPushNotificationConfigs':
      return ['GET', configs];
    case 'DeleteTaskPushNotificationConfig':
      return ['DELETE', `${configs}/${id}`];
    default:
      return ['GET', '/extendedAgentCard'];
  }
};

/** REST as a stranger speaks it. */
export const rest: RawCaller = {
  name: 'REST',
  print(operation, request) {
    const { tenant, ...body } = request;
    const [method, path] = pathOf(operation, body);
    const bound = new Set(path.includes('/tasks/') ? ['id', 'taskId'] : []);
    const left = Object.fromEntries(Object.entries(body).filter(([name]) => !bound.has(name)));
    const query =
      method === 'GET'
        ? `?${Object.entries(left)
            .map(([name, value]) => `${name}=${encodeURIComponent(textOf(value))}`)
            .join('&')}`
        : '';
    return {
      method,
      path: `/rest${tenant === undefined ? '' : `/${textOf(tenant)}`}${path}${query}`,
      headers: { ...(method === 'POST' ? { 'content-type': 'application/a2a+json' } : {}), ...version },
      ...(method === 'POST' ? { body: JSON.stringify(left) } : {}),
    };
  },
  fetch(base, operation, request, asking) {
    return fetchPrinted(base, this.print(operation, request), asking);
  },
  async read(response) {
    return { status: response.status, headers: response.headers, ...this.readEvent(await response.text()) };
  },
  readEvent(data) {
    const json = JSON.parse(data) as Record<string, unknown>; // as above
    const error = json['error'] as Record<string, unknown> | undefined;
    return error ? { error: toTold(error, error['details']) } : { result: json };
  },
};

/** Whatever holds, holds on both (BIND-01 to BIND-03). */
export const callers: readonly RawCaller[] = [jsonRpc, rest];

/** All operations with a request that reads well. */
export const wellFormed: { readonly [N in OperationName]: Wanted } = {
  SendMessage: { message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } },
  SendStreamingMessage: { message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } },
  GetTask: { id: 'task-1' },
  ListTasks: {},
  CancelTask: { id: 'task-1' },
  SubscribeToTask: { id: 'task-1' },
  CreateTaskPushNotificationConfig: { taskId: 'task-1', url: 'https://example.com/hook' },
  GetTaskPushNotificationConfig: { taskId: 'task-1', id: 'config-1' },
  ListTaskPushNotificationConfigs: { taskId: 'task-1' },
  DeleteTaskPushNotificationConfig: { taskId: 'task-1', id: 'config-1' },
  GetExtendedAgentCard: {},
};

/** One event as it stood on the wire. */
export interface Event {
  readonly id?: string;
  readonly data?: string;
  readonly comment?: string;
}

/** Reads one SSE stream event by event; comments are kept, because the tests look at heartbeats. */
export async function* events(response: Response): AsyncGenerator<Event> {
  const text = new TextDecoder();
  let left = '';
  if (!response.body) return;
  for await (const bytes of response.body) {
    left += text.decode(bytes, { stream: true });
    for (let end = left.indexOf('\n\n'); end >= 0; end = left.indexOf('\n\n')) {
      const lines = left.slice(0, end).split('\n');
      left = left.slice(end + 2);
      const line = (name: string): string | undefined => lines.find((one) => one.startsWith(name))?.slice(name.length);
      const [id, data, comment] = [line('id: '), line('data: '), line(':')];
      yield { ...(id === undefined ? {} : { id }), ...(data === undefined ? {} : { data }), ...(comment === undefined ? {} : { comment }) };
    }
  }
}

/** All of a stream that ends by itself. */
export async function allEvents(response: Response): Promise<readonly Event[]> {
  const list: Event[] = [];
  for await (const event of events(response)) list.push(event);
  return list;
}
