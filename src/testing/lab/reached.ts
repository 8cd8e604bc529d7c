/**
 * What a run came to. A lab that never took a turn over, or never met a cancel in the very moment of an end, has shown nothing about it:
 * whoever runs many seeds looks at the sums.
 */
export type Mark =
  | 'takeover'
  | 'fencing'
  | 'repeatedKey'
  | 'lostAnswer'
  | 'lateCall'
  | 'gap'
  | 'cancelRace'
  | 'handover'
  | 'interrupt'
  | 'expiry'
  | 'drain'
  | 'reconnect'
  | 'terminal'
  | 'retry'
  | 'resume'
  | 'taken'
  | 'released'
  | 'queued'
  | 'crash'
  | 'pause'
  | 'unlink'
  | 'readOnly'
  | 'jump'
  | 'skew'
  | 'forge'
  | 'lostCall'
  | 'slowCall'
  | 'wakeLost'
  | 'wakeDoubled'
  | 'wakeLate'
  | 'cut'
  | 'lostRequest'
  | 'lostReply'
  | 'refused'
  | 'dead'
  | 'stranger';

/** How often each mark was reached. */
export class Reached {
  readonly #counts = new Map<Mark, number>();

  count(mark: Mark, times = 1): void {
    this.#counts.set(mark, (this.#counts.get(mark) ?? 0) + times);
  }

  of(mark: Mark): number {
    return this.#counts.get(mark) ?? 0;
  }

  /** All that were reached at least once. */
  counts(): Readonly<Partial<Record<Mark, number>>> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}
