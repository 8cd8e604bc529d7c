import { textOf } from '../protocol/parts.ts';
import type { Message, Task } from '../protocol/types.ts';

/** True if an agent answered with a task; otherwise it answered with a message and made no task. */
export function isTask(answer: Task | Message): answer is Task {
  return 'status' in answer;
}

/**
 * What an agent said, as one text: of a message its own, of a task that of its artifacts, or of its status while there is none, such as the
 * question of a task that waits for its user. Other parts than text are passed over.
 */
export function answerText(answer: Task | Message): string {
  if (!isTask(answer)) return textOf(answer);
  const { artifacts = [], status } = answer;
  const text = artifacts.map((artifact) => textOf(artifact.parts)).join('\n');
  return text === '' && status.message ? textOf(status.message) : text;
}
