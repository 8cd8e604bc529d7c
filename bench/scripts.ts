import type { Run, Turn } from '../src/index.ts';
import { nowMs, pauseMs, sleepMs, stamped } from './clocks.ts';
import { ANSWER, CHUNK, chunkCount } from './words.ts';

/** Chunks under way at once: more than one commit takes, so that the disk never waits for the agent. */
const AHEAD = 1_024;

/** Streams chunks as fast as they are stored, each an entry of its own. */
export async function streamChunks(turn: Turn, count: number): Promise<void> {
  const out = turn.artifact('out');
  const ahead: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    ahead.push(out.append(CHUNK, { isLast: index === count - 1 }));
    if (ahead.length >= AHEAD) await ahead.shift();
  }
  await Promise.all(ahead);
}

/** Time for a subscriber to arrive before the first stamp. */
const LISTENERS_MS = 300;

/** Appends chunks that carry the moment at which they were handed in, one at a time and with pauses, and tells how long each commit took. */
async function streamStamps(turn: Turn, count: number): Promise<void> {
  const out = turn.artifact('out');
  const commitMs: number[] = [];
  await sleepMs(LISTENERS_MS);
  for (let index = 0; index < count; index++) {
    const at = nowMs();
    await out.append(stamped(at), { isLast: index === count - 1 });
    commitMs.push(nowMs() - at);
    await sleepMs(pauseMs());
  }
  console.log(JSON.stringify({ commitMs }));
}

/** Says nothing until its signal fires, and tells when that was. */
async function beSilent(turn: Turn): Promise<void> {
  await new Promise<void>((resolve) => {
    turn.signal.addEventListener('abort', () => {
      console.log(JSON.stringify({ firedAtMs: nowMs(), taskId: turn.task.id }));
      resolve();
    });
  });
}

/** The agent of our replicas: what a message asks for is done, any other is answered at once. */
export const runScript: Run = async (turn) => {
  const chunks = chunkCount(turn.text);
  if (chunks !== undefined) return streamChunks(turn, chunks);
  const [word, count] = turn.text.split(' ');
  if (word === 'stamps') return streamStamps(turn, Number(count));
  if (word === 'silent') return beSilent(turn);
  return ANSWER;
};
