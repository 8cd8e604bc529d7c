import type { PromiseId, Violation } from '../../src/testing/checks/check.ts';

/** A promise that was broken: as the checker finds it, or as somebody saw it while it happened. */
export interface Complaint extends Omit<Violation, 'promise'> {
  readonly promise: PromiseId | 'P11';
}

/** Takes complaints. */
export type Complain = (complaint: Complaint) => void;
