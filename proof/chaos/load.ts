import { callerClock, sleep } from '../../src/ground/clock.ts';
import { oneOf } from '../chance.ts';
import { errands } from './errands.ts';
import type { Errand } from './errands.ts';
import { isLoss, isTrouble, User } from './user.ts';
import type { UserParts } from './user.ts';

/** How long the last of the users may need once nobody begins anything more: a user that waits for ever is a broken promise. */
const LEAVE_MS_MAX = 120_000;

/** Users who do everything at once, until they are told to leave. */
export class Load {
  readonly #user: User;
  readonly #parts: UserParts;
  readonly #stop = new AbortController();
  #users: Promise<void>[] = [];

  constructor(parts: Omit<UserParts, 'signal'>) {
    this.#parts = { ...parts, signal: this.#stop.signal };
    this.#user = new User(this.#parts);
  }

  /** Lets that many users begin. */
  start(count: number): void {
    this.#users = Array.from({ length: count }, () => this.#use());
    for (const user of this.#users) user.catch(() => undefined); // `failed` and `end` tell
  }

  /** Nobody begins anything more. */
  leave(): void {
    this.#stop.abort();
  }

  /** Rejects as soon as a user meets what no user may meet; never resolves. */
  async failed(): Promise<never> {
    await Promise.all(this.#users);
    return new Promise(() => undefined);
  }

  /** Lets every user finish what it has begun. */
  async end(): Promise<void> {
    this.leave();
    const { promise: late, cancel } = after(LEAVE_MS_MAX);
    const all = Promise.all(this.#users).then(() => this.#user.settled());
    const isDone = await Promise.race([all.then(() => true), late.then(() => false)]);
    cancel();
    if (!isDone) throw new Error(`users wait in vain for ${await this.#whatIsLeft()}`);
  }

  async #whatIsLeft(): Promise<string> {
    const { stage } = this.#parts;
    const reader = stage.probes()[0];
    const left = await Promise.all(this.#user.followed.map(async (taskId) => reader?.get(taskId)));
    return JSON.stringify(left.map((task) => task && { id: task.id, status: task.status, metadata: task.metadata }));
  }

  async #use(): Promise<void> {
    const { random } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#next()
        ?.run(this.#user)
        .catch((error: unknown) => {
          // what a user may meet while replicas die; everything else is a failure of the run
          if (!isTrouble(error) && !isLoss(error)) throw error;
        });
      await sleep(callerClock, 20 + random() * 120, signal);
    }
  }

  /** By chance; every second time one that is there for something not reached yet. */
  #next(): Errand | undefined {
    const { random, reached } = this.#parts;
    const due = errands.filter(({ meets }) => meets.some((rule) => reached.of(rule) === 0));
    return (random() < 0.5 ? oneOf(random, due) : undefined) ?? oneOf(random, errands);
  }
}

function after(ms: number): { readonly promise: Promise<void>; readonly cancel: () => void } {
  const stop = new AbortController();
  return { promise: sleep(callerClock, ms, stop.signal), cancel: () => stop.abort() };
}
