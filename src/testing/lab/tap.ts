import type { A2AError } from '../../protocol/errors.ts';
import { isA2AError } from '../../protocol/errors.ts';
import { isPlainObject } from '../../protocol/json.ts';
import type { StreamResponse, Task } from '../../protocol/types.ts';
import { fromJsonRpcError, fromRestError } from '../../wire/error-reading.ts';
import { readResponse } from '../../wire/json-rpc.ts';
import type { OperationName } from '../../wire/operations.ts';
import { operationNamed } from '../../wire/operations.ts';
import { matchRest, restRequest } from '../../wire/rest.ts';
import type { Fact, FactHead, History, Outcome } from '../facts.ts';
import { errorOutcome } from '../facts.ts';
import { taskIdOf } from '../probe.ts';

/** A request as it went over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly lastEventId: string | undefined;
}

/** What a request asks for, read as any listener on the wire could. */
export interface Asked {
  readonly operation: OperationName;
  readonly isRest: boolean;
  readonly id: string | number;
  readonly messageId: string;
  /** The task it names, in the message or as its subject. */
  readonly taskId?: string;
  readonly historyLength?: number;
  readonly after?: number;
}

const REST = '/rest';

/** Reads a request; undefined for the card and for what is no operation. */
export function readAsked({ method, path, query, body, lastEventId }: WireRequest): Asked | undefined {
  const json: unknown = body === '' ? undefined : JSON.parse(body);
  const after = lastEventId === undefined || !/^\d+$/.test(lastEventId) ? {} : { after: Number(lastEventId) };
  if (path.startsWith(`${REST}/`)) {
    const match = matchRest(method, path.slice(REST.length));
    if (match.kind !== 'operation') return undefined;
    const request = restRequest(match.operation, match.params, json === undefined ? { query } : { body: json });
    return { ...askedIn(request), ...after, operation: match.operation.name, isRest: true, id: 0 };
  }
  if (!isPlainObject(json) || typeof json['method'] !== 'string') return undefined;
  const operation = operationNamed(json['method']);
  const id = json['id'];
  if (!operation || (typeof id !== 'string' && typeof id !== 'number')) return undefined;
  return { ...askedIn(json['params']), ...after, operation: operation.name, isRest: false, id };
}

function askedIn(request: unknown): Pick<Asked, 'messageId' | 'taskId' | 'historyLength'> {
  if (!isPlainObject(request)) return { messageId: '' };
  const message = isPlainObject(request['message']) ? request['message'] : {};
  const configuration = isPlainObject(request['configuration']) ? request['configuration'] : {};
  const taskId = request['id'] ?? message['taskId'];
  const historyLength = request['historyLength'] ?? configuration['historyLength'];
  return {
    messageId: typeof message['messageId'] === 'string' ? message['messageId'] : '',
    ...(typeof taskId === 'string' ? { taskId } : {}),
    ...(historyLength === undefined ? {} : { historyLength: Number(historyLength) }),
  };
}

/** What a tap is told beside the request. */
export interface TapParts {
  readonly history: History;
  readonly observer: string;
  readonly at: () => number;
  readonly replica: () => string | undefined;
  /** The reader is at its last: what it reads now has to be what the store has. */
  readonly isFinal: () => boolean;
}

/**
 * Listens on one connection between a client and a replica, and writes down what it heard. Whatever client it is, nothing is asked of it.
 */
export class Tap {
  readonly asked: Asked;
  readonly #parts: TapParts;
  readonly #reader: string;
  #taskId: string | undefined;
  #state: 'new' | 'answered' | 'open' | 'closed' = 'new';
  #isSent = false;
  /** Id of the last item that went to the client. */
  seq: number | undefined;

  constructor(asked: Asked, parts: TapParts) {
    this.asked = asked;
    this.#parts = parts;
    this.#taskId = asked.operation === 'SubscribeToTask' ? asked.taskId : undefined;
    this.#reader = this.isStream ? parts.history.nextReader(parts.observer) : parts.observer;
  }

  get observer(): string {
    return this.#parts.observer;
  }

  get isStream(): boolean {
    return this.asked.operation === 'SubscribeToTask' || this.asked.operation === 'SendStreamingMessage';
  }

  /** The task of the stream, once it is known. */
  get taskId(): string | undefined {
    return this.#taskId;
  }

  /** The one answer came, whole. Gives the error it tells, if it tells one. */
  reply(status: number, body: string): A2AError | undefined {
    try {
      const json: unknown = body === '' ? undefined : JSON.parse(body);
      this.#outcome(outcomeIn(this.#result(status, json), this.asked.operation));
      return undefined;
    } catch (error) {
      if (!isA2AError(error)) throw error;
      this.#outcome(errorOutcome(error));
      return error;
    }
  }

