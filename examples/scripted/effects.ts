import { appendFileSync } from 'node:fs';
import type { Turn } from 'chorus-a2a';

/** What happens in a run, outside the log. */
export type Happening = 'start' | 'tick' | 'abort' | 'end' | 'refused';

/** Tells a file what a run does. */
export type Tell = (what: Happening) => void;

/** One line of the effects file. */
export interface Effect {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly pid: number;
  readonly task: string;
  readonly turn: string;
  readonly attempt: number;
  readonly what: Happening;
}

/** Appends one JSON line per happening; replicas share the file, so each line is one write to its end. Without a file nothing is told. */
export function effectsOf(turn: Turn, file: string | undefined): Tell {
  if (file === undefined) return () => {};
  return (what) => {
    const effect: Effect = { at: Date.now(), pid: process.pid, task: turn.task.id, turn: turn.id, attempt: turn.attempt, what };
    appendFileSync(file, `${JSON.stringify(effect)}\n`);
  };
}
