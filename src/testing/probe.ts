import { systemClock } from '../ground/clock.ts';
import type { A2AError } from '../protocol/errors.ts';
import { isA2AError } from '../protocol/errors.ts';
import type { AgentCard, ListTasksRequest, ListTasksResponse, SendMessageResponse, StreamResponse, Task } from '../protocol/types.ts';
import { headerNames, mediaTypes } from '../wire/headers.ts';
import type { OperationName, RequestOf, ResponseOf } from '../wire/operations.ts';
import { readEvents } from '../wire/sse.ts';
import type { Fact, FactHead, History, Outcome } from './facts.ts';
import { errorOutcome } from './facts.ts';
import { REPLICA_HEADER } from './front.ts';
import type { ProbeTarget, RequestHeaders } from './probe-wire.ts';
import { bytesOf, ProbeWire } from './probe-wire.ts';
import type { SendWords, StreamWords } from './probe-words.ts';
import { configured, keyHeader, named, readerOf, sendRequest, trimmed } from './probe-words.ts';

/** How a probe reaches an agent, and where it writes down what it saw. */
export interface ProbeOptions extends ProbeTarget {
  /** Its name in the history. */
  readonly observer?: string;
  readonly history?: History;
  /** Which replica stands behind the URL, when it is not a front. */
  readonly replica?: string;
  /** How long an unary call may take. 60,000. */
  readonly timeoutMs?: number;
}

/** One item of a stream, with its id. */
export interface Seen {
  readonly seq?: number;
  readonly item: StreamResponse;
}

/** No answer came, or it broke off: what the call did is unknown. */
export class LostAnswerError extends Error {
  override readonly name = 'LostAnswerError';
}

/**
 * A client that hides nothing: it never repeats a call and never connects again by itself, gives the ids of stream items, and writes every
 * fact it learns into a history. For tests; programs use `connect`.
 */
export class Probe {
  readonly observer: string;
  readonly #options: ProbeOptions;
  readonly #wire: ProbeWire;

  constructor(options: ProbeOptions) {
    this.observer = options.observer ?? options.replica ?? 'probe';
    this.#options = options;
    this.#wire = new ProbeWire(options);
  }

  /** The agent's card, as the replica shows it. */
  card(): Promise<AgentCard> {
    return this.#wire.card();
  }

