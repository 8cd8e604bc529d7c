import { callerClock, sleep } from '../../src/ground/clock.ts';
import { isA2AError } from '../../src/protocol/errors.ts';
import { isTerminal } from '../../src/protocol/states.ts';
import type { SendMessageResponse, StreamResponse } from '../../src/protocol/types.ts';
import { stateIn } from '../../src/testing/checks/observers.ts';
import { LostAnswerError, Probe } from '../../src/testing/probe.ts';
import { idIn } from './support.ts';
import type { Stage } from './support.ts';

/** What the load does, and how often it did it: a run that never reached one of these proves nothing about it. */
export interface Reached {
  sends: number;
  streams: number;
  cuts: number;
  continuations: number;
  resumes: number;
  cancels: number;
  repeats: number;
}

/** Where a follower stands, and whether somebody else is about to answer what the agent asks. */
interface Following {
  readonly reader: string;
  readonly seq: number;
  leavesQuestions?: boolean;
}

/**
 * Users who do everything at once: send, stream, subscribe with cuts and go on elsewhere, resume, cancel. Each picks a living replica by
 * chance, and each call that was lost with one is repeated elsewhere under its key.
 */
export class Load {
  readonly reached: Reached = { sends: 0, streams: 0, cuts: 0, continuations: 0, resumes: 0, cancels: 0, repeats: 0 };
  readonly #stage: Stage;
  readonly #random: () => number;
  readonly #stop = new AbortController();
  #users: Promise<void>[] = [];
  readonly #followed = new Set<string>();
  #count = 0;

  /** Tasks that somebody still waits for. */
  get followed(): readonly string[] {
    return [...this.#followed];
  }

  /** The rig is gone: a run that failed leaves nobody behind. */
  get #isGone(): boolean {
    return this.#stage.rig.living.length === 0 && this.#stop.signal.aborted;
  }

  constructor(stage: Stage, random: () => number) {
    this.#stage = stage;
    this.#random = random;
  }

  /** Lets that many users begin. */
  start(count: number): void {
    this.#users = Array.from({ length: count }, () => this.#use());
  }

  /** Nobody begins anything more. */
  leave(): void {
    this.#stop.abort();
  }

