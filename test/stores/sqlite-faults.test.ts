import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqlite } from '../../src/agent/sqlite.ts';
import { systemClock } from '../../src/ground/clock.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { StoreError } from '../../src/log/store.ts';
import { SqliteConnection } from '../../src/stores/sqlite-connection.ts';
import type { Driver, SqlDatabase } from '../../src/stores/sqlite-driver.ts';
import { findDriver } from '../../src/stores/sqlite-driver.ts';
import { SqliteFailure } from '../../src/stores/sqlite-failure.ts';
import type { SqliteStoreOptions } from '../../src/stores/sqlite-file.ts';
import { prepareSchema } from '../../src/stores/sqlite-schema.ts';
import type { SqliteStore } from '../../src/stores/sqlite.ts';
import { openSqlite } from '../../src/stores/sqlite.ts';
import { checkLog } from '../../src/testing/store-suite/check-log.ts';
import { acceptAsk, logOf } from './asks.ts';
import { tempFiles } from './temp.ts';

const file = tempFiles();
const parts = { clock: systemClock, random: systemRandom, logger: silentLogger };

const store = (path: string, options: SqliteStoreOptions = {}): SqliteStore => openSqlite(path, parts, options);

/** What a call or a start fails with. */
async function errorOf(work: Promise<unknown>): Promise<Pick<StoreError, 'name' | 'kind' | 'message'>> {
  return work.then(
    () => expect.unreachable('it should have failed'),
    (error: StoreError) => error,
  );
}

/** Another connection to the same file, as another program has it. */
async function another(path: string): Promise<SqlDatabase> {
  const database = (await findDriver()).open(path);
  database.exec('PRAGMA busy_timeout = 0');
  return database;
}

/** The store's driver, with a statement run on its connection as soon as it is open. */
const withPragma = (sql: string) => async (): Promise<Driver> => {
  const driver = await findDriver();
  return {
    name: driver.name,
    open: (path) => {
      const database = driver.open(path);
      const exec = (statement: string): void => {
        database.exec(statement);
        if (statement.startsWith('PRAGMA synchronous')) database.exec(sql);
      };
      return { ...database, exec };
    },
  };
};

const saysNothingOfTables = /^(?!.*(SELECT|INSERT|UPDATE|chorus_)).*$/s;

describe('a SQLite file that cannot be used', () => {
  test('is named in one sentence when its folder is not there', async () => {
    const path = join(dirname(file()), 'nowhere', 'tasks.db');
    const error = await errorOf(store(path).start());
    expect(error).toMatchObject({ name: 'StoreError', kind: 'misconfigured', message: expect.stringContaining('There is no folder') });
    expect(existsSync(dirname(path))).toBe(false);
  });

  test('is named in one sentence when it is no database, and left as it was', async () => {
    const path = file();
    writeFileSync(path, 'Dear diary, today I was opened as a database. '.repeat(100));
    const error = await errorOf(store(path).start());
    expect(error).toMatchObject({ kind: 'misconfigured', message: `The file ${path} is not a SQLite database.` });
  });

  test('is named in one sentence when it is a folder', async () => {
    const path = file();
    mkdirSync(path);
    expect(await errorOf(store(path).start())).toMatchObject({
      kind: 'misconfigured',
      message: expect.stringContaining('cannot be opened'),
    });
  });

  test('is refused at once when no other process could ever see it', () => {
    for (const path of [':memory:', '', 'file::memory:?cache=shared']) expect(() => sqlite(path)).toThrow(/give a path/);
  });

  test('of a newer version is refused unless that version still lets this one write', async () => {
    const path = file();
    const first = store(path);
    await first.start();
    await first.stop();
    const database = await another(path);
    database.exec('INSERT INTO chorus_schema (version, readable_from, writable_from) VALUES (1001, 1, 1)');
    const beside = store(path);
    await beside.start();
    expect((await beside.accept(acceptAsk('t'))).kind).toBe('accepted');
    await beside.stop();
    database.exec('INSERT INTO chorus_schema (version, readable_from, writable_from) VALUES (1002, 1, 1002)');
    const error = await errorOf(store(path).start());
    expect(error).toMatchObject({ kind: 'misconfigured', message: expect.stringContaining('newer version') });
    database.close();
  });

  test('is not made and not changed by migrate: check, which says what is missing (case 99)', async () => {
    const path = file();
    const error = await errorOf(store(path, { migrate: 'check' }).start());
    expect(error).toMatchObject({ kind: 'misconfigured', message: expect.stringContaining("migrate: 'auto'") });
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, '');
    expect(await errorOf(store(path, { migrate: 'check' }).start())).toMatchObject({ message: expect.stringContaining('no tables yet') });
    const made = store(path);
    await made.start();
    const checked = store(path, { migrate: 'check' });
    await checked.start();
    expect((await checked.accept(acceptAsk('t'))).kind).toBe('accepted');
    await checked.stop();
    await made.stop();
  });

  test('is found made when another process makes it between the look and the lock (case 99)', async () => {
    const path = file();
    const other = new SqliteConnection(await another(path));
    let isMade = false;
    const find = async (): Promise<Driver> => {
      const driver = await findDriver();
      const open = (name: string): SqlDatabase => {
        const database = driver.open(name);
        const exec = (sql: string): void => {
          if (sql === 'BEGIN IMMEDIATE' && !isMade) {
            isMade = true;
            prepareSchema(other, 'auto', path);
          }
          database.exec(sql);
        };
        return { ...database, exec };
      };
      return { name: driver.name, open };
    };
    const one = store(path, { find });
    await one.start();
    expect(isMade).toBe(true);
    expect((await one.accept(acceptAsk('t'))).kind).toBe('accepted');
    await one.stop();
    other.close();
  });

  test('needs a driver, and the error says which ones there are', async () => {
    const find = (): Promise<Driver> => findDriver('better-sqlite3');
    const error = await errorOf(store(file(), { find }).start());
    expect(error).toMatchObject({ kind: 'misconfigured', message: 'The SQLite driver "better-sqlite3" cannot be loaded.' });
  });

  test('can be started again when the trouble is over', async () => {
    const path = file();
    writeFileSync(path, 'no database'.repeat(100));
    const one = store(path);
    await errorOf(one.start());
    writeFileSync(path, '');
    await one.start();
    expect((await one.accept(acceptAsk('t'))).kind).toBe('accepted');
    await one.stop();
  });
});

