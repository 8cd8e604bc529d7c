import type { Signal } from '../ground/signal.ts';
import { backoffMs } from '../ground/backoff.ts';
import { sleep } from '../ground/clock.ts';
import type { Entry } from '../log/entry.ts';
import type { Cursor } from '../log/follow.ts';
import { taskNotFound } from '../protocol/errors.ts';
import type { OperationParts } from './parts.ts';
import { isPassing } from './trouble.ts';

/** How long a follower waits for a store that does not answer before it gives up. */
export const READ_PATIENCE_MS = 30_000;
const READ_BACKOFF = { firstMs: 50, mostMs: 2_000 };

/**
 * Follows a task from a cursor on for one call. A store that is away for a while costs its readers time, not their stream: the cursor
 * stands, so nothing is missed. Ends after the terminal entry or when the signal fires; a purge is TaskNotFound, never a bare end.
 */
export async function* watch(
  { log, clock, random }: Pick<OperationParts, 'log' | 'clock' | 'random'>,
  { taskId, after: start }: Cursor,
  signal: Signal,
): AsyncGenerator<readonly Entry[]> {
  let after = start;
  let failures = 0;
  let failingSince = 0;
  while (!signal.aborted) {
    try {
      for await (const item of log.follow({ taskId, after }, signal)) {
        failures = 0;
        if (item.kind === 'gone') throw taskNotFound(taskId);
        yield item.entries;
        after = item.entries.at(-1)?.seq ?? after;
      }
      return;
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (failures === 0) failingSince = clock.monotonic();
      else if (clock.monotonic() - failingSince > READ_PATIENCE_MS) throw error;
      await sleep(clock, backoffMs(READ_BACKOFF, failures, random), signal);
      failures += 1;
    }
  }
}
