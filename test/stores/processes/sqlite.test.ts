import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/ground/clock.ts';
import { silentLogger } from '../../../src/ground/logger.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { findDriver } from '../../../src/stores/sqlite-driver.ts';
import type { SqliteStore } from '../../../src/stores/sqlite.ts';
import { openSqlite } from '../../../src/stores/sqlite.ts';
import { scope } from '../../../src/testing/store-suite/bench.ts';
import { checkLog } from '../../../src/testing/store-suite/check-log.ts';
import { acceptAsk, logOf } from '../asks.ts';
import { tempFiles } from '../temp.ts';
import type { Child } from './spawn.ts';
import { spawnScript } from './spawn.ts';

const file = tempFiles();
const script = new URL('child.ts', import.meta.url);
const child = (what: string, path: string, name = '', count = 0): Child => spawnScript(script, [what, path, name, String(count)]);

async function opened(path: string): Promise<SqliteStore> {
  const store = openSqlite(path, { clock: systemClock, random: systemRandom, logger: silentLogger });
  await store.start();
  return store;
}

/** What SQLite itself says of the file. */
async function integrity(path: string): Promise<unknown> {
  const database = (await findDriver()).open(path);
  const rows = database.prepare('PRAGMA integrity_check').all([]);
  database.close();
  return rows.map((row) => row['integrity_check']);
}

async function checkAll(path: string): Promise<readonly string[]> {
  expect(await integrity(path)).toEqual(['ok']);
  const store = await opened(path);
  const { rows } = await store.list({ scope, limit: 1_000 });
  for (const { id } of rows) {
    const { row, log } = await logOf(store, id);
    checkLog(row, log);
  }
  await store.stop();
  return rows.map(({ id }) => id);
}

