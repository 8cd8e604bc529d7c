import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isA2AError } from '../../src/protocol/errors.ts';
import { ReplicaProcess } from '../../src/testing/replica-process.ts';
import { chunks, ended, eventually, openStage, partsOf } from './support.ts';

const program = fileURLToPath(new URL('./locker.ts', import.meta.url));

interface Locker extends AsyncDisposable {
  /** Lets the stopped process go on and waits until it has committed. */
  release(): Promise<void>;
  /** Resolves when it has let go by itself. */
  readonly freed: Promise<unknown>;
}

/** Another process that holds the file's write lock: stopped inside its transaction, or for so many milliseconds. */
async function lock(file: string, how: 'stop' | number): Promise<Locker> {
  const child = spawn(process.execPath, ['--import', 'tsx', program, file, String(how)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const freed = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  return {
    freed,
    release: async () => {
      child.kill('SIGCONT');
      await freed;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await freed;
    },
  };
}

describe('a process that is stopped inside a commit', () => {
  test('stops writers and nobody else: reads and cards answer, writes are UNAVAILABLE in time, and all goes on after SIGCONT', async () => {
    await using stage = await openStage();
    const [a, b, c] = [stage.probe(0), stage.probe(1), stage.probe(2)];
    const { id: ended1 } = await a.sendForTask('emit 3 0; done');
    const { id: running } = await a.sendForTask('emit 100 80; done', { returnImmediately: true });
    await eventually('the run', async () => partsOf(await b.get(running)).length > 3);
    await using locker = await lock(stage.rig.store, 'stop');

    const sending = stage.probes().map(async (probe) => {
      const start = performance.now();
      const answer = await probe.send('done').catch((error: unknown) => error);
      return { answer, tookMs: performance.now() - start };
    });
    for (let round = 0; round < 5; round++) {
      for (const probe of [a, b, c]) {
        // nobody lets go of the lock meanwhile: what waited for it would wait for ever
        await probe.card();
        await probe.get(ended1);
        await probe.list({ pageSize: 5 });
      }
    }
    for (const { answer, tookMs } of await Promise.all(sending)) {
      expect(isA2AError(answer) && answer.code).toBe('UNAVAILABLE');
      expect(isA2AError(answer) && answer.retryAfterMs).toBeGreaterThan(0);
      expect(tookMs).toBeLessThan(30_000); // after 5 s, and not when somebody gives up
    }
    await locker.release();

    // nobody was taken for dead although nobody could renew: it is the first run that ends the turn
    const task = await ended(c, running, 30_000);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(partsOf(task)).toEqual(chunks(1, 100));
    const starts = (await stage.rig.effects()).filter((effect) => effect.task === running && effect.what === 'start');
    expect(starts).toHaveLength(1);
    for (const probe of stage.probes()) expect((await probe.sendForTask('emit 1 0; done')).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await stage.verdict()).violations).toEqual([]);
  });
});

describe('a store that is locked for three seconds', () => {
  test('is waited for: twenty blocking sends are answered, and no process dies of it (case 30)', async () => {
    await using stage = await openStage({ replicas: 2 });
    await using locker = await lock(stage.rig.store, 3_000);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => stage.probe(index % 2).sendForTask('emit 2 0; done')));
    for (const task of answers) expect(partsOf(task)).toEqual(chunks(1, 2));
    await locker.freed;
    expect(stage.rig.living).toHaveLength(2);
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('does not keep a new replica from starting', async () => {
    await using stage = await openStage({ replicas: 1 });
    await using locker = await lock(stage.rig.store, 2_000);
    const replica = await ReplicaProcess.start('B', ['--agent', 'scripted', '--port', '0', '--store', stage.rig.store]);
    await replica.destroy();
    await locker.freed;
  });
});
