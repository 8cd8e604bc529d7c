import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { labSubject } from '../../proof/lab/subject.ts';
import { memory } from '../../src/agent/memory.ts';
import type { AgentOptions } from '../../src/agent/options.ts';
import { sqlite } from '../../src/agent/sqlite.ts';
import type { Store, StoreSource } from '../../src/log/store.ts';
import { textOf } from '../../src/protocol/parts.ts';
import { Chance } from '../../src/testing/lab/chance.ts';
import { openLab } from '../../src/testing/lab/lab.ts';
import type { LabParts } from '../../src/testing/lab/agent-options.ts';
import type { LabVerdict } from '../../src/testing/lab/verdict.ts';

/** A seed takes a tenth of a second of a core that has nothing else to do. */
const LONG_MS = 120_000;

async function play(seed: number, store: StoreSource): Promise<LabVerdict> {
  await using lab = await openLab({ ...labSubject(new Chance(seed).fork('subject')), seed, store });
  return await lab.run({ actors: 3 });
}

function newFile(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'chorus-lab-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'tasks.db');
}

/** Writes slowly, so that there is time to die in the middle of it. */
const poet = ({ clock }: LabParts): AgentOptions => ({
  card: { name: 'Poet', description: 'Writes poems.', version: '1.0.0' },
  onLost: 'retry',
  leaseMs: 2_000,
  async run(turn) {
    const poem = turn.artifact('poem');
    for (const word of ['The sea ', 'is ', 'wide.']) {
      await poem.append(word);
      await new Promise<void>((resolve) => clock.after(500, resolve));
    }
  },
});

/** Says nothing, and ends only when it is told to. */
const silent: AgentOptions = {
  card: { name: 'Silent', description: 'Waits.', version: '1.0.0' },
  leaseMs: 2_000,
  run: (turn) => new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve(), { once: true })),
};

/** A memory store with one verb exchanged. */
function broken(exchange: (store: Store) => Partial<Store>): StoreSource {
  const source = memory();
  return {
    ...source,
    open(parts) {
      const { store, wake } = source.open(parts);
      const plain: Partial<Store> = exchange(store);
      const over = new Proxy(store, {
        get(target, name) {
          const own: unknown = Reflect.get(plain, name) ?? Reflect.get(target, name);
          return typeof own === 'function' ? (own.bind(target) as unknown) : own;
        },
      });
      return { store: over, wake };
    },
  };
}

async function promisesBroken(seed: number, exchange: (store: Store) => Partial<Store>): Promise<readonly string[]> {
  return (await play(seed, broken(exchange))).violations.map(({ promise }) => promise);
}

describe('the lab', () => {
  test(
    'plays a seed the same way each time, to the last line of its trace',
    async () => {
      for (const store of [memory, () => sqlite(newFile())]) {
        const [one, other] = [await play(7, store()), await play(7, store())];
        expect(one.trace.length).toBeGreaterThan(100);
        expect(other.trace).toEqual(one.trace);
      }
    },
    LONG_MS,
  );

  test(
    'finds nothing to say of the agent that npm run lab torments, in memory and on SQLite',
    async () => {
      for (let seed = 1; seed <= 4; seed++) {
        const { violations, counted, trace } = await play(seed, seed % 4 === 0 ? sqlite(newFile()) : memory());
        expect(violations, trace.join('\n')).toEqual([]);
        expect(counted.entries).toBeGreaterThan(0);
      }
    },
    LONG_MS,
  );

  test(
    'names the promise that was broken: readers who miss an entry (P1)',
    async () => {
      const skipping = (store: Store): Partial<Store> => ({
        entries: async (ask) => store.entries({ ...ask, wants: ask.wants.map((want) => ({ ...want, after: want.after + 1 })) }),
      });
      expect(await promisesBroken(4, skipping)).toContain('P1');
    },
    LONG_MS,
  );

  test(
    'names the promise that was broken: a key that is looked for behind the refusals (P9)',
    async () => {
      const forgetful = (store: Store): Partial<Store> => ({
        async accept(ask) {
          const answer = await store.accept(ask);
          return answer.kind === 'accepted' && answer.isRepeat ? { kind: 'busy', state: answer.row.state } : answer;
        },
      });
      expect(await promisesBroken(2, forgetful)).toContain('P9');
    },
    LONG_MS,
  );

  test('names the promise that was broken: a cancel that is answered and not done (P8)', async () => {
    const forgetful = (store: Store): Partial<Store> => ({
      async cancel({ taskId }) {
        const found = await store.read({ taskId, after: Number.MAX_SAFE_INTEGER });
        return found ? { kind: 'canceled', isRepeat: true, row: found.row } : { kind: 'absent' };
      },
    });
    await using lab = await openLab({ agent: silent, seed: 1, replicas: 1, store: broken(forgetful) });
    const task = await lab.clients[0]?.start('anything');
    await lab.clients[0]?.task(task?.id ?? '').cancel();
    const { violations } = await lab.verdict();
    expect(violations.map(({ promise }) => promise)).toContain('P8');
  });

  test('takes checks of the user’s own', async () => {
    await using lab = await openLab({ agent: poet, seed: 1, checks: [(stored) => [`${stored.size} poems`]] });
    await lab.clients[0]?.start('a poem');
    const { violations } = await lab.verdict();
    expect(violations.map(({ says }) => says)).toEqual(['1 poems']);
  });
});

describe('a lab that is moved by hand', () => {
  test('shows a second replica finish a turn whose holder died (P6)', async () => {
    await using lab = await openLab({ agent: poet, seed: 7, replicas: 2 });
    const poem = await lab.clients[0]?.start('a poem');
    await lab.advance(700);
    lab.crash(0);
    await lab.until(() => lab.reached.of('takeover') === 1, 'the turn is taken over', 3_500);
    const task = await lab.settled(poem?.id ?? '');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.map((artifact) => textOf(artifact.parts))).toEqual(['The sea is wide.']);
    expect((await lab.verdict()).violations).toEqual([]);
  });

  test('shows a holder that stood still past its lease write nothing any more (P4)', async () => {
    await using lab = await openLab({ agent: poet, seed: 7, replicas: 2 });
    const poem = await lab.clients[0]?.start('a poem');
    await lab.advance(700);
    lab.replicas[0]?.pause();
    await lab.settled(poem?.id ?? '');
    lab.replicas[0]?.goOn();
    await lab.advance(5_000);
    const { violations, reached } = await lab.verdict();
    expect(violations).toEqual([]);
    expect(reached.dead).toBe(1);
  });

  test('gives callers a name, and strangers nothing (P10)', async () => {
    await using lab = await openLab({ agent: poet, seed: 7 });
    const poem = await (await lab.client({ caller: 'ada' })).start('a poem');
    const stranger = await lab.client({ caller: 'bob' });
    await expect(stranger.task(poem.id).get()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });
});
