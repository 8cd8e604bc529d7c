import type { Signal } from '../ground/signal.ts';
import { isTerminal } from '../protocol/states.ts';
import type { Entry } from './entry.ts';
import type { Latches } from './latches.ts';
import type { Tail } from './tail.ts';

/** The log ends here: nothing follows a terminal status (P3). */
export function isSettled(entry: Entry): boolean {
  return entry.kind === 'status' && isTerminal(entry.state);
}

/** Where a follower stands: it wants what is above `after`. */
export interface Cursor {
  readonly taskId: string;
  readonly after: number;
}

/** What a follower gets: batches of entries, and once, at the end, that the task was purged. */
export type FollowItem = { readonly kind: 'entries'; readonly entries: readonly Entry[] } | { readonly kind: 'gone' };

/**
 * Reads a log from a cursor on, batch by batch, waits for more, ends after the terminal entry, when the task is gone, or when the signal
 * fires. There is no queue: the cursor is the queue, so a slow consumer costs nothing (P11). Errors of the store reach the consumer.
 */
export async function* follow(from: Cursor, parts: { tail: Tail; latches: Latches; signal: Signal }): AsyncGenerator<FollowItem> {
  const { tail, latches, signal } = parts;
  using hint = latches.open(from.taskId); // registered before the first read
  for (let after = from.after; !signal.aborted;) {
    hint.clear(after); // before the read: a wake during it is kept
    const { entries, isGone } = await tail.read(from.taskId, after); // shared with the replica's other followers
    if (signal.aborted) return;
    if (isGone) {
      yield { kind: 'gone' };
      return;
    }
    const last = entries.at(-1);
    if (!last) {
      await hint.next(signal);
      continue;
    }
    yield { kind: 'entries', entries };
    if (isSettled(last)) return;
    after = last.seq;
  }
}
