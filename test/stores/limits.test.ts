import { expect, test } from 'vitest';
import { silentLogger } from '../../src/ground/logger.ts';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { SqlDatabase } from '../../src/stores/sqlite-driver.ts';
import { findDriver } from '../../src/stores/sqlite-driver.ts';
import { LOG_BYTES_KEPT_MAX } from '../../src/stores/sqlite-file.ts';
import { LIMITS_KEPT_MAX, limitsKept } from '../../src/stores/sqlite-rows.ts';
import { openSqlite } from '../../src/stores/sqlite.ts';
import { limits } from '../../src/testing/store-suite/bench.ts';
import { acceptAsk } from './asks.ts';
import { tempFiles } from './temp.ts';

const newFile = tempFiles();
const parts = { clock: systemClock, random: systemRandom, logger: silentLogger };

test('of the sets of limits that rows carry a bounded number is kept, however many there are (P11)', async () => {
  const store = openSqlite(newFile(), parts);
  await store.start();
  const count = LIMITS_KEPT_MAX + 100;
  // together, so that it is a few commits and not a thousand
  await Promise.all(
    Array.from({ length: count }, (_, index) => store.accept(acceptAsk(`t${index}`, { limits: { ...limits, queueMs: index + 1 } }))),
  );
  let most = 0;
  for (let index = 0; index < count; index++) {
    const found = await store.read({ taskId: `t${index}`, after: 0 });
    expect(found?.row.limits.queueMs).toBe(index + 1);
    most = Math.max(most, limitsKept());
  }
  expect(most).toBe(LIMITS_KEPT_MAX);
  await store.stop();
});

test('a write-ahead log that grew behind a reader is cut back to its limit when it is begun anew', async () => {
  let database: SqlDatabase | undefined;
  const store = openSqlite(newFile(), parts, {
    find: async (wanted) => {
      const driver = await findDriver(wanted);
      return { ...driver, open: (path) => (database = driver.open(path)) };
    },
  });
  await store.start();
  expect(database?.prepare('PRAGMA journal_size_limit').get([])).toMatchObject({ journal_size_limit: LOG_BYTES_KEPT_MAX });
  await store.stop();
});
