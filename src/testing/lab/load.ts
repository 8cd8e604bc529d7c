import type { Client } from '../../client/client.ts';
import type { TaskStream } from '../../client/task-stream.ts';
import type { Clock } from '../../ground/clock.ts';
import { sleep } from '../../ground/clock.ts';
import { isA2AError } from '../../protocol/errors.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { Task } from '../../protocol/types.ts';
import type { Chance } from './chance.ts';
import type { Reached } from './reached.ts';
import type { Trace } from './trace.ts';
import { short } from './trace.ts';

/** A task somebody has started, and whose it is. */
export interface KnownTask {
  readonly id: string;
  readonly contextId: string;
  readonly caller: string;
}

/** A task as a client has folded it from a stream that it read to the end. */
export interface ClientView {
  readonly observer: string;
  readonly task: Task;
}

/** What those who load the replicas share. */
export interface LoadParts {
  readonly clock: Clock;
  readonly trace: Trace;
  readonly reached: Reached;
  /** A client of that caller's, at that place or at whichever replica is chosen for each request. */
  readonly client: (observer: string, caller: string, place?: number) => Promise<Client>;
  /** What is said to the agent. */
  readonly text: (chance: Chance) => string;
  readonly callers: readonly string[];
  readonly places: number;
  /** Goes on with a task that waits for a third party. */
  readonly resume: (taskId: string, place: number) => Promise<unknown>;
  /** Somebody was shown a task of another caller's (P10). */
  readonly onStranger: (observer: string, taskId: string, what: string) => void;
  /** A key was used for two messages, and this came of it (P9). */
  readonly onMistake: (observer: string, came: string) => void;
  /** Everybody goes home. */
  readonly signal: AbortSignal;
}

type Act = (actor: Actor) => Promise<void>;

const acts = {
  send: (actor) => actor.send(),
  start: (actor) => actor.start(),
  stream: (actor) => actor.stream(),
  follow: (actor) => actor.follow(),
  cursor: (actor) => actor.readFromCursor(),
  answer: (actor) => actor.answer(),
  race: (actor) => actor.race(),
  cancel: (actor) => actor.cancel(),
  twice: (actor) => actor.sendTwice(),
  mistake: (actor) => actor.mistakeKey(),
  look: (actor) => actor.look(),
  resume: (actor) => actor.resume(),
  strange: (actor) => actor.pry(),
  stall: (actor) => actor.stall(),
} satisfies Readonly<Record<string, Act>>;

type ActName = keyof typeof acts;

const weights: Readonly<Record<ActName, number>> = {
  send: 3,
  start: 4,
  stream: 4,
  follow: 3,
  cursor: 2,
  answer: 6,
  race: 2,
  cancel: 2,
  twice: 2,
  mistake: 0.5,
  look: 2,
  resume: 4,
  strange: 1,
  stall: 1,
};

/** At the end of the name of whoever makes a mistake on purpose: being told so is right. */
export const MISTAKEN = '?';
const THINK_MS_MAX = 900;
const PATIENCE_MS = 8_000;

/** Everybody who loads the replicas, and what they have seen. */
export class Load {
  readonly tasks: KnownTask[] = [];
  readonly views: ClientView[] = [];
  /** The last id that anybody has seen of a task: a cursor promises that everything up to it was seen. */
  readonly cursors: Map<string, number> = new Map();
  readonly parts: LoadParts;
  #isOver = false;
  #working: Promise<void>[] = [];

  constructor(parts: LoadParts) {
    this.parts = parts;
  }

  /** Lets so many begin; each does one thing after another until `stop`. */
  async begin(actors: number, chance: Chance): Promise<void> {
    this.#isOver = false;
    for (let number = 0; number < actors; number++) {
      const name = `c${this.#working.length + 1}`;
      const caller = this.parts.callers[number % this.parts.callers.length] ?? '';
      const actor = new Actor(this, { name, caller, chance: chance.fork(name), client: await this.parts.client(name, caller) });
      this.#working.push(this.#work(actor));
    }
  }

  /** Nobody begins anything new. */
  stop(): void {
    this.#isOver = true;
  }

