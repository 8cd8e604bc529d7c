import { vi } from 'vitest';
import { isTerminal } from '../../src/protocol/states.ts';
import type { StreamResponse, Task, TaskState } from '../../src/protocol/types.ts';
import { stateIn } from '../../src/testing/checks/observers.ts';
import { taskIdOf } from '../../src/testing/probe.ts';
import type { Probe, Seen } from '../../src/testing/probe.ts';
import { eventually } from '../../proof/chaos/waits.ts';

export { LEASE_MS, openStage, pauseOutsideCommit } from '../../proof/chaos/stage.ts';
export type { Stage } from '../../proof/chaos/stage.ts';
export { eventually, pause } from '../../proof/chaos/waits.ts';

/** How often a race is tried: the full number with CHORUS_ROUNDS=full, a short one in everyday runs. */
export function rounds(full: number, short: number): number {
  return process.env['CHORUS_ROUNDS'] === 'full' ? full : short;
}

// a full number of rounds takes minutes, and more on a machine that does other things
vi.setConfig({ testTimeout: rounds(1_200_000, 120_000) });

/** All items of a stream, to its end or until there is enough. */
export async function collect(
  stream: AsyncIterable<Seen>,
  isEnough: (seen: Seen, all: readonly Seen[]) => boolean = () => false,
): Promise<Seen[]> {
  const all: Seen[] = [];
  for await (const seen of stream) {
    all.push(seen);
    if (isEnough(seen, all)) break;
  }
  return all;
}

/** The states that items told, in order. */
export function statesOf(items: readonly Pick<Seen, 'item'>[]): TaskState[] {
  return items.flatMap(({ item }) => stateIn(item) ?? []);
}

/** The texts of the artifact pieces that items told, in order; a snapshot counts with all it holds. */
export function textsOf(items: readonly Pick<Seen, 'item'>[]): string[] {
  return items.flatMap(({ item }) =>
    'artifactUpdate' in item ? texts(item.artifactUpdate.artifact) : 'task' in item ? partsOf(item.task) : [],
  );
}

/** The texts of all artifacts' parts. */
export function partsOf(task: Task): string[] {
  return (task.artifacts ?? []).flatMap(texts);
}

function texts({ parts }: { readonly parts: readonly object[] }): string[] {
  return parts.flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : []));
}

/** The data of an artifact's first part. */
export function dataOf(task: Task, name: string): unknown {
  const part = task.artifacts?.find((artifact) => artifact.name === name)?.parts[0];
  return part && 'data' in part ? part.data : undefined;
}

/** What `emit N` writes. */
export function chunks(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${from + index} `);
}

/** Waits until a task has ended, and gives it. */
export function ended(probe: Probe, taskId: string, ms?: number): Promise<Task> {
  return eventually(
    `task ${taskId} to end`,
    async () => {
      const task = await probe.get(taskId);
      return isTerminal(task.status.state) && task;
    },
    ms,
  );
}

/** Waits until a task stands in a state, and gives it. */
export function standing(probe: Probe, taskId: string, state: TaskState, ms?: number): Promise<Task> {
  return eventually(
    `task ${taskId} to be ${state}`,
    async () => {
      const task = await probe.get(taskId);
      return task.status.state === state && task;
    },
    ms,
  );
}

/** Which task an item is about. */
export function idIn(item: StreamResponse | undefined): string {
  const taskId = item && taskIdOf(item);
  if (taskId === undefined) throw new Error('an item of a task was expected');
  return taskId;
}
