import type { Content } from '../protocol/parts.ts';
import { A2AError } from '../protocol/errors.ts';
import type { AgentCard, AgentInterface, ListTasksRequest, ListTasksResponse, Message, Task } from '../protocol/types.ts';
import type { RequestOf, ResponseOf } from '../wire/operations.ts';
import { isTask } from './answers.ts';
import type { CallOptions, Calls, KeyOptions } from './calls.ts';
import type { MessageDraft, SendOptions } from './message.ts';
import type { StreamingName, StreamItem, UnaryName } from './question.ts';
import { Sender } from './sender.ts';
import type { TaskHandle } from './task-handle.ts';
import { RemoteTask } from './task-handle.ts';
import type { TaskStream } from './task-stream.ts';
import { badAnswer } from './trouble.ts';

/** Which tasks to list; all of the caller's without one. */
export type ListFilter = Omit<ListTasksRequest, 'tenant' | 'pageToken'>;

/** What one connection of a stream can be told. */
export interface OpenOptions extends KeyOptions {
  /** Sent as `Last-Event-ID`: goes on behind that item. */
  readonly after?: string;
}

/** An agent, seen from outside. Made by `connect`; it holds no connection, so there is nothing to close. */
export interface Client {
  /** The card as the agent gave it. */
  readonly card: AgentCard;
  /** The interface of the card that is used, whole. */
  readonly interface: AgentInterface;
  /** Sends a message and waits: a Task that has ended or waits for its user, or the Message of an agent that made no task of it. */
  send(what: Content | MessageDraft, options?: SendOptions): Promise<Task | Message>;
  /** Sends a message and comes back as soon as the task exists. An agent that answers with a Message instead makes this reject: use `send`. */
  start(what: Content | MessageDraft, options?: SendOptions): Promise<TaskHandle>;
  /** Sends a message and gives the news of its turn, until the task has ended or asks its user something. Nothing is sent before it is read. */
  stream(what: Content | MessageDraft, options?: SendOptions): TaskStream;
  /** A handle to a task whose id is known. */
  task(id: string): TaskHandle;
  /** All tasks, newest status first, page after page as they are needed. */
  list(filter?: ListFilter, options?: CallOptions): AsyncIterable<Task>;
  /** One page of tasks. */
  page(request?: ListTasksRequest, options?: CallOptions): Promise<ListTasksResponse>;
  /** Any of the unary operations as the protocol has it, with tenant, headers and repeats. */
  call<N extends UnaryName>(operation: N, request: RequestOf<N>, options?: KeyOptions): Promise<ResponseOf<N>>;
  /** One connection of a streaming operation as the protocol has it: it is not opened again when it is cut. */
  open<N extends StreamingName>(operation: N, request: RequestOf<N>, options?: OpenOptions): AsyncIterable<StreamItem>;
}

/** A Client over the calls to one interface. */
export class RemoteAgent implements Client {
  readonly card: AgentCard;
  readonly #calls: Calls;
  readonly #sender: Sender;

  constructor(card: AgentCard, calls: Calls) {
    this.card = card;
    this.#calls = calls;
    this.#sender = new Sender(calls, card);
  }

  get interface(): AgentInterface {
    return this.#calls.face;
  }

  send(what: Content | MessageDraft, options: SendOptions = {}): Promise<Task | Message> {
    return this.#sender.send(what, options);
  }

  async start(what: Content | MessageDraft, options: SendOptions = {}): Promise<TaskHandle> {
    const answer = await this.#sender.start(what, options);
    if (isTask(answer)) return new RemoteTask(answer.id, this.#sender, answer);
    throw new A2AError('UNSUPPORTED_OPERATION', 'The agent answered with a message and made no task; use send. The message is the cause.', {
      cause: answer,
    });
  }

  stream(what: Content | MessageDraft, options: SendOptions = {}): TaskStream {
    return this.#sender.stream(what, options);
  }

  task(id: string): TaskHandle {
    return new RemoteTask(id, this.#sender);
  }

  async *list(filter: ListFilter = {}, options: CallOptions = {}): AsyncGenerator<Task, undefined> {
    let pageToken = '';
    do {
      const page = await this.page({ ...filter, ...(pageToken === '' ? {} : { pageToken }) }, options);
      yield* page.tasks;
      // a server that gives the same page for ever would make this loop endless
      if (page.nextPageToken !== '' && page.nextPageToken === pageToken) throw badAnswer('The list goes on with the page it gave before.');
      pageToken = page.nextPageToken;
    } while (pageToken !== ''); // LIST-08
    return undefined;
  }

  page(request: ListTasksRequest = {}, options: CallOptions = {}): Promise<ListTasksResponse> {
    return this.#calls.call('ListTasks', request, options);
  }

  call<N extends UnaryName>(operation: N, request: RequestOf<N>, options: KeyOptions = {}): Promise<ResponseOf<N>> {
    return this.#calls.call(operation, request, options);
  }

  async *open<N extends StreamingName>(
    operation: N,
    request: RequestOf<N>,
    options: OpenOptions = {},
  ): AsyncGenerator<StreamItem, undefined> {
    const { key, after, timeoutMs = Infinity } = options;
    const deadline = this.#calls.deadline(operation, timeoutMs, options.signal);
    try {
      const connection = await this.#calls.open(operation, request, { key, after, signal: deadline.signal });
      yield* connection.items();
    } finally {
      deadline.close();
    }
    return undefined;
  }
}
