import { askResult, cancelTask, startTask } from './calls.ts';
import type { TaskAnswer } from './calls.ts';
import { nowMs } from './clocks.ts';
import { Caller } from './load.ts';
import { rpc, sendRequest } from './words.ts';

/** What one caller does in one step: its request goes to one replica, what follows to the next one, as behind a load balancer. */
type Step = (user: User) => Promise<void>;

/** Entries of a stream of the mixed load. */
const CHUNKS = 5;

/** A caller with a connection to each replica, used in turn. */
class User {
  readonly #callers: readonly Caller[];
  #turn: number;

  constructor(urls: readonly string[], first: number) {
    this.#callers = urls.map((url) => new Caller(url));
    this.#turn = first;
  }

  /** The connection to the next replica. */
  next(): Caller {
    const caller = this.#callers[this.#turn++ % this.#callers.length];
    if (!caller) throw new Error('bench: a replica was expected');
    return caller;
  }

  close(): void {
    for (const caller of this.#callers) caller.close();
  }
}

async function send(user: User): Promise<TaskAnswer> {
  const { task } = (await askResult(user.next(), sendRequest('SendMessage', 'hi'))) as { task: TaskAnswer }; // ours answers with a task
  expectState(task, 'TASK_STATE_COMPLETED');
  return task;
}

async function sendAndGet(user: User): Promise<void> {
  const { id } = await send(user);
  expectState((await askResult(user.next(), rpc('GetTask', { id }))) as TaskAnswer, 'TASK_STATE_COMPLETED'); // as the protocol says
}

async function sendAndList(user: User): Promise<void> {
  const { contextId } = await send(user);
  const { tasks } = (await askResult(user.next(), rpc('ListTasks', { contextId }))) as { tasks: readonly TaskAnswer[] }; // as the protocol says
  if (tasks.length !== 1) throw new Error(`bench: one task was expected in a context, ${tasks.length} came`);
}

async function stream(user: User): Promise<void> {
  const response = await user.next().ask(sendRequest('SendStreamingMessage', `chunks ${CHUNKS}`));
  const chunks = response.split('"artifactUpdate"').length - 1;
  if (chunks !== CHUNKS || !response.includes('TASK_STATE_COMPLETED'))
    throw new Error(`bench: a stream of ${CHUNKS} chunks was expected: ${response.slice(0, 2_000)}`);
}

async function startAndCancel(user: User): Promise<void> {
  const { id } = await startTask(user.next(), 'silent');
  expectState(await cancelTask(user.next(), id), 'TASK_STATE_CANCELED');
}

function expectState({ status }: TaskAnswer, state: string): void {
  if (status.state !== state) throw new Error(`bench: ${state} was expected, ${status.state} came`);
}

/** Of ten steps: six are sends with something after them, two streams, one a cancel elsewhere, one a bare send. */
const mix: readonly Step[] = [
  sendAndGet,
  sendAndGet,
  sendAndGet,
  sendAndGet,
  sendAndList,
  sendAndList,
  stream,
  stream,
  startAndCancel,
  async (user) => void (await send(user)),
];

/** What a window of mixed load gave. */
export interface MixedWindow {
  readonly steps: number;
  readonly seconds: number;
  /** How long each step took. */
  readonly latenciesMs: readonly number[];
}

/** Lets many users do mixed things without pause, each going round all replicas; every answer is checked. */
export async function mixedLoad(
  urls: readonly string[],
  { users, windowMs }: { readonly users: number; readonly windowMs: number },
): Promise<MixedWindow> {
  const steps: { readonly endMs: number; readonly ms: number }[] = [];
  const begin = nowMs();
  const end = begin + windowMs;
  const one = async (_: unknown, index: number): Promise<void> => {
    const user = new User(urls, index);
    for (let count = index, now = nowMs(); now < end; count++) {
      const asked = now;
      await mix[count % mix.length]?.(user);
      now = nowMs();
      steps.push({ endMs: now, ms: now - asked });
    }
    user.close();
  };
  await Promise.all(Array.from({ length: users }, one));
  const inTime = steps.filter(({ endMs }) => endMs <= end);
  // a window too short for a machine that has much else to do: its steps have taken longer than the window
  const [counted, seconds] = inTime.length > 0 ? [inTime, windowMs / 1_000] : [steps, (nowMs() - begin) / 1_000];
  return { steps: counted.length, seconds, latenciesMs: counted.map(({ ms }) => ms) };
}