  /** Sends a message; a task, or a bare message when the agent answers so. */
  async send(text: string, words: SendWords = {}): Promise<SendMessageResponse> {
    const request = sendRequest(text, words);
    const seen: { replica?: string } = {};
    return this.#watched(
      () => this.call('SendMessage', request, { headers: keyHeader(words), seen }),
      (outcome) => ({ ...this.#head(seen.replica), kind: 'send', ...named(request.message), ...trimmed(words), outcome }),
      (response) => ('task' in response ? { kind: 'task', task: response.task } : { kind: 'message' }),
    );
  }

  /** Sends a message that must lead to a task. */
  async sendForTask(text: string, words: SendWords = {}): Promise<Task> {
    const response = await this.send(text, words);
    if (!('task' in response)) throw new Error('A task was expected, a message came.');
    return response.task;
  }

  /** Reads a task. */
  get(taskId: string, words: { readonly historyLength?: number; readonly isFinal?: boolean } = {}): Promise<Task> {
    const { isFinal = false } = words;
    const length = trimmed(words);
    const seen: { replica?: string } = {};
    return this.#watched(
      () => this.call('GetTask', { id: taskId, ...length }, { seen }),
      (outcome) => ({ ...this.#head(seen.replica), kind: 'read', taskId, ...length, outcome, isFinal }),
      (task) => ({ kind: 'task', task }),
    );
  }

  /** Cancels a task. */
  cancel(taskId: string): Promise<Task> {
    const seen: { replica?: string } = {};
    return this.#watched(
      () => this.call('CancelTask', { id: taskId }, { seen }),
      (outcome) => ({ ...this.#head(seen.replica), kind: 'cancel', taskId, outcome }),
      (task) => ({ kind: 'task', task }),
    );
  }

  /** Lists tasks. */
  list(request: ListTasksRequest = {}): Promise<ListTasksResponse> {
    return this.call('ListTasks', request);
  }

  /** Sends a message and gives the items of its stream; leaving the loop cuts the connection. */
  async *stream(text: string, words: SendWords & StreamWords = {}): AsyncGenerator<Seen> {
    const request = sendRequest(text, words);
    const seen: { replica?: string } = {};
    let isSent = false;
    const sent = (outcome: Outcome): void => {
      if (!isSent) this.#record({ ...this.#head(seen.replica), kind: 'send', ...named(request.message), ...trimmed(words), outcome });
      isSent = true;
    };
    try {
      const items = this.items('SendStreamingMessage', request, { headers: keyHeader(words), seen, ...readerOf(words) });
      for await (const one of items) {
        if ('task' in one.item) sent({ kind: 'task', task: one.item.task });
        if ('message' in one.item) sent({ kind: 'message' });
        yield one;
      }
    } catch (error) {
      sent(outcomeOf(error));
      throw error;
    }
  }

  /** Follows a task; `after` goes on behind that id. */
  subscribe(taskId: string, { after, ...words }: StreamWords & { readonly after?: number } = {}): AsyncGenerator<Seen> {
    const headers = after === undefined ? {} : { [headerNames.lastEventId]: String(after) };
    return this.items('SubscribeToTask', { id: taskId }, { headers, ...words });
  }

  /** Any unary operation. Throws the agent's A2AError, or LostAnswerError. */
  async call<N extends OperationName>(
    name: N,
    request: RequestOf<N>,
    { headers = {}, seen = {} }: { readonly headers?: RequestHeaders; readonly seen?: { replica?: string } } = {},
  ): Promise<ResponseOf<N>> {
    const limit = new AbortController();
    const timer = systemClock.after(this.#options.timeoutMs ?? 60_000, () => limit.abort());
    try {
      const answer = await this.#wire.fetch(name, request, headers, limit.signal);
      this.#note(seen, answer);
      const body: unknown = await answer.json();
      return this.#wire.result(answer, body) as ResponseOf<N>; // the agent's word: what is in it is what the tests look at
    } catch (error) {
      throw isA2AError(error) ? error : new LostAnswerError(`No answer to ${name}.`, { cause: error });
    } finally {
      timer.cancel();
    }
  }

  /** Any streaming operation. An error before the first item throws at once, one after it when it comes; a cut throws LostAnswerError. */
  async *items<N extends 'SendStreamingMessage' | 'SubscribeToTask'>(
    name: N,
    request: RequestOf<N>,
    { headers = {}, seen = {}, ...words }: StreamWords & { readonly headers?: RequestHeaders; readonly seen?: { replica?: string } } = {},
  ): AsyncGenerator<Seen> {
    const cut = new AbortController();
    const onAbort = (): void => cut.abort();
    words.signal?.addEventListener('abort', onAbort, { once: true });
    const story = this.#tellStream(name, request, {
      headers,
      reader: words.reader ?? this.#options.history?.nextReader(this.observer) ?? this.observer,
    });
    try {
      const answer = await this.#wire.fetch(name, request, headers, cut.signal);
      this.#note(seen, answer);
      story.answered(seen.replica);
      if (!answer.headers.get('content-type')?.startsWith(mediaTypes.eventStream)) this.#wire.result(answer, await answer.json());
      for await (const { data, id } of readEvents(bytesOf(answer))) {
        const one = { ...(id === undefined ? {} : { seq: Number(id) }), item: this.#wire.item(data) };
        story.item(one);
        yield one;
      }
      story.close('ended');
    } catch (error) {
      story.close(isA2AError(error) ? 'error' : 'cut', isA2AError(error) ? error : undefined);
      throw isA2AError(error) ? error : new LostAnswerError(`The stream of ${name} broke off.`, { cause: error });
    } finally {
      story.close('cut'); // whoever left the loop did it; told already otherwise
      words.signal?.removeEventListener('abort', onAbort);
      cut.abort();
    }
  }

  /** Writes the life of one stream into the history. */
  #tellStream(
    name: OperationName,
    request: object,
    { headers, reader }: { readonly headers: RequestHeaders; readonly reader: string },
  ): StreamStory {
    let taskId = 'id' in request && typeof request.id === 'string' ? request.id : undefined;
    const after = headers[headerNames.lastEventId];
    let replica: string | undefined;
    let state: 'new' | 'answered' | 'open' | 'closed' = 'new';
    const head = (): FactHead => ({ ...this.#head(replica), observer: reader });
    const open = (): void => {
      state = 'open';
      const how = name === 'SubscribeToTask' ? 'subscribe' : 'send';
      const cursor = after === undefined ? {} : { after: Number(after) };
      this.#record({ ...head(), kind: 'open', how, ...(taskId === undefined ? {} : { taskId }), ...cursor });
    };
    return {
      answered: (by) => {
        replica = by;
        state = 'answered';
        if (taskId !== undefined) open(); // a send learns its task from the first item
      },
      item: ({ seq, item }) => {
        taskId ??= taskIdOf(item);
        if (taskId === undefined) return; // a direct message belongs to no task
        if (state === 'answered') open();
        this.#record({ ...head(), kind: 'item', taskId, item, ...(seq === undefined ? {} : { seq }), ...trimmed(configured(request)) });
      },
      close: (how, error) => {
        if (state === 'open') {
          const more = { ...(taskId === undefined ? {} : { taskId }), ...(error ? { code: error.code } : {}) };
          this.#record({ ...head(), kind: 'close', how, ...more });
        }
        state = 'closed';
      },
    };
  }

  #note(seen: { replica?: string }, answer: Response): void {
    const replica = answer.headers.get(REPLICA_HEADER) ?? this.#options.replica;
    if (replica !== undefined) seen.replica = replica;
  }

  #head(replica: string | undefined): FactHead {
    return { at: systemClock.wall(), observer: this.observer, ...(replica === undefined ? {} : { replica }) };
  }

  #record(fact: Fact): void {
    this.#options.history?.record(fact);
  }

  async #watched<Result>(
    ask: () => Promise<Result>,
    factOf: (outcome: Outcome) => Fact,
    told: (result: Result) => Outcome,
  ): Promise<Result> {
    try {
      const result = await ask();
      this.#record(factOf(told(result)));
      return result;
    } catch (error) {
      this.#record(factOf(outcomeOf(error)));
      throw error;
    }
  }
}

interface StreamStory {
  answered(replica: string | undefined): void;
  item(one: Seen): void;
  close(how: 'ended' | 'cut' | 'error', error?: A2AError): void;
}

function outcomeOf(error: unknown): Outcome {
  return isA2AError(error) ? errorOutcome(error) : { kind: 'lost', why: error instanceof Error ? error.message : String(error) };
}

/** Which task an item is about; a direct message is about none. */
export function taskIdOf(item: StreamResponse): string | undefined {
  if ('task' in item) return item.task.id;
  if ('statusUpdate' in item) return item.statusUpdate.taskId;
  return 'artifactUpdate' in item ? item.artifactUpdate.taskId : undefined;
}
