import { setTimeout as sleep } from 'node:timers/promises';
import { CHUNK } from './words.ts';

/** Milliseconds of the machine's monotonic clock: the same number in every process of it at the same moment. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A pause. */
export const sleepMs = (ms: number): Promise<void> => sleep(ms);

/** A chunk of 1 KB that begins with a moment. */
export const stamped = (atMs: number): string => `${atMs} ${CHUNK}`.slice(0, CHUNK.length);

/** The moment at which a stamped chunk begins. */
export const stampOf = (chunk: string): number => Number(chunk.slice(0, chunk.indexOf(' ')));

/** Between two events that are measured: long enough for the first to be over, and never in step with anything. */
export const pauseMs = (): number => 3 + 6 * Math.random();
