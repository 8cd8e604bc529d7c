import type { StoreSource } from '../log/store.ts';
import { memoryData, openMemory } from '../stores/memory.ts';
import { localHub } from '../wakes/local.ts';

/**
 * Keeps tasks in the memory of this process: for tests and first steps, nothing survives a restart. Agents and replicas that are given the
 * same source share its tasks; each call makes a new, empty one.
 */
export function memory(): StoreSource {
  const data = memoryData();
  const hub = localHub();
  return { name: 'memory', reach: 'process', open: (parts) => ({ store: openMemory(data, parts), wake: hub.open() }) };
}
