import { sqlite } from '../../src/agent/sqlite.ts';
import type { StoreSource } from '../../src/log/store.ts';

/** A store that replicas can be killed on: where a rig keeps it, and how another process looks into it. */
export interface ChaosStore {
  readonly name: string;
  /** What replicas are given as their store; a place of the rig's own if absent. */
  readonly place?: string;
  source(place: string): StoreSource;
}

/** The stores that `--store` names. */
export const chaosStores: readonly ChaosStore[] = [{ name: 'sqlite', source: (file) => sqlite(file) }];
