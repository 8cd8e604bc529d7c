import { taskNotFound } from '../protocol/errors.ts';
import type { GetTaskRequest, Task } from '../protocol/types.ts';
import { withHistory } from './answers.ts';
import type { Call } from './call.ts';
import { checkHistoryLength } from './gate.ts';
import { type SharedParts, scopeOf } from './parts.ts';

/** GetTask: the fold of the log as it stands now, artifacts included (GET-01, GET-04). */
export async function getTask(parts: SharedParts, call: Call, { id, historyLength }: GetTaskRequest): Promise<Task> {
  checkHistoryLength(historyLength, 'historyLength');
  const snapshot = await parts.log.read(id, scopeOf(parts, call));
  if (snapshot === undefined) throw taskNotFound(id);
  return withHistory(snapshot.task, historyLength);
}
