import { isA2AError } from '../../src/protocol/errors.ts';
import { isTerminal } from '../../src/protocol/states.ts';
import type { SendMessageResponse, StreamResponse, Task } from '../../src/protocol/types.ts';
import { stateIn } from '../../src/testing/checks/observers.ts';
import { LostAnswerError, Probe } from '../../src/testing/probe.ts';
import { oneOf, upTo } from '../chance.ts';
import type { Complain } from './complaint.ts';
import type { Policies, Policy } from './policies.ts';
import type { Reached } from './reached.ts';
import type { Stage } from './stage.ts';
import { pause } from './waits.ts';

/** Where a user lives. */
export interface UserParts {
  readonly stage: Stage;
  readonly policies: Policies;
  readonly random: () => number;
  readonly reached: Reached;
  /** Takes what a user sees that no promise allows. */
  readonly complain: Complain;
  /** Fires when nobody begins anything more. */
  readonly signal: AbortSignal;
}

/** Where a follower stands, and whether somebody else is about to answer what the agent asks. */
export interface Following {
  readonly reader: string;
  readonly seq: number;
  leavesQuestions?: boolean;
}

type SendPlan = NonNullable<Parameters<Probe['send']>[1]>;

const TRIES_MAX = 10;
const CALL_MS_MAX = 20_000;

/**
 * What users can do: each picks a living replica by chance, or goes through the front, and each call that was lost with a replica is
 * repeated elsewhere under its key.
 */
export class User {
  readonly parts: UserParts;
  readonly #followed = new Set<string>();
  /** Answers on their way that nobody waits for: the end of the run does. */
  readonly #answers = new Set<Promise<void>>();
  readonly #probes = new Map<string, Probe>();
  #count = 0;

  constructor(parts: UserParts) {
    this.parts = parts;
  }

  /** Tasks that somebody still waits for. */
  get followed(): readonly string[] {
    return [...this.#followed];
  }

  /** The rig is gone: a run that failed leaves nobody behind. */
  get #isGone(): boolean {
    return this.parts.stage.rig.living.length === 0 && this.parts.signal.aborted;
  }

  /** Resolves when no answer is on its way any more. */
  async settled(): Promise<void> {
    while (this.#answers.size > 0) await Promise.all(this.#answers);
  }

  /** A living replica by chance, behind a name of its own, or the front. */
  probe(): Probe {
    const { rig } = this.parts.stage;
    if (this.parts.random() < 0.25) return this.#probeAt({ url: rig.front.url }, 'the front');
    const replica = oneOf(this.parts.random, rig.living);
    if (!replica) throw new LostAnswerError('no replica lives');
    return this.#probeAt({ url: replica.url, replica: replica.name }, replica.name);
  }

  /** A living replica that accepts messages under that rule, if there is one. */
  probeUnder(whileWorking: Policy['whileWorking']): Probe | undefined {
    const { rig } = this.parts.stage;
    const fitting = rig.living.filter((one) => this.parts.policies.of(rig.replicas.indexOf(one))?.whileWorking === whileWorking);
    const replica = oneOf(this.parts.random, fitting);
    return replica && this.#probeAt({ url: replica.url, replica: replica.name }, replica.name);
  }

  #probeAt(target: { readonly url: string; readonly replica?: string }, name: string): Probe {
    const { stage, random } = this.parts;
    const binding = random() < 0.5 ? 'JSONRPC' : 'HTTP+JSON';
    // one for each place: a new one asks for the card first, which is half of what a call costs
    const place = `${name} ${target.url} ${binding}`;
    const known = this.#probes.get(place);
    if (known) return known;
    const made = new Probe({ ...target, observer: `user at ${name}`, history: stage.history, binding, timeoutMs: CALL_MS_MAX });
    this.#probes.set(place, made);
    return made;
  }

  /** Sends under a key, until an answer comes. */
  async send(text: string, plan: SendPlan = {}): Promise<SendMessageResponse> {
    const named = { key: crypto.randomUUID(), messageId: crypto.randomUUID(), ...plan };
    let wasLost = false;
    const response = await this.retried(
      () => this.probe().send(text, named),
      () => {
        wasLost = true;
      },
    );
    if (wasLost) this.parts.reached.add('repeatAfterLoss');
    return response;
  }

  /** The same, of a message that opens a task and is answered at once. */
  async start(text: string): Promise<string | undefined> {
    const response = await this.send(text, { returnImmediately: true });
    return 'task' in response ? response.task.id : undefined;
  }

  /** The task as it stands. */
  get(taskId: string): Promise<Task> {
    return this.retried(() => this.probe().get(taskId));
  }

  /** Cancels; true if the task is canceled, false if it had ended. */
  async cancel(taskId: string): Promise<boolean> {
    try {
      await this.retried(() => this.probe().cancel(taskId));
      return true;
    } catch (error) {
      if (isA2AError(error) && error.code === 'TASK_NOT_CANCELABLE') return false;
      throw error;
    }
  }