  /** A stream was answered; its pieces follow. */
  opened(): void {
    this.#state = 'answered';
    if (this.#taskId !== undefined) this.#open();
  }

  /** One event, whole. */
  event(text: string): A2AError | undefined {
    const data = /^data: (.*)$/m.exec(text)?.[1];
    if (data === undefined) return undefined; // a heartbeat
    const id = /^id: (\d+)$/m.exec(text)?.[1];
    try {
      this.#item(this.#read(JSON.parse(data)), id === undefined ? undefined : Number(id));
      return undefined;
    } catch (error) {
      if (!isA2AError(error)) throw error;
      this.#outcome(errorOutcome(error));
      this.close('error', error);
      return error;
    }
  }

  close(how: 'ended' | 'cut' | 'error', error?: A2AError): void {
    this.lost(how);
    if (this.#state === 'open') {
      const more = { ...(this.#taskId === undefined ? {} : { taskId: this.#taskId }), ...(error ? { code: error.code } : {}) };
      this.#record({ ...this.#head(), observer: this.#reader, kind: 'close', how, ...more });
    }
    this.#state = 'closed';
  }

  /** No answer came. */
  lost(why: string): void {
    this.#outcome({ kind: 'lost', why });
  }

  #result(status: number, json: unknown): unknown {
    if (!this.asked.isRest) return readResponse(json, this.asked.id);
    if (status >= 400) throw fromRestError({ status, body: json });
    return json;
  }

  #read(json: unknown): StreamResponse {
    if (isPlainObject(json) && 'error' in json) {
      throw this.asked.isRest ? fromRestError({ status: 200, body: json }) : fromJsonRpcError(json['error']);
    }
    return (this.asked.isRest ? json : readResponse(json, this.asked.id)) as StreamResponse; // the agent's word: the checker looks at it
  }

  #item(item: StreamResponse, seq: number | undefined): void {
    if ('task' in item) this.#outcome({ kind: 'task', task: item.task });
    if ('message' in item) this.#outcome({ kind: 'message' });
    this.#taskId ??= taskIdOf(item);
    if (this.#taskId === undefined) return; // a direct message belongs to no task
    if (this.#state === 'answered') this.#open();
    if (seq !== undefined) this.seq = seq;
    const { historyLength } = this.asked;
    this.#record({
      ...this.#head(),
      observer: this.#reader,
      kind: 'item',
      taskId: this.#taskId,
      item,
      ...(seq === undefined ? {} : { seq }),
      ...(historyLength === undefined ? {} : { historyLength }),
    });
  }

  #open(): void {
    this.#state = 'open';
    const { after, operation } = this.asked;
    const cursor = after === undefined ? {} : { after };
    this.seq = after;
    const task = this.#taskId === undefined ? {} : { taskId: this.#taskId };
    const how = operation === 'SubscribeToTask' ? 'subscribe' : 'send';
    this.#record({ ...this.#head(), observer: this.#reader, kind: 'open', how, ...task, ...cursor });
  }

  /** The outcome of the call, told once. */
  #outcome(outcome: Outcome): void {
    if (this.#isSent) return;
    this.#isSent = true;
    const { operation, messageId, taskId, historyLength } = this.asked;
    const named = taskId === undefined ? {} : { taskId };
    const trimmed = historyLength === undefined ? {} : { historyLength };
    const head = this.#head();
    if (operation === 'SendMessage' || operation === 'SendStreamingMessage')
      return this.#record({ ...head, kind: 'send', messageId, ...named, ...trimmed, outcome });
    if (taskId === undefined) return;
    if (operation === 'CancelTask') this.#record({ ...head, kind: 'cancel', taskId, outcome });
    if (operation === 'GetTask') this.#record({ ...head, kind: 'read', taskId, ...trimmed, outcome, isFinal: this.#parts.isFinal() });
  }

  #head(): FactHead {
    const replica = this.#parts.replica();
    return { at: this.#parts.at(), observer: this.#parts.observer, ...(replica === undefined ? {} : { replica }) };
  }

  #record(fact: Fact): void {
    this.#parts.history.record(fact);
  }
}

function outcomeIn(result: unknown, operation: OperationName): Outcome {
  if (!isPlainObject(result)) return { kind: 'message' };
  const task = operation === 'SendMessage' ? result['task'] : result;
  if (task === undefined) return { kind: 'message' };
  return { kind: 'task', task: task as Task }; // the agent's word: the checker looks at it
}
