import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { sqlite } from '../../../src/agent/sqlite.ts';
import { systemClock } from '../../../src/ground/clock.ts';
import { silentLogger } from '../../../src/ground/logger.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import type { Store } from '../../../src/log/store.ts';
import type { Wake } from '../../../src/log/wake.ts';
import { scope } from '../../../src/testing/store-suite/bench.ts';
import { acceptAsk } from '../../stores/asks.ts';
import type { Child } from '../../stores/processes/spawn.ts';
import { spawnScript } from '../../stores/processes/spawn.ts';
import { tempFiles } from '../../stores/temp.ts';

const file = tempFiles();

const now = (): number => Number(process.hrtime.bigint() / 1_000n);

/** What a listening child says of hints. */
interface Heard {
  readonly at: number;
  readonly kind?: string;
  readonly taskId?: string;
}

async function writer(path: string): Promise<{ readonly store: Store; readonly wake: Wake }> {
  const opened = sqlite(path).open({ clock: systemClock, random: systemRandom, logger: silentLogger });
  await opened.store.start();
  await opened.wake.start();
  return opened;
}

async function listeners(path: string, count: number): Promise<readonly Child[]> {
  const children = Array.from({ length: count }, () => spawnScript(new URL('child.ts', import.meta.url), [path]));
  for (const child of children) expect(await child.line(() => true)).toEqual({ isProven: true });
  return children;
}

async function end(children: readonly Child[]): Promise<void> {
  for (const child of children) {
    child.process.stdin.end();
    expect(await child.ended).toBe(0);
  }
}

/** Microseconds from a question until the other process has answered it: what the machine takes for a word between two processes just now. */
async function answerDelay(child: Child): Promise<number> {
  const asked = now();
  child.process.stdin.write('cpu\n');
  const { at } = await child.line<Heard & { readonly cpu?: number }>((line) => line.cpu !== undefined && line.at >= asked);
  return at - asked;
}

interface Delays {
  readonly hints: readonly number[];
  readonly answers: readonly number[];
}

/** Microseconds from the moment a commit was hinted until the other process has read what is new, one by one, and those of as many words. */
async function delays(store: Store, wake: Wake, child: Child, rounds: number): Promise<Delays> {
  const sent = new Map<string, number>();
  const answers: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const taskId = `task-${child.lines.length}-${round}`;
    await store.accept(acceptAsk(taskId));
    sent.set(taskId, now());
    wake.notify([{ kind: 'grew', taskId, seq: 2 }]);
    await child.line<Heard>((line) => line.taskId === taskId);
    answers.push(await answerDelay(child));
  }
  const hints = (child.lines as readonly Heard[]) // all but the first line are of this shape
    .flatMap(({ taskId = '', at }) => (sent.has(taskId) ? [at - (sent.get(taskId) ?? 0)] : []));
  return { hints: hints.toSorted((one, other) => one - other), answers: answers.toSorted((one, other) => one - other) };
}

describe('the doorbell between processes', () => {
  test('wakes another process in less than ten milliseconds, in 99 of 100 cases', async () => {
    const path = file();
    const { store, wake } = await writer(path);
    const children = await listeners(path, 1);
    const found: string[] = [];
    let isQuick = false;
    // the machine may be busy with something else: the doorbell is judged by its best of some tries, beside what any word takes there
    for (let attempt = 0; attempt < 10 && !isQuick; attempt += 1) {
      const { hints, answers } = await delays(store, wake, children[0] as Child, 100); // there is one
      const [p50 = 0, p99 = 0] = [hints[50], hints[98]];
      const [word50 = 0, word99 = 0] = [answers[50], answers[98]];
      found.push(`p50 ${p50} of ${word50} µs, p99 ${p99} of ${word99} µs`);
      isQuick = p99 < 10_000 + 3 * word99;
    }
    expect(isQuick, found.join('; ')).toBe(true);
    await end(children);
    await wake.stop();
    await store.stop();
  });

  test('costs an idle process less than one percent of a core', async () => {
    const path = file();
    const children = await listeners(path, 2);
    const cost = async (child: Child): Promise<number> => {
      const since = now();
      child.process.stdin.write('cpu\n');
      const { cpu } = await child.line<{ cpu: number; at: number }>(({ cpu: used, at }) => used !== undefined && at >= since);
      return cpu;
    };
    const used: number[] = [];
    // what a start leaves to be done is not idleness, nor is a collection of garbage: the quietest of some spans is
    for (let span = 0; span < 4 && Math.min(...used) >= 20_000; span += 1) {
      const before = await Promise.all(children.map(cost));
      await pause(2_000);
      const after = await Promise.all(children.map(cost));
      used.push(Math.max(...after.map((micros, index) => micros - (before[index] ?? 0))));
    }
    expect(Math.min(...used), `µs in 2 s: ${used.join(', ')}`).toBeLessThan(20_000);
    await end(children);
  });

  test('is heard by every process, whichever writes, and tells queued turns and moved fences', async () => {
    const path = file();
    const { store, wake } = await writer(path);
    const children = await listeners(path, 3);
    await store.accept(acceptAsk('queued', { canStart: false }));
    wake.notify([{ kind: 'queued' }]);
    for (const child of children) await child.line<Heard>(({ kind }) => kind === 'queued');
    await store.accept(acceptAsk('running'));
    await store.cancel({ scope, taskId: 'running', body: '{}' });
    wake.notify([{ kind: 'moved', taskId: 'running' }]);
    for (const child of children) await child.line<Heard>(({ kind, taskId }) => kind === 'moved' && taskId === 'running');
    await end(children);
    await wake.stop();
    await store.stop();
  });

  test('is waited for at the start by a program that has nothing else to do, and lets it end afterwards', async () => {
    const child = spawnScript(new URL('child.ts', import.meta.url), [file(), 'once']);
    expect(await child.line(() => true)).toEqual({ isProven: true });
    expect(await child.ended).toBe(0);
  });

  test('is made anew when somebody removes it, and goes on', async () => {
    const path = file();
    const { store, wake } = await writer(path);
    const children = await listeners(path, 2);
    for (let round = 0; round < 3; round += 1) {
      rmSync(`${path}-wake`);
      const taskId = `task-${round}`;
      await store.accept(acceptAsk(taskId));
      // every process finds out by itself; until the last one has, a touch may be lost and a tick would find the log grown
      const touch = setInterval(() => wake.notify([{ kind: 'grew', taskId, seq: 2 }]), 20);
      for (const child of children) await child.line<Heard>((line) => line.taskId === taskId);
      clearInterval(touch);
    }
    await end(children);
    await wake.stop();
    await store.stop();
  });

  test('that cannot be watched is not proven, says so once, and hints still come by looking', async () => {
    const path = file();
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (event: string) => void warnings.push(event) };
    const { store, wake } = sqlite(path).open({ clock: systemClock, random: systemRandom, logger });
    const heard: unknown[] = [];
    wake.listen((hints) => heard.push(...hints));
    await store.start();
    // a folder stands where the doorbell should be
    const { mkdirSync } = await import('node:fs');
    mkdirSync(`${path}-wake`);
    await wake.start();
    expect(wake.isProven).toBe(false);
    expect(warnings).toHaveLength(1);
    const other = await writer(path);
    await other.store.accept(acceptAsk('t'));
    await expect.poll(() => heard, { timeout: 15_000 }).toContainEqual({ kind: 'grew', taskId: 't', seq: 2 });
    for (const one of [{ store, wake }, other]) {
      await one.wake.stop();
      await one.store.stop();
    }
  });
});
