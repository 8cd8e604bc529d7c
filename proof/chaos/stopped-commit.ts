import { callerClock } from '../../src/ground/clock.ts';
import { isA2AError } from '../../src/protocol/errors.ts';
import { Probe } from '../../src/testing/probe.ts';
import type { HandParts } from './hand.ts';
import { oneOf } from '../chance.ts';
import { canWrite } from './stage.ts';
import { eventually, pause } from './waits.ts';

/** Which replica to stop, and a task that all can read. */
export interface StoppedCommit extends Pick<HandParts, 'stage' | 'random' | 'reached' | 'complain'> {
  readonly index: number;
  readonly readable: string;
}

/** Whoever waits for the lock gives up after five seconds; some more on a busy machine. */
const REFUSED_MS_MAX = 20_000;
const READ_MS_MAX = 10_000;
const MET_MS_MAX = 60_000;

/**
 * Stops a replica that writes all the time until it stands still in the middle of a commit, with the file's write lock in its hand. Then
 * writes are refused in time, reads go on, and all goes on after SIGCONT: nobody is taken for dead by those who cannot write themselves.
 */
export async function stopInsideCommit(parts: StoppedCommit): Promise<void> {
  const { stage, index, random, reached, complain } = parts;
  const { rig } = stage;
  const end = callerClock.monotonic() + MET_MS_MAX;
  while (callerClock.monotonic() < end) {
    await pause(random() * 20);
    rig.pause(index);
    const other = oneOf(random, rig.living);
    const isHeld = other !== undefined && !(await canWrite(other, 300)) && (await isRefused(parts, other));
    if (isHeld) {
      const tookMs = await readingMs(parts, other);
      if (tookMs === undefined || tookMs > READ_MS_MAX)
        complain({ promise: 'P11', says: `a read took ${tookMs ?? 'for ever'} while a writer stood still` });
      reached.add('readWhileStopped');
    }
    rig.resume(index);
    if (!isHeld) continue;
    await eventually('writes to go on', () => canWrite(other, 5_000), 30_000);
    return;
  }
  throw new Error('no stop met a commit');
}

/** A write is answered UNAVAILABLE, with a hint when to come again, and in time. False if it was done after all. */
async function isRefused({ complain, reached }: StoppedCommit, { url, name }: Target): Promise<boolean> {
  const probe = new Probe({ url, replica: name, timeoutMs: 3 * REFUSED_MS_MAX });
  const since = callerClock.monotonic();
  const answer = await probe.send('done', { returnImmediately: true }).catch((error: unknown) => error);
  const tookMs = Math.round(callerClock.monotonic() - since);
  if (!(answer instanceof Error)) return false;
  const isTyped = isA2AError(answer) && answer.code === 'UNAVAILABLE' && (answer.retryAfterMs ?? 0) > 0;
  if (!isTyped || tookMs > REFUSED_MS_MAX) {
    complain({ promise: 'P5', says: `while a writer stood still a send was answered ${String(answer)} after ${tookMs} ms` });
  }
  reached.add('unavailable');
  return true;
}

type Target = StoppedCommit['stage']['rig']['replicas'][number];

/** How long a read takes; undefined if none came. */
async function readingMs({ readable }: StoppedCommit, { url, name }: Target): Promise<number | undefined> {
  const since = callerClock.monotonic();
  const probe = new Probe({ url, replica: name, timeoutMs: 3 * READ_MS_MAX });
  const isRead = await probe.get(readable).then(
    () => true,
    () => false,
  );
  return isRead ? Math.round(callerClock.monotonic() - since) : undefined;
}
