import { assertNever } from '../ground/assert.ts';
import type { StatusBody } from '../log/entry.ts';
import { taskNotCancelable, taskNotFound } from '../protocol/errors.ts';
import type { CancelTaskRequest, Task } from '../protocol/types.ts';
import { taskAsOf } from './answers.ts';
import type { Call } from './call.ts';
import { type SharedParts, scopeOf } from './parts.ts';
import { patiently } from './trouble.ts';

/**
 * CancelTask: one commit settles the task, whoever runs it, and the answer is the task as of that commit (P8, AMB-06). A task that was
 * canceled before is answered with itself: a repeat is no failure (AMB-04).
 */
export async function cancelTask(parts: SharedParts, call: Call, { id }: CancelTaskRequest): Promise<Task> {
  const body: StatusBody = {};
  const ask = { scope: scopeOf(parts, call), taskId: id, body: JSON.stringify(body) };
  const result = await patiently(parts, call.signal, () => parts.log.cancel(ask));
  switch (result.kind) {
    case 'canceled':
      return taskAsOf(parts.log, result.row, result.row.seq);
    case 'settled':
      throw taskNotCancelable(id, result.state);
    case 'absent':
      throw taskNotFound(id);
    default:
      return assertNever(result);
  }
}
