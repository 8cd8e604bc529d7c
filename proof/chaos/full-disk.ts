import { join } from 'node:path';
import { callerClock } from '../../src/ground/clock.ts';
import { isA2AError } from '../../src/protocol/errors.ts';
import { isTerminal } from '../../src/protocol/states.ts';
import type { Task } from '../../src/protocol/types.ts';
import type { Verdict } from '../../src/testing/checker.ts';
import type { Probe } from '../../src/testing/probe.ts';
import type { Complain } from './complaint.ts';
import type { SmallDisk } from './disk.ts';
import { openSmallDisk } from './disk.ts';
import { Load } from './load.ts';
import { Policies } from './policies.ts';
import type { Reached } from './reached.ts';
import { openStage, restarted } from './stage.ts';
import type { Stage } from './stage.ts';
import { isTrouble } from './user.ts';
import { eventually, pause } from './waits.ts';

/** What the fault needs of its run. */
export interface FullDiskParts {
  readonly random: () => number;
  readonly reached: Reached;
  readonly complain: Complain;
  readonly disk?: SmallDisk['kind'];
}

const CHUNKS = 200;
const FULL_MS_MAX = 60_000;
const REFUSED_MS_MAX = 20_000;

/**
 * A disk that becomes full under replicas at work: writes are refused with a typed error, reads go on; one replica is killed meanwhile.
 * Once there is room everything goes on where it was, and nothing that was acknowledged is lost. On a rig of its own: nobody else's disk
 * shall be full.
 */
export async function fillDisk(parts: FullDiskParts): Promise<Verdict> {
  await using disk = await openSmallDisk(parts.disk);
  const policies = new Policies();
  await using stage = await openStage({ replicas: 2, store: join(disk.folder, 'tasks.db'), flags: (index) => policies.flags(index) });
  const load = new Load({ ...parts, stage, policies });
  try {
    await Promise.race([fillAndClear({ ...parts, stage, disk, load }), load.failed()]);
    await load.end();
  } catch (error) {
    throw new Error(`with a disk that became full; replicas say:\n${stage.troubles.slice(-5).join('\n')}`, { cause: error });
  } finally {
    load.leave();
  }
  parts.reached.add('full');
  return await stage.verdict(); // awaited here: the stage lives until then
}

interface FullScene extends Omit<FullDiskParts, 'disk'> {
  readonly stage: Stage;
  readonly disk: SmallDisk;
  readonly load: Load;
}

async function fillAndClear({ stage, disk, load, ...parts }: FullScene): Promise<void> {
  const { rig } = stage;
  const pids = (): number[] => rig.living.map(({ pid }) => pid);
  const a = stage.probe(0);
  const known = await a.sendForTask('emit 3 1; done');
  const { id: running } = await a.sendForTask(`emit ${CHUNKS} 20; done`, { returnImmediately: true });
  load.start(3);
  await eventually('the load', () => stage.history.facts.length > 50, FULL_MS_MAX);

  await disk.fill(pids());
  await refusal(stage, parts);
  await reads(stage, known, parts);
  await rig.kill(1);
  await refusal(stage, parts);
  await disk.clear(pids());
  await restarted(rig, 1);
  await eventually('writes to go on', async () => isSent(stage.probe(0)), FULL_MS_MAX);
  await whole(stage, running, parts);
}

/** Sends, large ones, until one is refused: UNAVAILABLE, with a hint when to come again. */
async function refusal(stage: Stage, { reached, complain }: FullDiskParts): Promise<void> {
  const end = callerClock.monotonic() + FULL_MS_MAX;
  while (callerClock.monotonic() < end) {
    const since = callerClock.monotonic();
    const named = { key: crypto.randomUUID(), messageId: crypto.randomUUID(), returnImmediately: true };
    const answer = await stage
      .probe(0)
      .send('emit 200 0 2000; done', named)
      .catch((error: unknown) => error);
    if (!(answer instanceof Error)) continue;
    const tookMs = Math.round(callerClock.monotonic() - since);
    const isTyped = isA2AError(answer) && answer.code === 'UNAVAILABLE' && (answer.retryAfterMs ?? 0) > 0;
    if (!isTyped || tookMs > REFUSED_MS_MAX)
      complain({ promise: 'P5', says: `a full disk was answered with ${String(answer)} after ${tookMs} ms` });
    reached.add('unavailable');
    return;
  }
  throw new Error('the disk was never full');
}

/** What is there is read on every replica. */
async function reads(stage: Stage, known: Task, { reached, complain }: FullDiskParts): Promise<void> {
  for (const probe of stage.probes()) {
    const read = await probe.get(known.id).catch((error: unknown) => error);
    if (read instanceof Error)
      complain({ promise: 'P5', taskId: known.id, says: `a full disk kept a read from its answer: ${String(read)}` });
    await probe.list({ pageSize: 5 });
  }
  reached.add('readWhileFull');
}

/** The turn that ran when the disk became full ends as if nothing had been, and nothing of it is missing. */
async function whole(stage: Stage, taskId: string, { reached, complain }: FullDiskParts): Promise<void> {
  const task = await eventually(
    'the turn to end',
    async () => {
      const read = await stage
        .probe(0)
        .get(taskId)
        .catch((error: unknown) => {
          if (!isTrouble(error)) throw error;
          return undefined;
        });
      return read && isTerminal(read.status.state) && read;
    },
    FULL_MS_MAX,
  );
  const parts = (task.artifacts ?? [])
    .flatMap((artifact) => artifact.parts)
    .flatMap((part) => ('text' in part ? part.text.trim().split(' ') : []));
  const isWhole =
    task.status.state === 'TASK_STATE_COMPLETED' && parts.length === CHUNKS && parts.every((text, index) => text === String(index + 1));
  if (!isWhole)
    complain({
      promise: 'P7',
      taskId,
      says: `after the disk was full the turn stands at ${task.status.state} with ${parts.length} chunks`,
    });
  reached.add('wholeAfterFull');
}

async function isSent(probe: Probe): Promise<boolean> {
  const answer = await probe.send('done', { key: crypto.randomUUID() }).catch((error: unknown) => error);
  if (answer instanceof Error && !isTrouble(answer)) throw answer;
  if (answer instanceof Error) await pause(100);
  return !(answer instanceof Error);
}
