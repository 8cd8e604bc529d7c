import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { Store } from '../../src/log/store.ts';
import type { Driver } from '../../src/stores/sqlite-driver.ts';
import { findDriver } from '../../src/stores/sqlite-driver.ts';
import { openSqlite } from '../../src/stores/sqlite.ts';
import { limits, scope } from '../../src/testing/store-suite/bench.ts';
import { acceptAsk } from './asks.ts';
import { tempFiles } from './temp.ts';

const file = tempFiles();

/** A driver that keeps every statement that is prepared. */
function recording(statements: Set<string>): () => Promise<Driver> {
  return async () => {
    const driver = await findDriver();
    return {
      name: driver.name,
      open: (path) => {
        const database = driver.open(path);
        const prepare = (sql: string): ReturnType<typeof database.prepare> => {
          statements.add(sql);
          return database.prepare(sql);
        };
        return { ...database, prepare };
      },
    };
  };
}

/** Calls every verb in every way that leads to a statement of its own. */
async function callAll(store: Store): Promise<void> {
  await store.join({ replica: 'A' });
  const entries = Array.from({ length: 40 }, () => ({ kind: 'artifact' as const, body: '{}' }));
  for (const canStart of [true, false]) await store.accept(acceptAsk(`t-${canStart}`, { canStart, limits: { ...limits, retentionMs: 0 } }));
  await store.accept(acceptAsk('t-true'));
  await store.append({ taskId: 't-true', fence: 1, from: 1, entries });
  await store.claim({ agent: scope.agent, replica: 'A', limit: 2 });
  await store.release({ taskId: 't-false', fence: 2, why: 'drain' });
  await store.resume({ agent: scope.agent, taskId: 't-true', replica: 'A', canStart: false, limits });
  await store.cancel({ scope, taskId: 't-true', body: '{}' });
  await store.sweep({ limit: 2 });
  const watched = [{ taskId: 't-true', seq: 0 }];
  await store.tick({ agent: scope.agent, replica: 'A', own: 'renew', suspects: [{ replica: 'B', beat: 0 }], watched });
  await store.read({ taskId: 't-true', after: 0 });
  for (const kinds of [['status'] as const, undefined])
    await store.entries({
      wants: [{ taskId: 't-true', after: 0 }],
      entriesMax: 9,
      bytesMax: 9_000,
      ...(kinds === undefined ? {} : { kinds }),
    });
  for (const contextId of ['context', undefined])
    for (const state of ['TASK_STATE_WORKING', undefined] as const)
      for (const statusAtMin of [1, undefined])
        for (const after of [{ statusAt: 1, id: 'a' }, undefined])
          await store.list({
            scope,
            limit: 5,
            ...(contextId && { contextId }),
            ...(state && { state }),
            ...(statusAtMin && { statusAtMin }),
            ...(after && { after }),
          });
  await store.purge({ limit: 5 });
}

describe('the statements of the SQLite store', () => {
  test('find what they look for by an index: none walks through all tasks or all entries', async () => {
    const path = file();
    const statements = new Set<string>();
    const store = openSqlite(path, { clock: systemClock, random: systemRandom, logger: silentLogger }, { find: recording(statements) });
    await store.start();
    await callAll(store);
    store.feed();
    const database = (await findDriver()).open(path);
    const planned = [...statements].filter((sql) => /chorus_(task|entry)/.test(sql));
    expect(planned.length).toBeGreaterThan(25);
    for (const sql of planned) {
      const parameters = sql.split('?').length - 1;
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Array<number>(parameters).fill(1));
      for (const { detail } of plan)
        expect(String(detail), sql).not.toMatch(/^SCAN (chorus_task|chorus_entry|e|t)\b(?!.*COVERING INDEX chorus_task_holder)/);
    }
    database.close();
    await store.stop();
  });
});
