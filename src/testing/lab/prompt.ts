import type { Clock } from '../../ground/clock.ts';
import type { Ledger } from './ledger.ts';
import type { Network } from './network.ts';
import { short } from './trace.ts';
import type { LabViolation } from './violation.ts';

/** What it takes to judge how soon readers hear. */
export interface PromptParts {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly network: Network;
  /** How long a reader may wait for what is committed: one look where hints cannot be trusted, next to nothing where they arrive. */
  readonly mayTakeMs: number;
  /** Nothing has gone wrong for a while, anywhere. */
  readonly isQuiet: () => boolean;
}

/**
 * While nothing goes wrong, whoever waits on a stream hears of a commit at once: a hint that came during a read must not be forgotten, or
 * every reader waits for the next poll. (Losing hints costs a poll; with faults on, nobody is held to it.)
 */
export function watchReaders({ clock, ledger, network, mayTakeMs, isQuiet }: PromptParts): readonly LabViolation[] {
  const violations: LabViolation[] = [];
  ledger.listen((before, { row }) => {
    if (before?.row.statusSeq === row.statusSeq || !isQuiet()) return;
    const readers = [...network.open].filter(({ tap }) => tap?.taskId === row.id && tap.seq !== undefined);
    if (readers.length === 0) return;
    clock.after(mayTakeMs, () => {
      if (!isQuiet()) return;
      for (const reader of readers) {
        const { tap, isReading } = reader;
        if (!network.open.has(reader) || !isReading || tap?.seq === undefined || tap.seq >= row.statusSeq) continue;
        const says = `task ${short(row.id)}: a reader at ${tap.seq} has not heard of ${row.statusSeq} after ${mayTakeMs} ms without any fault`;
        violations.push({ promise: 'P1', taskId: row.id, says });
      }
    });
  });
  return violations;
}
