import type { TaskState } from './types.ts';

/** The three classes of states (STATE-01). */
export type StateClass = 'active' | 'interrupted' | 'terminal';

/** Table C of the protocol: the compiler completes it. */
export const stateClass: Readonly<Record<TaskState, StateClass>> = {
  TASK_STATE_SUBMITTED: 'active',
  TASK_STATE_WORKING: 'active',
  TASK_STATE_INPUT_REQUIRED: 'interrupted',
  TASK_STATE_AUTH_REQUIRED: 'interrupted',
  TASK_STATE_COMPLETED: 'terminal',
  TASK_STATE_FAILED: 'terminal',
  TASK_STATE_CANCELED: 'terminal',
  TASK_STATE_REJECTED: 'terminal',
};

/** Nothing follows a terminal state (STATE-03). A state this version does not know is not terminal. */
export function isTerminal(state: TaskState): boolean {
  return stateClass[state] === 'terminal';
}

/** The task waits for its user (STATE-01). */
export function isInterrupted(state: TaskState): boolean {
  return stateClass[state] === 'interrupted';
}
