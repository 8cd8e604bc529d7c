import type { StoreSource } from '../log/store.ts';
import { memoryData, openMemory } from '../stores/memory.ts';
import { localHub } from '../wakes/local.ts';

/** How much a memory store may hold. */
export interface MemoryOptions {
  /** Bytes of tasks beyond which no new message is taken (UNAVAILABLE), until ended tasks are purged. 1 GiB. */
  readonly bytesMax?: number;
}

/**
 * Keeps tasks in the memory of this process: for tests and first steps, nothing survives a restart. Agents and replicas that are given the
 * same source share its tasks; each call makes a new, empty one.
 *
 * @example
 * ```ts
 * import { createAgent, memory } from 'chorus-a2a';
 *
 * const store = memory(); // given to two agents, it makes them two replicas of one: a cluster in one process, for a test
 * const replicas = [1, 2].map(() =>
 *   createAgent({ card: { name: 'Echo', description: 'Says it again.', version: '1.0.0' }, store, run: (turn) => turn.text }),
 * );
 * ```
 */
export function memory({ bytesMax }: MemoryOptions = {}): StoreSource {
  const data = memoryData(bytesMax);
  const hub = localHub();
  return { name: 'memory', reach: 'process', open: (parts) => ({ store: openMemory(data, parts), wake: hub.open() }) };
}
