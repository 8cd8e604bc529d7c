import { TaskFold } from '../log/fold.ts';
import { isInterrupted, isTerminal } from '../protocol/states.ts';
import type { Message, StreamResponse, Task, TaskState } from '../protocol/types.ts';
import type { StreamItem } from './question.ts';
import { StreamCursor } from './stream-cursor.ts';
import { badAnswer } from './trouble.ts';

/** What the items of a stream add up to, whatever connections they came over: the task, what is news, and whether it is the end. */
export class StreamView {
  readonly #isSend: boolean;
  readonly #cursor: StreamCursor;
  #taskId: string | undefined;
  #fold: TaskFold | undefined;
  #state: TaskState | undefined;
  #message: Message | undefined;
  /** Text of the last snapshot while nothing came after it: servers that give one with each connection give the same one again. */
  #snapshot: string | undefined;
  #connections = 0;
  /** Characters that the task was folded from. */
  #length = 0;
  readonly #lengthMax: number;
  #isOver = false;

  /** Of a send's stream, which ends with its turn, or of a subscription, which ends with its task. */
  constructor(
    of: { readonly kind: 'send' } | { readonly kind: 'follow'; readonly taskId: string; readonly after?: string | undefined },
    lengthMax: number = Infinity,
  ) {
    this.#lengthMax = lengthMax;
    this.#isSend = of.kind === 'send';
    this.#taskId = of.kind === 'follow' ? of.taskId : undefined;
    this.#cursor = new StreamCursor(of.kind === 'follow' ? of.after : undefined);
  }

  /** Known once the agent has taken the message. */
  get taskId(): string | undefined {
    return this.#taskId;
  }

  get task(): Task | undefined {
    return this.#fold?.task();
  }

  get state(): TaskState | undefined {
    return this.#state;
  }

  get message(): Message | undefined {
    return this.#message;
  }

  get cursor(): string | undefined {
    return this.#cursor.id;
  }

  /** Nothing of interest follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** What a clean end of the connection means: of a send's stream in an interrupted state it is the normal one (AMB-01), else a cut. */
  get mayEndHere(): boolean {
    return this.#isOver || (this.#isSend && this.#state !== undefined && isInterrupted(this.#state));
  }

  /** A connection begins: what it repeats of those before it is no news. */
  connect(): void {
    this.#connections += 1;
    this.#cursor.connect();
  }

  /** Takes an item in; true if it is news. */
  take({ id, item, length = 0 }: StreamItem): boolean {
    if ('message' in item) return this.#takeMessage(item.message);
    this.#belongs(item);
    if ('task' in item) this.#length = 0;
    this.#grow(length);
    if ('task' in item) return this.#takeSnapshot(id, item);
    if (this.#cursor.hasSeen(id)) return false;
    this.#cursor.advance(id);
    this.#snapshot = undefined;
    this.#add(item);
    if ('statusUpdate' in item) this.#move(item.statusUpdate.status.state, true);
    return true;
  }

  /** An agent that talks for ever must not fill the memory of who listens (P11). */
  #grow(by: number): void {
    this.#length += by;
    if (this.#length > this.#lengthMax) throw badAnswer(`The task has grown beyond ${this.#lengthMax} characters (answerBytesMax).`);
  }

  /** A direct answer to a send; on a task's stream there is no such thing (AMB-44). */
  #takeMessage(message: Message): boolean {
    if (!this.#isSend || this.#taskId !== undefined || this.#isOver) return false;
    this.#message = message;
    this.#isOver = true;
    return true;
  }

  #takeSnapshot(id: string | undefined, item: { readonly task: Task }): boolean {
    // ids tell what is new; without them, or from a server that counts anew each time, only the content does
    const text = id === undefined || this.#connections > 1 ? JSON.stringify(item.task) : undefined;
    const isKnown = text !== undefined && text === this.#snapshot;
    this.#snapshot = text;
    this.#cursor.reset(id);
    if (!isKnown) this.#add(item);
    // a resumed task may be shown once more as it was before the answer; after a cut INPUT_REQUIRED is the turn's own end
    this.#move(item.task.status.state, this.#connections > 1);
    return !isKnown;
  }

  #add(item: StreamResponse): void {
    this.#fold ??= new TaskFold(this.#taskId ?? '');
    this.#fold.see(item);
  }

  #move(state: TaskState, isOwnTurn: boolean): void {
    this.#state = state;
    this.#isOver = isTerminal(state) || (this.#isSend && isOwnTurn && state === 'TASK_STATE_INPUT_REQUIRED');
  }

  /** The first item names the task of a send; an item of another task is an error of the protocol. */
  #belongs(item: Exclude<StreamResponse, { readonly message: Message }>): void {
    const taskId = 'task' in item ? item.task.id : 'statusUpdate' in item ? item.statusUpdate.taskId : item.artifactUpdate.taskId;
    this.#taskId ??= taskId;
    if (taskId !== this.#taskId) throw badAnswer(`The stream of task ${this.#taskId} brought an item of another task.`);
  }
}
