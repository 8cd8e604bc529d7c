import { edgeMutations } from './list/edges.ts';
import { logMutations } from './list/log.ts';
import { ruleMutations } from './list/rules.ts';
import { storeMutations } from './list/stores.ts';
import { turnMutations } from './list/turn.ts';
import type { Mutation } from './mutation.ts';

/** All faults that are planted. */
export const mutations: readonly Mutation[] = [...ruleMutations, ...storeMutations, ...logMutations, ...turnMutations, ...edgeMutations];
