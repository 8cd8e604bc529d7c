import type { Content } from '../protocol/parts.ts';
import { isInterrupted, isTerminal } from '../protocol/states.ts';
import type { AgentCard, Message, SendMessageRequest, Task, TaskState } from '../protocol/types.ts';
import { isTask } from './answers.ts';
import type { CallOptions, Calls } from './calls.ts';
import type { MessageDraft, SendOptions } from './message.ts';
import { sendRequest, withoutWaiting } from './message.ts';
import type { TaskStream } from './task-stream.ts';
import { ReconnectingStream } from './task-stream.ts';
import { noAnswer } from './trouble.ts';

/** What client and task handles share: sends, streams and waits. */
export class Sender {
  readonly calls: Calls;
  readonly #canStream: boolean;

  constructor(calls: Calls, card: AgentCard) {
    this.calls = calls;
    this.#canStream = card.capabilities.streaming === true; // CAP-02, CAP-03
  }

  /**
   * Sends and waits. An agent may answer before its task has come to rest: at a ceiling of its own (AMB-24), or because the replica that
   * answered goes down. The wait goes on then, on any replica, within the same time.
   */
  async send(what: Content | MessageDraft, options: SendOptions): Promise<Task | Message> {
    const { settings } = this.calls;
    const deadline = this.calls.deadline('The send', options.timeoutMs ?? settings.waitTimeoutMs, options.signal);
    const { signal } = deadline;
    try {
      const answer = await this.#ask(sendRequest(what, options, settings.random), { ...options, signal, timeoutMs: Infinity });
      if (!isTask(answer) || isAtRest(answer.status.state)) return answer;
      const rested = await this.wait(answer.id, isAtRest, { signal, timeoutMs: Infinity });
      return await this.#asAnswer(rested, options.historyLength, signal);
    } finally {
      deadline.close();
    }
  }

  /** Sends and gives the task as soon as there is one, or the direct answer. */
  start(what: Content | MessageDraft, options: SendOptions): Promise<Task | Message> {
    return this.#ask(withoutWaiting(sendRequest(what, options, this.calls.settings.random)), options);
  }

  stream(what: Content | MessageDraft, options: SendOptions): TaskStream {
    const { random } = this.calls.settings;
    const opening = { kind: 'send', request: sendRequest(what, options, random), key: options.key ?? random.uuid() } as const;
    return new ReconnectingStream(opening, { calls: this.calls, canStream: this.#canStream, options });
  }

  follow(taskId: string, after: string | undefined, options: CallOptions): TaskStream {
    return new ReconnectingStream({ kind: 'follow', taskId, after }, { calls: this.calls, canStream: this.#canStream, options });
  }

  /** The task once its state is such a one, or has ended. */
  async wait(taskId: string, isEnough: (state: TaskState) => boolean, options: CallOptions): Promise<Task> {
    const stream = this.follow(taskId, undefined, { timeoutMs: this.calls.settings.waitTimeoutMs, ...options });
    for await (const item of stream) {
      const { state } = stream;
      if ('artifactUpdate' in item || state === undefined || !isEnough(state)) continue;
      if (!isTerminal(state)) break; // an ended task's stream ends by itself, and leaves its connection to the next call
    }
    const { task } = stream;
    if (task === undefined) throw noAnswer(`The stream of task ${taskId} ended before it began.`);
    return task;
  }

  async #ask(request: SendMessageRequest, options: SendOptions): Promise<Task | Message> {
    const answer = await this.calls.call('SendMessage', request, options);
    return 'task' in answer ? answer.task : answer.message;
  }

  /** What a blocking send would have answered: an ended task is asked for, one at rest may have moved on since. */
  async #asAnswer(task: Task, historyLength: number | undefined, signal: AbortSignal): Promise<Task> {
    if (isTerminal(task.status.state)) {
      return this.calls.call('GetTask', { id: task.id, ...(historyLength === undefined ? {} : { historyLength }) }, { signal });
    }
    const { history, ...rest } = task;
    if (historyLength === undefined || history === undefined || history.length <= historyLength) return task;
    return historyLength === 0 ? rest : { ...rest, history: history.slice(-historyLength) };
  }
}

function isAtRest(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}
