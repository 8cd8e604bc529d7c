import type { ReleaseAsk, TaskRow } from '../log/store.ts';

/** How many tasks a replica remembers to have started a run of, at least; it never remembers more than twice as many. */
export const REMEMBERED_MIN = 10_000;

interface Grant {
  readonly fence: number;
  /** The run is over here: number of the last look that was sent before, and how to give the turn back should it still be open. */
  ended?: { readonly look: number; readonly why: ReleaseAsk['why'] };
}

/**
 * Which grants this process has started ⚖: a grant is (task, fence) and is started at most once, or a late answer would run code twice.
 * Fences only rise, so the highest one per task says it all. Forgetting the oldest is safe: a grant that is over can only be seen again in
 * an answer that was under way when it ended, and no such answer is ten thousand turns old. They are forgotten by the generation: a map
 * whose oldest member goes each time is walked over all the places that became empty in front.
 */
export class Grants {
  #young = new Map<string, Grant>();
  #old = new Map<string, Grant>();

  /** How many are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** True once for each grant: the caller starts it. */
  take({ id, fence }: Pick<TaskRow, 'id' | 'fence'>): boolean {
    const known = this.#of(id);
    if (known && known.fence >= fence) return false;
    this.#young.set(id, { fence });
    if (this.#young.size >= REMEMBERED_MIN) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    return true;
  }

  #of(id: string): Grant | undefined {
    return this.#young.get(id) ?? this.#old.get(id);
  }

  /** The run of a grant is over here. */
  end({ id, fence }: Pick<TaskRow, 'id' | 'fence'>, ended: { readonly look: number; readonly why: ReleaseAsk['why'] }): void {
    const known = this.#of(id);
    if (known?.fence === fence) known.ended = ended;
  }

  /**
   * How to give back a turn that a look shows as held by this replica although its run is over here; undefined when the look may be older
   * than that end, or the run is not over.
   */
  strayOf({ id, fence }: Pick<TaskRow, 'id' | 'fence'>, look: number): ReleaseAsk['why'] | undefined {
    const known = this.#of(id);
    return known?.fence === fence && known.ended && look > known.ended.look ? known.ended.why : undefined;
  }
}
