import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/ground/clock.ts';
import { systemClock } from '../../src/ground/clock.ts';
import { Deferred } from '../../src/ground/deferred.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { findDriver } from '../../src/stores/sqlite-driver.ts';
import type { SqliteStore } from '../../src/stores/sqlite.ts';
import { openSqlite } from '../../src/stores/sqlite.ts';
import { scope } from '../../src/testing/store-suite/bench.ts';
import { acceptAsk } from './asks.ts';
import { tempFiles } from './temp.ts';

const file = tempFiles('/dev/shm');

async function two(): Promise<readonly [SqliteStore, SqliteStore]> {
  const path = file();
  const open = (): SqliteStore => openSqlite(path, { clock: systemClock, random: systemRandom, logger: silentLogger });
  const [one, other] = [open(), open()];
  await one.start();
  await other.start();
  return [one, other];
}

describe('the feed of a SQLite file', () => {
  test('tells what others have committed, once, however many entries it was', async () => {
    const [one, other] = await two();
    await one.accept(acceptAsk('t'));
    const entries = Array.from({ length: 100 }, () => ({ kind: 'artifact' as const, body: '{}' }));
    await Promise.all([1, 101].map((from) => one.append({ taskId: 't', fence: 1, from, entries })));
    expect(other.feed()).toEqual([{ kind: 'grew', taskId: 't', seq: 202 }]);
    expect(other.feed()).toEqual([]);
    await one.stop();
    await other.stop();
  });

  test('says nothing of what this process wrote itself, and misses nothing that came in between', async () => {
    const [one, other] = await two();
    for (const id of ['a', 'b']) await one.accept(acceptAsk(id));
    expect(one.feed()).toEqual([]);
    await other.accept(acceptAsk('c'));
    await one.accept(acceptAsk('d'));
    expect(one.feed()).toContainEqual({ kind: 'grew', taskId: 'c', seq: 2 });
    expect(other.feed().map((hint) => 'taskId' in hint && hint.taskId)).toEqual(expect.arrayContaining(['a', 'b', 'd']));
    expect(one.feed()).toEqual([]);
    await one.stop();
    await other.stop();
  });

  test('tells of turns that wait and of fences that moved, joined over the verbs of a commit', async () => {
    const [one, other] = await two();
    await one.accept(acceptAsk('queued', { canStart: false }));
    expect(other.feed()).toEqual([{ kind: 'grew', taskId: 'queued', seq: 2 }, { kind: 'queued' }]);
    await one.accept(acceptAsk('open'));
    await Promise.all([
      one.append({ taskId: 'open', fence: 1, from: 1, entries: [{ kind: 'artifact', body: '{}' }] }),
      one.cancel({ scope, taskId: 'open', body: '{}' }),
    ]);
    expect(other.feed()).toEqual([
      { kind: 'grew', taskId: 'open', seq: 4 },
      { kind: 'moved', taskId: 'open' },
    ]);
    await one.accept(acceptAsk('interrupted'));
    other.feed();
    await one.accept(acceptAsk('interrupted', { isNew: false, key: 'next', whileWorking: 'interrupt' }));
    expect(other.feed()).toContainEqual({ kind: 'moved', taskId: 'interrupted' });
    await one.stop();
    await other.stop();
  });

  test('says "look at everything" when it is far behind, and then goes on from there', async () => {
    const [one, other] = await two();
    await Promise.all(Array.from({ length: 2_100 }, (_, index) => one.accept(acceptAsk(`t${index}`))));
    expect(other.feed()).toEqual([{ kind: 'any' }]);
    await one.accept(acceptAsk('last'));
    expect(other.feed()).toEqual([{ kind: 'grew', taskId: 'last', seq: 2 }]);
    await one.stop();
    await other.stop();
  });

  test('lets a writer that waits for the lock ask again as soon as another commit is heard of, not when its time is up', async () => {
    const path = file();
    const waits = new Deferred<undefined>();
    // a wait that is never over by itself
    const clock: Clock = { ...systemClock, after: () => (waits.resolve(undefined), { cancel: () => {} }) };
    const one = openSqlite(path, { clock, random: systemRandom, logger: silentLogger });
    const other = openSqlite(path, { clock: systemClock, random: systemRandom, logger: silentLogger });
    await one.start();
    await other.start();
    const lock = (await findDriver()).open(path);
    lock.exec('BEGIN IMMEDIATE');
    const waiting = one.accept(acceptAsk('waits'));
    await waits.promise;
    lock.exec('ROLLBACK');
    await other.accept(acceptAsk('other'));
    one.feed();
    expect(await waiting).toMatchObject({ kind: 'accepted' });
    lock.close();
    await one.stop();
    await other.stop();
  });
});
