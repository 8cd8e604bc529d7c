import type { Store, StoreParts, StoreSource, WakeSource } from '../log/store.ts';
import type { Reach, Wake } from '../log/wake.ts';
import { memory } from './memory.ts';

const distance: Readonly<Record<Reach, number>> = { process: 0, machine: 1, network: 2 };

/** The `store` and `wake` of an agent's options. */
export interface Sources {
  readonly store: StoreSource | undefined;
  readonly wake: WakeSource | undefined;
}

/**
 * Opens the store and the wake that goes with it. A wake that reaches replicas which cannot see the tasks is a mistake that would show only
 * under load, as tasks that nobody finds: it is refused at once, never dropped quietly (case 36). `announce` says what an operator must know
 * of the store; it is for the start, because an agent may be made and never started.
 */
export function openStore(
  { store: source = memory(), wake: other }: Sources,
  parts: StoreParts,
): { readonly store: Store; readonly wake: Wake; readonly announce: () => void } {
  if (other !== undefined && source.reach === 'process' && distance[other.reach] > distance[source.reach])
    throw new TypeError(
      `The wake "${other.name}" reaches other processes, but the store "${source.name}" keeps tasks in this process only. ` +
        'Give the agent a store that its replicas share, such as sqlite(file), or leave out the wake.',
    );
  const { store, wake } = source.open(parts);
  const announce = (): void => {
    if (source.reach === 'process') parts.logger.info('tasks are kept in this process only: nothing survives it', { store: source.name });
  };
  return { store, wake: other?.open(parts) ?? wake, announce };
}
