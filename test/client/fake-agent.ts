import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { AgentCard, StreamResponse, Task } from '../../src/protocol/types.ts';
import type { Binding, Client, ConnectOptions } from '../../src/client.ts';
import { connect } from '../../src/client.ts';

/** Both bindings, for tests that must hold on each. */
export const bindings: readonly Binding[] = ['JSONRPC', 'HTTP+JSON'];

/** A request as the fake agent got it, whatever binding it came by. */
export interface Asked {
  readonly binding: Binding;
  /** The operation: the JSON-RPC method, or what the REST path stands for. */
  readonly operation: string;
  readonly method: string;
  /** With the query, below the server's root. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The body: of JSON-RPC the params. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Of JSON-RPC. */
  readonly id: unknown;
}

/** Answers one request, as well or as badly as a test wants. */
export type Answer = (asked: Asked, response: ServerResponse) => void;

/** A server that misbehaves as told, over real sockets. */
export class FakeAgent implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** Connections that were ever made. */
  connections = 0;
  readonly #server = createServer((request, response) => void this.#take(request, response));
  readonly #sockets = new Set<Socket>();
  readonly #open = new Set<ServerResponse>();
  readonly #answer: Answer;
  readonly #card: (origin: string) => unknown;

  private constructor(answer: Answer, card: (origin: string) => unknown) {
    this.#answer = answer;
    this.#card = card;
    this.#server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined); // resets are part of the play
    });
  }

  static async open(answer: Answer, card: (origin: string) => unknown = cardAt): Promise<FakeAgent> {
    const agent = new FakeAgent(answer, card);
    await new Promise<void>((resolve) => agent.#server.listen(0, '127.0.0.1', resolve));
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on a port, so it is one
  }

  /** Answers that are under way. Not sockets: the `fetch` of Node opens an idle one in place of one it had to break. */
  get open(): number {
    return this.#open.size;
  }

  /** The operations that were asked for, in order. */
  get operations(): readonly string[] {
    return this.asked.map(({ operation }) => operation);
  }

  connect(binding: Binding = 'JSONRPC', options: ConnectOptions = {}): Promise<Client> {
    return connect(this.url, { prefer: binding, retry: quick, reconnect: quick, pollMs: 5, ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    if (url === '/.well-known/agent-card.json') return sendJson(response, this.#card(this.url));
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>); // our client wrote it
    const isRpc = url.startsWith('/rpc');
    const asked: Asked = {
      binding: isRpc ? 'JSONRPC' : 'HTTP+JSON',
      operation: isRpc ? String(json['method']) : operationOf(method, url),
      method,
      path: url,
      headers,
      params: isRpc ? (json['params'] as Record<string, unknown>) : json, // see above
      id: json['id'],
    };
    this.asked.push(asked);
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
    this.#answer(asked, response);
  }
}

/** Waits that are no longer than a test wants to take. */
export const quick = { tries: 6, firstMs: 1, mostMs: 5 } as const;

/** A card with both interfaces. */
export function cardAt(origin: string): AgentCard {
  return {
    name: 'Fake',
    description: 'Answers as told.',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${origin}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}

function operationOf(method: string, url: string): string {
  const path = url.split('?')[0] ?? '';
  if (path.endsWith('/message:send')) return 'SendMessage';
  if (path.endsWith('/message:stream')) return 'SendStreamingMessage';
  if (path.endsWith(':cancel')) return 'CancelTask';
  if (path.endsWith(':subscribe')) return 'SubscribeToTask';
  if (path.includes('/pushNotificationConfigs'))
    return method === 'DELETE' ? 'DeleteTaskPushNotificationConfig' : 'PushNotificationConfigs';
  return path.endsWith('/tasks') ? 'ListTasks' : 'GetTask';
}

/** Prints JSON as one answer. */
export function sendJson(response: ServerResponse, json: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
}

/** Answers with a result, in the form of the binding that asked. */
export function sendResult({ binding, id }: Asked, response: ServerResponse, result: unknown): void {
  sendJson(response, binding === 'JSONRPC' ? { jsonrpc: '2.0', id, result } : result);
}

/** How an error of the protocol looks on both bindings. */
export interface WireError {
  readonly jsonRpc: number;
  readonly http: number;
  readonly reason: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Seconds, as RetryInfo. */
  readonly retrySeconds?: number;
}

/** Answers with an error, in the form of the binding that asked. */
export function sendError(asked: Asked, response: ServerResponse, error: WireError): void {
  if (asked.binding === 'JSONRPC') sendJson(response, errorText(asked, error));
  else sendJson(response, errorText(asked, error), error.http);
}

/** An error as the JSON of a response or of a stream's item. */
export function errorText(
  { binding, id }: Asked,
  { jsonRpc, http, reason, message = 'as told', metadata, retrySeconds }: WireError,
): unknown {
  const details = [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org', ...(metadata ? { metadata } : {}) },
    ...(retrySeconds === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retrySeconds}s` }]),
  ];
  if (binding === 'JSONRPC') return { jsonrpc: '2.0', id, error: { code: jsonRpc, message, data: details } };
  return { error: { code: http, status: 'UNKNOWN', message, details } };
}

/** The error that says "come back". */
export const unavailable: WireError = { jsonRpc: -32603, http: 503, reason: 'UNAVAILABLE', retrySeconds: 0.001 };

/** Begins a stream. */
export function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
}

/** One item as the text of an event, in the form of the binding that asked. */
export function eventText({ binding, id }: Asked, item: StreamResponse, seq?: number | string): string {
  const json = binding === 'JSONRPC' ? { jsonrpc: '2.0', id, result: item } : item;
  return `${seq === undefined ? '' : `id: ${seq}\n`}data: ${JSON.stringify(json)}\n\n`;
}

/** Sends items, each with its seq if it has one, and ends the stream. */
export function sendStream(asked: Asked, response: ServerResponse, items: readonly Numbered[]): void {
  openStream(response);
  response.end(items.map(([item, seq]) => eventText(asked, item, seq)).join(''));
}

/** An item and its seq. */
export type Numbered = readonly [item: StreamResponse, seq?: number | string];

/** Sends items and then cuts the connection, once what was written has left. */
export function sendAndCut(asked: Asked, response: ServerResponse, items: readonly Numbered[]): void {
  openStream(response);
  response.write(`:\n\n${items.map(([item, seq]) => eventText(asked, item, seq)).join('')}`, () => response.socket?.destroy());
}

/** The task that fake agents speak of. */
export const TASK_ID = 'task-1';
const ids = { taskId: TASK_ID, contextId: 'context-1' };

/** That task in some state. */
export function taskIn(state: string, more: Partial<Task> = {}): Task {
  return { id: TASK_ID, contextId: 'context-1', status: { state: state as Task['status']['state'] }, ...more }; // some tests want unknown ones
}

/** A status of that task. */
export function statusItem(state: string): StreamResponse {
  return { statusUpdate: { ...ids, status: { state: state as Task['status']['state'] } } }; // see taskIn
}

/** A piece of that task's one artifact. */
export function chunkItem(text: string, append = true): StreamResponse {
  return { artifactUpdate: { ...ids, artifact: { artifactId: 'out', parts: [{ text }] }, ...(append ? { append } : {}) } };
}

/** Looks again and again until it holds. */
export async function eventually(holds: () => boolean, deadlineMs = 15_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`did not come true within ${deadlineMs} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