  /** Resolves when everybody has done what was begun. */
  async done(): Promise<void> {
    await Promise.all(this.#working);
  }

  async #work(actor: Actor): Promise<void> {
    const { clock, signal } = this.parts;
    for (;;) {
      await sleep(clock, actor.chance.below(THINK_MS_MAX), signal);
      if (this.#isOver || signal.aborted) return;
      await actor.act();
    }
  }
}

interface ActorParts {
  readonly name: string;
  readonly caller: string;
  readonly chance: Chance;
  readonly client: Client;
}

/** One user of the agent, with a client of its own and no memory of which replica said what. */
class Actor {
  readonly chance: Chance;
  readonly #load: Load;
  readonly #name: string;
  readonly #caller: string;
  readonly #client: Client;

  constructor(load: Load, { name, caller, chance, client }: ActorParts) {
    this.#load = load;
    this.#name = name;
    this.#caller = caller;
    this.chance = chance;
    this.#client = client;
  }

  /** Does one thing. What goes wrong is told in the trace: that it was told to the caller is all that was promised. */
  async act(): Promise<void> {
    const name = this.chance.weighted(weights);
    try {
      await acts[name](this);
    } catch (error) {
      this.#load.parts.trace.note(this.#name, `${name}: ${isA2AError(error) ? error.code : String(error)}`);
    }
  }

  async send(): Promise<void> {
    const answer = await this.#client.send(this.#text(), this.#options());
    if ('status' in answer) this.#knows(answer);
  }

  async start(): Promise<void> {
    const { latest } = await this.#client.start(this.#text(), this.#options());
    if (latest) this.#knows(latest);
  }

  async stream(): Promise<void> {
    await this.#read(this.#client.stream(this.#text(), this.#options()));
  }

  async follow(): Promise<void> {
    const task = this.#task();
    if (task) await this.#read(this.#client.task(task.id).follow(this.#options()));
  }

