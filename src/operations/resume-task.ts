import { Stopper } from '../ground/signal.ts';
import { assertNever } from '../ground/assert.ts';
import { StoreError, type ResumeResult } from '../log/store.ts';
import { taskNotFound, unsupportedOperation } from '../protocol/errors.ts';
import type { Task } from '../protocol/types.ts';
import { taskAsOf } from './answers.ts';
import { offerGrant, type OperationParts, type SharedParts } from './parts.ts';
import { patiently } from './trouble.ts';

const never = new Stopper();

/**
 * Goes on with a task that stands on AUTH_REQUIRED and that nobody runs, without a message: what an OAuth callback does, on whichever
 * replica it arrives. It belongs to the program, not to a caller, so it has no scope.
 */
export async function resumeTask(parts: SharedParts, taskId: string): Promise<Task> {
  const { log, turns, agent, limits } = parts;
  let isUnknown = false;
  const result = await patiently(parts, never, async () => {
    using slot = turns.reserve();
    try {
      const answer = await log.resume({ agent, taskId, replica: turns.replica, canStart: slot !== undefined, limits });
      if (answer.kind === 'resumed') offerGrant(turns, answer.row);
      return answer;
    } catch (error) {
      isUnknown ||= error instanceof StoreError && error.isUnknown;
      throw error;
    }
  });
  if (result.kind === 'notPaused' && isUnknown) return resumedBefore(parts, taskId);
  return resumed(parts, taskId, result);
}

async function resumed({ log }: OperationParts, taskId: string, result: ResumeResult): Promise<Task> {
  switch (result.kind) {
    case 'resumed': {
      const { row } = result;
      return taskAsOf(log, row, row.seq);
    }
    case 'absent':
      throw taskNotFound(taskId);
    case 'notPaused':
      throw unsupportedOperation(`Only a task that waits on AUTH_REQUIRED can be resumed; this one is ${result.state}.`, {
        taskId,
        state: result.state,
      });
    default:
      return assertNever(result);
  }
}

/** The try before may have been the one that resumed it: its answer was lost, its grant is found by the next tick. */
async function resumedBefore({ log }: OperationParts, taskId: string): Promise<Task> {
  const snapshot = await log.read(taskId);
  if (snapshot === undefined) throw taskNotFound(taskId);
  return snapshot.task;
}