describe('several processes on one SQLite file', () => {
  test('start at once on an empty one, and the tables are made once (case 99)', async () => {
    const path = file();
    const children = Array.from({ length: 5 }, (_, index) => child('start', path, `P${index}`, 4));
    for (const { ended, line } of children) {
      expect(await line<{ errors: unknown[] }>(() => true)).toEqual({ errors: [] });
      expect(await ended).toBe(0);
    }
    const database = (await findDriver()).open(path);
    expect(database.prepare('SELECT version FROM chorus_schema').all([])).toMatchObject([{ version: 1 }]);
    database.close();
  });

  test('bring, claim and finish tasks together: each is run once, whole and in order (P1, P4)', async () => {
    const path = file();
    const names = ['P', 'Q', 'R', 'S'];
    const children = names.map((name) => child('fill', path, name, 30));
    for (const { ended, line } of children) {
      await line<{ done: boolean }>(({ done }) => done);
      expect(await ended).toBe(0);
    }
    expect(await checkAll(path)).toHaveLength(120);
    const store = await opened(path);
    expect((await store.list({ scope, state: 'TASK_STATE_COMPLETED', limit: 1 })).total).toBe(120);
    for (const name of names) {
      const { log } = await logOf(store, `${name}-1`);
      const said = log.filter(({ kind }) => kind === 'artifact').map(({ body }) => body);
      const runner = said[0]?.slice(9, 10) ?? '';
      expect(said).toEqual([1, 2, 3, 4, 5].map((ordinal) => JSON.stringify({ text: `${runner} ${ordinal}` })));
    }
    await store.stop();
  });

  test('one killed in the middle of its writes leaves a whole file with all that was acknowledged (P5)', async () => {
    const path = file();
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < 4; round += 1) {
      const victim = child('loop', path, `V${round}`);
      await victim.line<{ ordinal: number }>(({ ordinal }) => ordinal >= 30 + 21 * round);
      victim.process.kill('SIGKILL');
      await victim.ended;
      for (const { taskId, ordinal } of victim.lines as readonly { taskId: string; ordinal: number }[]) acknowledged.set(taskId, ordinal); // the lines of `loop`
      await checkAll(path);
    }
    const store = await opened(path);
    expect(acknowledged.size).toBe(16);
    for (const [taskId, ordinal] of acknowledged) expect((await logOf(store, taskId)).row.ordinal).toBeGreaterThanOrEqual(ordinal);
    await store.stop();
  });

  test('one stopped inside a commit: the others read, their writes say UNAVAILABLE in time, and all goes on after it', async () => {
    const path = file();
    const store = await opened(path);
    await store.accept(acceptAsk('t'));
    const stopped = child('hold', path);
    await stopped.line<{ inside: boolean }>(({ inside }) => inside);
    stopped.process.kill('SIGSTOP');
    const since = systemClock.monotonic();
    const write = store.accept(acceptAsk('u'));
    expect((await store.read({ taskId: 't', after: 0 }))?.row.seq).toBe(2);
    expect((await store.list({ scope, limit: 10 })).total).toBe(1);
    await expect(write).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable', isUnknown: false });
    expect(systemClock.monotonic() - since).toBeLessThan(20_000); // after 5 s, and not when somebody gives up
    const waiting = store.accept(acceptAsk('v'));
    stopped.process.kill('SIGCONT');
    stopped.process.stdin.write('go\n');
    expect((await waiting).kind).toBe('accepted');
    expect(await stopped.ended).toBe(0);
    expect((await store.tick({ agent: scope.agent, replica: 'none', own: 'look', suspects: [], watched: [] })).beats).toEqual([
      { replica: 'half', beat: 0 },
    ]);
    await store.stop();
    expect(await checkAll(path)).toEqual(['v', 't']);
  });

  test('one killed inside a commit is forgotten, lock and all', async () => {
    const path = file();
    const store = await opened(path);
    const killed = child('hold', path);
    await killed.line<{ inside: boolean }>(({ inside }) => inside);
    const write = store.accept(acceptAsk('t'));
    killed.process.kill('SIGKILL');
    expect((await write).kind).toBe('accepted');
    expect((await store.tick({ agent: scope.agent, replica: 'none', own: 'look', suspects: [], watched: [] })).beats).toEqual([]);
    await store.stop();
  });

  // root may write everywhere, so a test of rights needs to be root and to start a child that is not
  test.runIf(process.getuid?.() === 0)('one without rights on the file or its folder is told so in one sentence', async () => {
    const folder = join(dirname(file()), 'rights');
    mkdirSync(folder);
    for (const above of [folder, dirname(folder)]) chmodSync(above, 0o755);
    const path = join(folder, 'tasks.db');
    const store = await opened(path);
    await store.accept(acceptAsk('t'));
    await store.stop();
    const asNobody = async (): Promise<unknown> => {
      const nobody = spawnScript(script, ['start', path, 'N', '1'], { uid: 65_534, gid: 65_534, env: { ...process.env, HOME: '/tmp' } });
      return nobody.line(() => true);
    };
    const message = expect.stringMatching(/^The database .* (cannot be written|cannot be opened)/);
    expect(await asNobody()).toEqual({ errors: [{ kind: 'misconfigured', message }] });
    chmodSync(path, 0o600);
    expect(await asNobody()).toEqual({ errors: [{ kind: 'misconfigured', message }] });
  });

  test('wait for one another rather than fail: none of four that write without end is told UNAVAILABLE, none starves', async () => {
    const troubles: unknown[] = [];
    // a machine that gives one of them hardly any time starves it, whatever the store does: one try of three shows that they need not
    for (let attempt = 0; attempt < 3 && troubles.length === attempt; attempt += 1) {
      const path = file();
      const children = ['P', 'Q', 'R', 'S'].map((name) => child('loop', path, name));
      // fifty commits of each between those of the others; whoever found no gap for five seconds ends with an error
      const allWrote = children.map(({ line }) => line<{ ordinal: number }>(({ ordinal }) => ordinal >= 150));
      await Promise.all(allWrote).catch((error: unknown) => troubles.push(error));
      for (const one of children) one.process.kill('SIGKILL');
      await Promise.allSettled([...allWrote, ...children.map(({ ended }) => ended)]);
    }
    expect(troubles.length, troubles.join('; ')).toBeLessThan(3);
  });
});