  /** One connection with a cursor from anywhere, at a replica of its choice. */
  async readFromCursor(): Promise<void> {
    const task = this.#task();
    if (!task) return;
    const { parts } = this.#load;
    const client = await parts.client(`${this.#name}!`, this.#caller, this.chance.below(parts.places));
    let left = this.chance.between(1, 6);
    // what is no number is as good as no cursor
    const after = this.chance.happens(0.1) ? 'x' : String(this.chance.below(this.#load.cursors.get(task.id) ?? 1));
    for await (const { id } of client.open('SubscribeToTask', { id: task.id }, { ...this.#options(), after })) {
      this.#sees(task.id, id);
      if (--left === 0) break;
    }
    parts.reached.count('reconnect');
  }

  async answer(): Promise<void> {
    const task = this.#task();
    if (!task) return;
    const options = { ...this.#options(), taskId: task.id, contextId: task.contextId };
    if (this.chance.happens(0.3)) await this.#read(this.#client.stream(this.#text(), options));
    else if (this.chance.happens(0.5)) await this.#client.send(this.#text(), options);
    else await this.#client.start(this.#text(), options);
  }

  /** Two answers at once: one of them is first, and the other one is told what it is. */
  async race(): Promise<void> {
    await Promise.allSettled([this.answer(), this.answer()]);
  }

  async cancel(): Promise<void> {
    const task = this.#task();
    if (task) await this.#client.task(task.id).cancel(this.#options());
  }

  /** The same message under the same key, at two replicas, at once or one after the other. */
  async sendTwice(): Promise<void> {
    const { chance } = this;
    const message = { messageId: chance.uuid(), role: 'ROLE_USER' as const, parts: [{ text: this.#text() }] };
    const request = { message, configuration: { returnImmediately: true } };
    const options = { key: chance.uuid(), ...this.#options() };
    const send = async (): Promise<string> => {
      const answer = await this.#client.call('SendMessage', request, options);
      if (!('task' in answer)) return '';
      this.#knows(answer.task);
      return answer.task.id;
    };
    if (chance.happens(0.5)) await Promise.allSettled([send(), send()]);
    else await send().then(send, send);
  }

  /** Another message under a key that has been used: it is refused, not taken for the first one (P9). */
  async mistakeKey(): Promise<void> {
    const options = { key: this.chance.uuid(), ...this.#options() };
    const { latest } = await this.#client.start(this.#text(), options);
    if (latest) this.#knows(latest);
    const other = await this.#load.parts.client(`${this.#name}${MISTAKEN}`, this.#caller);
    const came = await other.start('something else', options).then(
      () => 'an answer',
      (error: unknown) => (isA2AError(error) ? error.code : undefined),
    );
    if (came !== undefined && came !== 'INVALID_PARAMS' && came !== 'UNAVAILABLE') this.#load.parts.onMistake(this.#name, came);
  }

  async look(): Promise<void> {
    const task = this.#task();
    if (task) await this.#client.task(task.id).get(this.#options());
    else await this.#client.page({}, this.#options());
  }

  async resume(): Promise<void> {
    const { parts } = this.#load;
    const task = this.#task();
    if (!task) return;
    const gaveUp = sleep(parts.clock, PATIENCE_MS, parts.signal); // a replica that dies in the middle of it never answers
    await Promise.race([parts.resume(task.id, this.chance.below(parts.places)), gaveUp]);
  }

  /** Asks for what belongs to somebody else. Whatever it is, it must be as if it were not there (P10). */
  async pry(): Promise<void> {
    const { tasks, parts } = this.#load;
    const task = this.chance.pick(tasks.filter(({ caller }) => caller !== this.#caller));
    if (!task) return;
    const { id } = task;
    const handle = this.#client.task(id);
    const what = this.chance.pick(['get', 'cancel', 'answer'] as const) ?? 'get';
    const attempt = {
      get: () => handle.get(this.#options()),
      cancel: () => handle.cancel(this.#options()),
      answer: () => this.#client.start(this.#text(), { ...this.#options(), taskId: id }),
    }[what];
    try {
      await attempt();
      parts.onStranger(this.#name, id, `${what} was answered`);
    } catch (error) {
      const code = isA2AError(error) ? error.code : String(error);
      if (code === 'TASK_NOT_FOUND') parts.reached.count('stranger');
      else if (code !== 'UNAVAILABLE') parts.onStranger(this.#name, id, `${what} was refused with ${code}`);
    }
  }

  /** Opens a stream, reads one item of it, and then leaves it be (P11). */
  async stall(): Promise<void> {
    const task = this.#task();
    if (!task) return;
    const items = this.#client.open('SubscribeToTask', { id: task.id }, { signal: this.#load.parts.signal })[Symbol.asyncIterator]();
    await items.next();
    await sleep(this.#load.parts.clock, PATIENCE_MS, this.#load.parts.signal);
    await items.return?.();
  }

  /** Reads a stream to its end, or leaves it and goes on from its cursor. */
  async #read(stream: TaskStream): Promise<void> {
    const { parts, views } = this.#load;
    let left = this.chance.happens(0.3) ? this.chance.between(1, 5) : Infinity;
    for await (const item of stream) {
      if ('task' in item) this.#knows(item.task);
      if (--left <= 0) break;
    }
    const { task, cursor, state } = stream;
    if (task === undefined) return;
    this.#sees(task.id, cursor);
    if (left > 0 && state !== undefined && isTerminal(state)) views.push({ observer: this.#name, task });
    if (left > 0 || cursor === undefined || !this.chance.happens(0.7)) return;
    parts.reached.count('reconnect');
    await sleep(parts.clock, this.chance.below(800), parts.signal);
    for await (const item of this.#client.task(task.id).follow({ ...this.#options(), after: cursor })) void item;
  }

  #options(): { readonly signal: AbortSignal; readonly timeoutMs: number } {
    return { signal: this.#load.parts.signal, timeoutMs: PATIENCE_MS };
  }

  #text(): string {
    return this.#load.parts.text(this.chance);
  }

  /** One of the caller's own tasks, the newer ones more often. */
  #task(): KnownTask | undefined {
    const own = this.#load.tasks.filter(({ caller }) => caller === this.#caller);
    return this.chance.pick(own.slice(this.chance.happens(0.7) ? -3 : 0));
  }

  #sees(taskId: string, id: string | undefined): void {
    const { cursors } = this.#load;
    if (id !== undefined) cursors.set(taskId, Math.max(cursors.get(taskId) ?? 0, Number(id)));
  }

  #knows({ id, contextId }: Pick<Task, 'id'> & { readonly contextId?: string }): void {
    const { tasks, parts } = this.#load;
    if (tasks.some((task) => task.id === id)) return;
    tasks.push({ id, contextId: contextId ?? '', caller: this.#caller });
    parts.trace.note(this.#name, `has task ${short(id)}`);
  }
}
