import { vi } from 'vitest';
import { sqlite } from '../../src/agent/sqlite.ts';
import { isA2AError } from '../../src/protocol/errors.ts';
import { isTerminal } from '../../src/protocol/states.ts';
import type { StreamResponse, Task, TaskState } from '../../src/protocol/types.ts';
import { checkHistory } from '../../src/testing/checker.ts';
import type { Verdict } from '../../src/testing/checker.ts';
import { stateIn } from '../../src/testing/checks/observers.ts';
import { History, taskIdsIn } from '../../src/testing/facts.ts';
import { Probe, taskIdOf } from '../../src/testing/probe.ts';
import type { Seen } from '../../src/testing/probe.ts';
import { Rig } from '../../src/testing/rig.ts';
import type { RigOptions } from '../../src/testing/rig.ts';
import { readStored } from '../../src/testing/stored.ts';

/** Lease of the replicas in these tests. */
export const LEASE_MS = 2_000;

/** How often a race is tried: the full number with CHORUS_ROUNDS=full, a short one in everyday runs. */
export function rounds(full: number, short: number): number {
  return process.env['CHORUS_ROUNDS'] === 'full' ? full : short;
}

// a full number of rounds takes minutes, and more on a machine that does other things
vi.setConfig({ testTimeout: rounds(1_200_000, 120_000) });

/** Looks again and again until there is something to see; fails with the name of what was waited for. */
export async function eventually<Found>(
  what: string,
  look: () => Promise<Found | undefined | false> | Found | undefined | false,
  ms = 15_000,
): Promise<Found> {
  for (const end = Date.now() + ms; Date.now() < end; await pause(20)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`waited ${ms} ms in vain for: ${what}`);
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A rig, a probe for each replica, and the history of all that they see. */
export interface Stage extends AsyncDisposable {
  readonly rig: Rig;
  readonly history: History;
  /** What replicas logged as errors: the text behind every reference. */
  readonly troubles: readonly string[];
  /** Of the replica of that number, as it is now. */
  probe(index: number, more?: { readonly caller?: string; readonly binding?: 'JSONRPC' | 'HTTP+JSON' }): Probe;
  /** Of all living replicas. */
  probes(): Probe[];
  /** Waits until nothing moves any more, reads every task on every living replica, and judges. */
  verdict(): Promise<Verdict>;
}

export async function openStage(options: RigOptions = {}): Promise<Stage> {
  const { flags = [] } = options;
  const history = new History();
  const troubles: string[] = [];
  const rig = await Rig.open({
    ...options,
    onLine: (replica, line) => {
      if (line['level'] === 'error') troubles.push(`${replica}: ${JSON.stringify(line)}`);
    },
    flags: (index) => ['--lease-ms', String(LEASE_MS), ...(typeof flags === 'function' ? flags(index) : flags)],
  });
  const probeOf = (index: number, more: Parameters<Stage['probe']>[1] = {}): Probe => {
    const { url, name } = rig.replica(index);
    return new Probe({ url, replica: name, observer: more.caller ? `${name} for ${more.caller}` : name, history, ...more });
  };
  const probes = (): Probe[] => rig.living.map((replica) => probeOf(rig.replicas.indexOf(replica)));
  return {
    rig,
    history,
    probe: probeOf,
    probes,
    troubles,
    verdict: () => judge(rig, history, probeOf),
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

async function judge(rig: Rig, history: History, probeOf: Stage['probe']): Promise<Verdict> {
  const taskIds = taskIdsIn(history.facts);
  const source = sqlite(rig.store);
  const stored = await eventually('every turn to close', async () => {
    const read = await readStored(source, taskIds);
    return [...read.values()].every(({ row }) => row.phase === 'closed') && read;
  });
  const readers = rig.living.map((replica) => rig.replicas.indexOf(replica));
  for (const [taskId, { row }] of stored) {
    const read = async (index: number): Promise<void> => {
      const probe = probeOf(index, row.owner === '' ? {} : { caller: row.owner });
      await probe.get(taskId, { isFinal: true }).catch(() => undefined); // recorded: the checker looks at it
    };
    await Promise.all(readers.map(read));
  }
  return checkHistory({ facts: history.facts, stored }, { leaseMs: LEASE_MS, fairMs: (from, to) => rig.lag.fairMs(from, to) });
}

/** Names nothing: to cancel it asks for the store's write lock and changes nothing. */
const NO_TASK = '00000000-0000-4000-8000-000000000000';

/**
 * Stops a replica (SIGSTOP) while another can write, and gives the moment. A process that stands still inside a commit stops every writer of
 * a SQLite file: that is a test of its own (design, section 4), so it is let go and stopped again.
 */
export async function pauseOutsideCommit(rig: Rig, index: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const at = Date.now();
    rig.pause(index);
    const { url, name } = rig.living[0] ?? rig.replica(index);
    const probe = new Probe({ url, replica: name, timeoutMs: 500 });
    const answer = await probe.cancel(NO_TASK).catch((error: unknown) => error);
    if (isA2AError(answer) && answer.code === 'TASK_NOT_FOUND') return at;
    rig.resume(index);
    await pause(10 + Math.random() * 50);
  }
  throw new Error('the replica was inside a commit at every look');
}

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

/** A small random generator that a seed repeats (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