describe('a SQLite file in trouble', () => {
  test('that is full refuses writes in one sentence, keeps what it has and takes writes again when there is room', async () => {
    const path = file();
    const one = store(path, { find: withPragma('PRAGMA max_page_count = 60') });
    await one.start();
    await one.accept(acceptAsk('t'));
    const entries = [{ kind: 'artifact' as const, body: 'x'.repeat(50_000) }];
    const append = (ordinal: number) => one.append({ taskId: 't', fence: 1, from: ordinal, entries });
    let from = 1;
    for (let isFull = false; !isFull;)
      isFull = await append(from).then(
        () => from++ > 100,
        () => true,
      );
    const error = await errorOf(append(from));
    expect(error).toMatchObject({ name: 'StoreError', kind: 'unavailable', message: expect.stringContaining('cannot grow') });
    expect(error.message).toMatch(saysNothingOfTables);
    const found = await one.read({ taskId: 't', after: 0 });
    expect(found?.row.ordinal).toBe(from - 1);
    await one.stop();
    const roomy = store(path);
    await roomy.start();
    expect((await roomy.append({ taskId: 't', fence: 1, from, entries })).kind).toBe('applied');
    const { row, log } = await logOf(roomy, 't');
    checkLog(row, log);
    await roomy.stop();
  });

  test('under which a commit fails answers nothing of it as done, keeps nothing of it, and goes on (P2, P7)', async () => {
    const path = file();
    let failing = 0;
    const find = async (): Promise<Driver> => {
      const driver = await findDriver();
      return {
        name: driver.name,
        open: (opened) => {
          const database = driver.open(opened);
          const exec = (statement: string): void => {
            if (statement === 'COMMIT' && failing-- > 0) throw new SqliteFailure({ code: 'SQLITE_FULL' });
            database.exec(statement);
          };
          return { ...database, exec };
        },
      };
    };
    const one = store(path, { find });
    await one.start();
    await one.accept(acceptAsk('t'));
    failing = 1;
    const append = () => one.append({ taskId: 't', fence: 1, from: 1, entries: [{ kind: 'artifact', body: '{}' }] });
    const refused = await Promise.all([errorOf(append()), errorOf(one.cancel({ ...acceptAsk('t'), body: '{}' }))]);
    expect(refused.map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable']);
    expect((await one.read({ taskId: 't', after: 0 }))?.row.seq).toBe(2);
    expect((await append()).kind).toBe('applied');
    await one.stop();
    const again = store(path);
    await again.start();
    const { row, log } = await logOf(again, 't');
    checkLog(row, log);
    expect(row.seq).toBe(3);
    await again.stop();
  });

  test('that another process has locked is still read, says UNAVAILABLE to writes after five seconds, and does not hold up the loop', async () => {
    const path = file();
    const one = store(path);
    await one.start();
    await one.accept(acceptAsk('t'));
    const other = await another(path);
    other.exec('BEGIN IMMEDIATE');
    const since = systemClock.monotonic();
    const write = errorOf(one.accept(acceptAsk('u')));
    let turns = 0;
    const done = new AbortController();
    void write.finally(() => done.abort());
    for (; !done.signal.aborted; turns += 1) {
      expect((await one.read({ taskId: 't', after: 0 }))?.row.seq).toBe(2);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await write).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('locked by another process'),
      isUnknown: false,
    });
    const tookMs = systemClock.monotonic() - since;
    expect(tookMs).toBeGreaterThan(4_900);
    expect(tookMs).toBeLessThan(20_000);
    expect(turns).toBeGreaterThan(50); // a loop that is held up comes around once
    const next = one.accept(acceptAsk('v'));
    other.exec('ROLLBACK');
    expect((await next).kind).toBe('accepted');
    other.close();
    await one.stop();
  });

  test('that refuses the content of one member writes its neighbours: only the culprit fails', async () => {
    const path = file();
    const one = store(path);
    await one.start();
    for (const id of ['a', 'b', 'c', 'd']) await one.accept(acceptAsk(id));
    const other = await another(path);
    other.exec(`CREATE TRIGGER poison BEFORE INSERT ON chorus_entry WHEN NEW.body LIKE '%POISON%'
      BEGIN SELECT RAISE(ABORT, 'SELECT body FROM chorus_entry'); END`);
    const say = (taskId: string, body: string) => one.append({ taskId, fence: 1, from: 1, entries: [{ kind: 'artifact', body }] });
    const [a, b, c, d] = await Promise.allSettled([
      say('a', '1'),
      say('b', 'POISON'),
      say('c', '3'),
      one.cancel({ ...acceptAsk('d'), body: '{}' }),
    ]);
    expect([a, c].map((result) => result?.status === 'fulfilled' && result.value.kind)).toEqual(['applied', 'applied']);
    expect(d).toMatchObject({ status: 'fulfilled', value: { kind: 'canceled' } });
    expect(b).toMatchObject({ status: 'rejected', reason: { name: 'StoreError', kind: 'unstorable' } });
    expect(b?.status === 'rejected' && String(b.reason.message)).toMatch(saysNothingOfTables);
    for (const id of ['a', 'b', 'c', 'd']) {
      const { row, log } = await logOf(one, id);
      checkLog(row, log);
      expect(row.seq).toBe(id === 'b' ? 2 : 3);
    }
    other.close();
    await one.stop();
  });

  test('that kept entries of a purge which did not end loses them with the next one', async () => {
    const path = file();
    const one = store(path);
    await one.start();
    const other = await another(path);
    other.exec(
      "INSERT INTO chorus_entry (task_no, seq, kind, turn, fence, at, hint, body) VALUES (77, 1, 'message', 1, 1, 1, 0, '{}'), (77, 2, 'status', 1, 1, 1, 0, '{}')",
    );
    other.exec('INSERT INTO chorus_leftover (task_no) VALUES (77)');
    expect(await one.purge({ limit: 1 })).toEqual([]);
    expect(other.prepare('SELECT count(*) AS n FROM chorus_entry UNION ALL SELECT count(*) FROM chorus_leftover').all([])).toMatchObject([
      { n: 0 },
      { n: 0 },
    ]);
    other.close();
    await one.stop();
  });

  test('is written to the end before the store stops, a stopped store says so, and it may be started and stopped as one likes', async () => {
    const path = file();
    const one = store(path);
    await one.stop();
    await Promise.all([one.start(), one.start()]);
    const write = one.accept(acceptAsk('t'));
    await Promise.all([one.stop(), one.stop()]);
    expect((await write).kind).toBe('accepted');
    for (const call of [() => one.accept(acceptAsk('u')), () => one.read({ taskId: 't', after: 0 })])
      expect(await errorOf(call())).toMatchObject({ kind: 'unavailable' });
    await one.start();
    expect((await one.read({ taskId: 't', after: 0 }))?.row.seq).toBe(2);
    await one.stop();
  });
});
