import { chunks } from './chunks.ts';
import type { Bench } from './figures.ts';
import { send } from './send.ts';

/** What can be measured, by the name `npm run bench -- NAME` takes, in the order of the table. */
export const benches: Readonly<Record<string, Bench>> = { chunks, send };
