import { describe, expect, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import type { Hint } from '../../src/log/wake.ts';
import { wakeSuite } from '../../src/testing/wake-suite.ts';
import { HINTS_MAX, localHub } from '../../src/wakes/local.ts';

test('hints that come faster than they are heard become one that says to look at everything (P11)', async () => {
  const hub = localHub();
  const [sender, receiver] = [hub.open(), hub.open()];
  const heard: Hint[] = [];
  receiver.listen((hints) => heard.push(...hints));
  await Promise.all([sender.start(), receiver.start()]);
  const hint: Hint = { kind: 'grew', taskId: 'a', seq: 1 };
  for (let index = 0; index < HINTS_MAX; index++) sender.notify([hint]);
  await Promise.resolve();
  expect(heard).toHaveLength(HINTS_MAX);
  heard.length = 0;
  for (let index = 0; index < 3 * HINTS_MAX; index++) sender.notify([hint]);
  await Promise.resolve();
  expect(heard[0]).toEqual({ kind: 'any' });
  expect(heard.length).toBeLessThanOrEqual(HINTS_MAX);
});

wakeSuite('the hub of one process', memory, { describe, test });
