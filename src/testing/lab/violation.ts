import type { Violation } from '../checks/check.ts';

/** A promise that was broken, as clients or somebody inside saw it. */
export type LabViolation = Omit<Violation, 'promise'> & { readonly promise: Violation['promise'] | 'P10' | 'P11' };
