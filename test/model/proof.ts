import { expect } from 'vitest';
import type { Verdict } from './explore.ts';

/** Every promise holds in every state; `reached`: pieces of steps that must have been taken, or the model proves less than it says. */
export function expectHolds(verdict: Verdict, reached: readonly string[] = []): void {
  if (verdict.kind === 'breaks') throw new Error(`${verdict.property}\n${written(verdict.trace)}`);
  const labels = [...verdict.reached.keys()];
  expect(reached.filter((piece) => !labels.some((label) => label.includes(piece)))).toEqual([]);
}

/** What a counterexample must show: the promise that breaks, and the steps that lead there, in this order, told by pieces of their labels. */
export interface Counterexample {
  readonly property: string;
  readonly steps: readonly string[];
}

/** The explorer found this counterexample, as short as one can be. */
export function expectBreaks(verdict: Verdict, { property, steps }: Counterexample): void {
  if (verdict.kind === 'holds') throw new Error(`no counterexample in ${verdict.states} states, expected: ${property}`);
  if (process.env['CHORUS_TRACES'] !== undefined) console.log(`${verdict.property}\n${written(verdict.trace)}`);
  expect(verdict.property).toBe(property);
  let from = 0;
  for (const step of steps) {
    const at = verdict.trace.findIndex((label, index) => index >= from && label.includes(step));
    expect(at, `"${step}" in order in\n${written(verdict.trace)}`).toBeGreaterThanOrEqual(0);
    from = at + 1;
  }
}

const written = (trace: readonly string[]): string => trace.map((label, index) => `${String(index + 1).padStart(4)}. ${label}`).join('\n');
