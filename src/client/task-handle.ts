import type { Content } from '../protocol/parts.ts';
import { isInterrupted, isTerminal } from '../protocol/states.ts';
import type { Message, Struct, Task, TaskState } from '../protocol/types.ts';
import { isTask } from './answers.ts';
import type { CallOptions } from './calls.ts';
import type { MessageDraft, SendOptions } from './message.ts';
import type { Sender } from './sender.ts';
import type { TaskStream } from './task-stream.ts';
import { badAnswer } from './trouble.ts';

/** What `get` can be told. */
export interface GetOptions extends CallOptions {
  /** Most messages of the history to get back; 0 is none, absent is the agent's choice (HIST-05). */
  readonly historyLength?: number;
}

/** What `cancel` can be told. */
export interface CancelOptions extends CallOptions {
  readonly metadata?: Struct;
}

/** What `follow` can be told. */
export interface FollowOptions extends CallOptions {
  /** Goes on behind this item instead of beginning with the task as it stands: a `cursor` of an earlier stream. */
  readonly after?: string;
}

/** What `wait` can be told. */
export interface WaitOptions extends CallOptions {
  /** `'paused'` (default): also until the task waits for its user. `'ended'`: until nothing follows any more. */
  readonly until?: 'paused' | 'ended';
}

/** One task of an agent: a handle to it, wherever it runs. Making one asks nothing of the agent. */
export interface TaskHandle {
  readonly id: string;
  /** The task as it was when this handle last heard of it; undefined before that. */
  readonly latest: Task | undefined;
  /** Asks for the task. */
  get(options?: GetOptions): Promise<Task>;
  /** Asks where the task stands. */
  state(options?: CallOptions): Promise<TaskState>;
  /** Cancels the task and gives it as it stands then; one that was canceled already is given, not refused (AMB-04). */
  cancel(options?: CancelOptions): Promise<Task>;
  /** All news until the task has ended, over INPUT_REQUIRED and AUTH_REQUIRED; of an ended task its final state. */
  follow(options?: FollowOptions): TaskStream;
  /** Waits until the task has ended or waits for its user, and gives it, folded: the history has what was there at the start of the wait. */
  wait(options?: WaitOptions): Promise<Task>;
  /** Answers or adds to the task and waits, as `client.send` does. */
  send(what: Content | MessageDraft, options?: TaskSendOptions): Promise<Task | Message>;
  /** Answers or adds to the task and gives the news of that turn, as `client.stream` does. */
  stream(what: Content | MessageDraft, options?: TaskSendOptions): TaskStream;
}

/** What a send to a known task can be told. */
export type TaskSendOptions = Omit<SendOptions, 'taskId' | 'contextId'>;

/** A TaskHandle over the calls of a client. */
export class RemoteTask implements TaskHandle {
  readonly id: string;
  readonly #sender: Sender;
  #latest: Task | undefined;

  constructor(id: string, sender: Sender, latest?: Task) {
    this.id = id;
    this.#sender = sender;
    this.#latest = latest;
  }

  get latest(): Task | undefined {
    return this.#latest;
  }

  async get({ historyLength, ...options }: GetOptions = {}): Promise<Task> {
    const request = { id: this.id, ...(historyLength === undefined ? {} : { historyLength }) };
    return this.#keep(await this.#sender.calls.call('GetTask', request, options));
  }

  async state(options: CallOptions = {}): Promise<TaskState> {
    const { status } = await this.#sender.calls.call('GetTask', { id: this.id, historyLength: 0 }, options);
    return status.state;
  }

  async cancel({ metadata, ...options }: CancelOptions = {}): Promise<Task> {
    const request = { id: this.id, ...(metadata === undefined ? {} : { metadata }) };
    return this.#keep(await this.#sender.calls.call('CancelTask', request, options));
  }

  follow({ after, ...options }: FollowOptions = {}): TaskStream {
    return this.#sender.follow(this.id, after, options);
  }

  async wait({ until = 'paused', ...options }: WaitOptions = {}): Promise<Task> {
    return this.#keep(
      await this.#sender.wait(this.id, (state) => isTerminal(state) || (until === 'paused' && isInterrupted(state)), options),
    );
  }

  async send(what: Content | MessageDraft, options: TaskSendOptions = {}): Promise<Task | Message> {
    const answer = await this.#sender.send(what, { ...options, ...(await this.#address(options)) });
    return isTask(answer) ? this.#keep(answer) : answer;
  }

  stream(what: Content | MessageDraft, options: TaskSendOptions = {}): TaskStream {
    const contextId = this.#latest?.contextId;
    return this.#sender.stream(what, { ...options, taskId: this.id, ...(contextId === undefined ? {} : { contextId }) });
  }

  /** Both ids: one SDK takes the second message with the task's id alone for a mismatch. */
  async #address({ signal, timeoutMs }: CallOptions): Promise<{ taskId: string; contextId?: string }> {
    if (this.#latest === undefined) {
      await this.get({ historyLength: 0, ...(signal === undefined ? {} : { signal }), ...(timeoutMs === undefined ? {} : { timeoutMs }) });
    }
    const contextId = this.#latest?.contextId;
    return { taskId: this.id, ...(contextId === undefined ? {} : { contextId }) };
  }

  #keep(task: Task): Task {
    if (task.id !== this.id) throw badAnswer(`The agent answered with task ${task.id} when asked for ${this.id}.`);
    this.#latest = task;
    return task;
  }
}