  /** Lets every user finish what it has begun. */
  async stop(): Promise<void> {
    this.leave();
    await Promise.all(this.#users);
  }

  /** Rejects as soon as a user meets what no user may meet. */
  async failed(): Promise<never> {
    await Promise.all(this.#users);
    return new Promise(() => undefined);
  }

  async #use(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#act().catch((error: unknown) => {
        // what a user may meet while replicas die; everything else is a failure of the run
        if (!isTrouble(error) && !isLoss(error)) throw error;
      });
      await sleep(callerClock, 20 + this.#random() * 120, signal);
    }
  }

  #act(): Promise<void> {
    const acts = [() => this.#sendAndFollow(), () => this.#streamWithCuts(), () => this.#askAndResume(), () => this.#startAndCancel()];
    return (acts[Math.floor(this.#random() * acts.length)] ?? acts[0] ?? (() => Promise.resolve()))();
  }

  /** A living replica by chance, behind a name of its own. */
  #probe(): Probe {
    const living = this.#stage.rig.living;
    const replica = living[Math.floor(this.#random() * living.length)];
    if (!replica) throw new LostAnswerError('no replica lives');
    const binding = this.#random() < 0.5 ? 'JSONRPC' : 'HTTP+JSON';
    const { name, url } = replica;
    return new Probe({ url, replica: name, observer: `user at ${name}`, history: this.#stage.history, binding, timeoutMs: 20_000 });
  }

  async #sendAndFollow(): Promise<void> {
    const response = await this.#send(`work; emit ${this.#some(30)} ${this.#some(10)}; done`, { returnImmediately: true });
    if ('task' in response) await this.#follow(response.task.id);
  }

  async #streamWithCuts(): Promise<void> {
    this.reached.streams += 1;
    const reader = this.#reader();
    let taskId: string | undefined;
    let seq = 0;
    const leaveAfter = this.#some(25);
    let seen = 0;
    for await (const one of this.#probe().stream(`emit ${10 + this.#some(40)} ${this.#some(12)}; done`, { reader })) {
      taskId = idIn(one.item);
      seq = one.seq ?? seq;
      if (wasGivenBack(one.item)) void this.#answer(taskId);
      if (++seen >= leaveAfter) break;
    }
    this.reached.cuts += 1;
    if (taskId !== undefined) await this.#follow(taskId, { reader, seq });
  }

  async #askAndResume(): Promise<void> {
    const asked = await this.#send(`emit ${this.#some(5)} 1; ask and then?`, {});
    if (!('task' in asked) || asked.task.status.state !== 'TASK_STATE_INPUT_REQUIRED') return;
    const { id: taskId } = asked.task;
    const following = { reader: this.#reader(), seq: 0, leavesQuestions: true };
    const followed = this.#follow(taskId, following);
    this.reached.resumes += 1;
    try {
      await this.#send(`work on; emit ${this.#some(20)} 2; done`, { taskId, returnImmediately: true });
    } finally {
      following.leavesQuestions = false; // what is given back from here on is for the follower to answer
    }
    // and what was given back while the answer was on its way, perhaps over several replicas
    const task = await this.#retried(() => this.#probe().get(taskId));
    if (wasGivenBack({ task })) await this.#answer(taskId);
    await followed;
  }

  async #startAndCancel(): Promise<void> {
    const response = await this.#send(`emit ${100 + this.#some(200)} ${this.#some(5)}; done`, { returnImmediately: true });
    if (!('task' in response)) return;
    const { id } = response.task;
    const following = this.#follow(id);
    await sleep(callerClock, this.#some(400));
    this.reached.cancels += 1;
    await this.#retried(() => this.#probe().cancel(id)).catch((error: unknown) => {
      if (!isA2AError(error) || error.code !== 'TASK_NOT_CANCELABLE') throw error;
    });
    await following;
  }

  async #send(text: string, words: { readonly taskId?: string; readonly returnImmediately?: boolean }): Promise<SendMessageResponse> {
    this.reached.sends += 1;
    const [key, messageId] = [crypto.randomUUID(), crypto.randomUUID()];
    return this.#retried(() => this.#probe().send(text, { ...words, key, messageId }));
  }

  /** Follows a task to its end, over cuts, its own and those of dying replicas, always behind what it has seen. */
  async #follow(taskId: string, start: Following = { reader: this.#reader(), seq: 0 }): Promise<void> {
    let { seq } = start;
    this.#followed.add(taskId);
    for (let isOver = false; !isOver && !this.#isGone;) {
      let left = this.#random() < 0.3 ? this.#some(15) : Number.POSITIVE_INFINITY;
      if (seq > 0) this.reached.continuations += 1;
      try {
        const after = seq > 0 ? { after: seq } : {};
        for await (const seen of this.#probe().subscribe(taskId, { reader: start.reader, ...after })) {
          seq = seen.seq ?? seq;
          const state = stateIn(seen.item);
          isOver = state !== undefined && isTerminal(state);
          if (!start.leavesQuestions && wasGivenBack(seen.item)) void this.#answer(taskId);
          if (!isOver && --left <= 0) break;
        }
        if (left <= 0) this.reached.cuts += 1;
      } catch (error) {
        if (isA2AError(error) && error.code === 'UNSUPPORTED_OPERATION') break; // it had ended, and there was nothing left to see (SUB-03)
        if (!isTrouble(error)) throw error;
        await sleep(callerClock, 50);
      }
    }
    this.#followed.delete(taskId);
  }

  /** Answers a task that a lost replica gave back (`onLost: 'ask'`); somebody else may have been first, or the task has ended. */
  async #answer(taskId: string): Promise<void> {
    await this.#send('done', { taskId, returnImmediately: true }).catch((error: unknown) => {
      if (!isA2AError(error)) throw error;
    });
  }

  /** Repeats a call that was lost, as our own client does: the same key, another replica. */
  async #retried<Result>(call: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (!isTrouble(error) || attempt >= 10) throw error;
        this.reached.repeats += 1;
        await sleep(callerClock, 50 * attempt);
      }
    }
  }

  #some(most: number): number {
    return 1 + Math.floor(this.#random() * most);
  }

  #reader(): string {
    return `reader ${++this.#count}`;
  }
}

function wasGivenBack(item: StreamResponse): boolean {
  const told = 'task' in item ? item.task : 'statusUpdate' in item ? item.statusUpdate : undefined;
  return told?.status.state === 'TASK_STATE_INPUT_REQUIRED' && told.metadata?.['chorus/error'] !== undefined;
}

/** The turn was lost with its replica before the agent had said a word: its blocking caller is told so (P6, P7). */
function isLoss(error: unknown): boolean {
  return isA2AError(error) && error.metadata['code'] === 'LOST';
}

/** No answer, or one that says: later. */
function isTrouble(error: unknown): boolean {
  if (isA2AError(error)) return error.code === 'UNAVAILABLE';
  return error instanceof LostAnswerError;
}
