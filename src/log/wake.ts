import type { Service } from '../ground/service.ts';

/**
 * A hint to look, never news ⚖: it carries no entries (an entry of unknown outcome would be shown, a shared bus could forge logs).
 * `grew`: the task's log has more entries. `queued`: a turn waits for a replica of the agent. `moved`: a fence rose or an interrupt was
 * asked for: whoever runs the task's turn should look. `any`: something may have changed (a reconnect): look at everything.
 */
export type Hint =
  | { readonly kind: 'grew'; readonly taskId: string; readonly seq: number }
  | { readonly kind: 'queued' }
  | { readonly kind: 'moved'; readonly taskId: string }
  | { readonly kind: 'any' };

/**
 * Carries hints between the replicas of one store. Losing, doubling or forging hints costs time, never truth. An implementation
 * coalesces as it likes, never throws from `notify`, never blocks a writer.
 */
export interface Wake extends Service {
  /** Who gets the hints that this replica sends. */
  readonly reach: Reach;
  /** True while a self-test has shown that hints arrive; while false the tick polls every `pollMs` instead of `tickMs`. */
  readonly isProven: boolean;
  /** Sends hints to the other replicas. Called after the commit is known, never before (P2). */
  notify(hints: readonly Hint[]): void;
  /** Sets the one listener for hints of other replicas; called before `start`. */
  listen(listener: (hints: readonly Hint[]) => void): void;
}

/** How far a store or wake is shared: among agents of one process, processes of one machine, or machines. */
export type Reach = 'process' | 'machine' | 'network';
