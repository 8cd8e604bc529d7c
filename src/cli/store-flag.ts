import { memory } from '../agent/memory.ts';
import { sqlite } from '../agent/sqlite.ts';
import type { StoreSource } from '../log/store.ts';
import { faults, withFault } from '../testing/faults.ts';
import type { Flags } from './flags.ts';
import { UsageError } from './flags.ts';

/** The store a command line asks for, with its fault around it. */
export function storeOf({ store, migrate, fault }: Pick<Flags, 'store' | 'migrate' | 'fault'>): StoreSource {
  const source = sourceOf(store, migrate);
  if (fault === undefined) return source;
  const known = faults.find((one) => one === fault);
  if (known === undefined) throw new UsageError(`--fault: ${faults.join(', ')} were expected, ${fault} came`);
  return withFault(source, known);
}

function sourceOf(store: string, migrate: Flags['migrate']): StoreSource {
  if (store === 'memory') return memory();
  const [, scheme] = /^([a-z]+):\/\//.exec(store) ?? [];
  if (scheme !== undefined)
    throw new UsageError(`--store: memory or the path of a SQLite file was expected, ${scheme}:// is not there yet`);
  return sqlite(store, { migrate });
}
