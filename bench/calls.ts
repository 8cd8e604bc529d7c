import type { Caller } from './load.ts';
import { rpc, startRequest } from './words.ts';

/** The task of an answer, as far as the benches look at it. */
export interface TaskAnswer {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string };
}

interface Answer {
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Posts a JSON-RPC request and gives its result. */
export async function askResult(caller: Caller, body: string): Promise<unknown> {
  const response = await caller.ask(body);
  const { result, error } = JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4)) as Answer; // the shape of JSON-RPC
  if (error !== undefined || result === undefined) throw new Error(`bench: a call was refused: ${response.slice(0, 2_000)}`);
  return result;
}

/** Starts a task and does not wait for its end. */
export async function startTask(caller: Caller, text: string): Promise<TaskAnswer> {
  const { task } = (await askResult(caller, startRequest(text))) as { task: TaskAnswer }; // ours always answers with a task
  return task;
}

/** Cancels a task. */
export async function cancelTask(caller: Caller, id: string): Promise<TaskAnswer> {
  return (await askResult(caller, rpc('CancelTask', { id }))) as TaskAnswer; // as the protocol says
}

/** How many tasks are in a state. */
export async function countTasks(caller: Caller, status: string): Promise<number> {
  const { totalSize } = (await askResult(caller, rpc('ListTasks', { status, pageSize: 1, historyLength: 0 }))) as { totalSize: number }; // as the protocol says
  return totalSize;
}