  /** Repeats a call that was lost, as our own client does: elsewhere. */
  async retried<Result>(call: () => Promise<Result>, onLoss: () => void = () => undefined): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (!isTrouble(error) || attempt >= TRIES_MAX) throw error;
        if (isA2AError(error)) this.parts.reached.add('unavailable');
        else onLoss();
        await pause(50 * attempt);
      }
    }
  }

  /**
   * Follows a task to its end while `work` goes on. If that breaks off the task is canceled: a follower that waits for a question which
   * nobody answers would wait for ever.
   */
  async attended(taskId: string, work: () => Promise<void>): Promise<void> {
    const following: Following = { reader: this.reader(), seq: 0, leavesQuestions: true };
    const isOver = this.following(taskId, following);
    try {
      await work();
      following.leavesQuestions = false; // what is given back from here on is for the follower to answer
      // and what was given back meanwhile, perhaps over several replicas
      const task = await this.get(taskId);
      if (task.status.state === 'TASK_STATE_INPUT_REQUIRED') await this.#answer(taskId);
    } catch (error) {
      following.leavesQuestions = false;
      await this.cancel(taskId).catch(() => undefined); // the follower tells what is wrong with the task, if anything is
      await isOver.catch(() => undefined);
      throw error;
    }
    await isOver;
  }

  /** Follows a task to its end, over cuts, its own and those of dying replicas, always behind what it has seen. */
  async follow(taskId: string, start: Following = { reader: this.reader(), seq: 0 }): Promise<void> {
    const { random, reached } = this.parts;
    let { seq } = start;
    this.#followed.add(taskId);
    try {
      for (let isOver = false; !isOver && !this.#isGone;) {
        const leaveAfter = random() < 0.3 ? this.some(15) : Number.POSITIVE_INFINITY;
        reached.add(seq > 0 ? 'reconnectWithCursor' : 'lateSubscriber');
        try {
          const after = seq > 0 ? { after: seq } : {};
          let seen = 0;
          for await (const one of this.probe().subscribe(taskId, { reader: start.reader, ...after })) {
            seq = one.seq ?? seq;
            const state = stateIn(one.item);
            isOver = state !== undefined && isTerminal(state);
            if (!start.leavesQuestions && wasGivenBack(one.item)) this.answer(taskId);
            if (!isOver && ++seen >= leaveAfter) break;
          }
          if (seen >= leaveAfter) reached.add('cut');
        } catch (error) {
          if (isA2AError(error) && error.code === 'UNSUPPORTED_OPERATION') break; // it had ended, and there was nothing left to see (SUB-03)
          if (!isTrouble(error)) throw error;
          await pause(50);
        }
      }
    } finally {
      this.#followed.delete(taskId);
    }
  }

  /** The same, for those who do something meanwhile and wait for it later: until then nobody looks at how it ends. */
  following(taskId: string, start?: Following): Promise<void> {
    const isOver = this.follow(taskId, start);
    isOver.catch(() => undefined);
    return isOver;
  }

  /** Answers a task that a lost replica gave back (`onLost: 'ask'`), while its follower goes on. */
  answer(taskId: string): void {
    const failed = (error: unknown): void =>
      this.parts.complain({ promise: 'P5', taskId, says: `an answer to what was given back met ${String(error)}` });
    const answered = this.#answer(taskId)
      .catch(failed)
      .finally(() => this.#answers.delete(answered));
    this.#answers.add(answered);
  }

  /** Somebody else may have been first, or the task has ended. */
  async #answer(taskId: string): Promise<void> {
    await this.send('done', { taskId, returnImmediately: true }).catch((error: unknown) => {
      if (!isA2AError(error) && !isTrouble(error)) throw error;
    });
  }

  some(most: number): number {
    return upTo(this.parts.random, most);
  }

  reader(): string {
    return `reader ${++this.#count}`;
  }
}

/** The agent, or the rule for the lost, waits for a word of the user. */
export function wasGivenBack(item: StreamResponse): boolean {
  const told = 'task' in item ? item.task : 'statusUpdate' in item ? item.statusUpdate : undefined;
  return told?.status.state === 'TASK_STATE_INPUT_REQUIRED' && told.metadata?.['chorus/error'] !== undefined;
}

/** The turn was lost with its replica before the agent had said a word: its blocking caller is told so (P6, P7). */
export function isLoss(error: unknown): boolean {
  return isA2AError(error) && error.metadata['code'] === 'LOST';
}

/** No answer, or one that says: later. */
export function isTrouble(error: unknown): boolean {
  if (isA2AError(error)) return error.code === 'UNAVAILABLE';
  return error instanceof LostAnswerError;
}
