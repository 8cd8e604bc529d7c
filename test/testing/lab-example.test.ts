import { expect, test } from 'vitest';
import type { AgentOptions } from 'chorus-a2a';
import { openLab } from 'chorus-a2a/testing';

const poet: AgentOptions = {
  card: { name: 'Poet', description: 'Writes poems.', version: '1.0.0' },
  onLost: 'retry',
  leaseMs: 2_000, // short runs
  run: (turn) => turn.stream(['The sea ', 'is ', 'wide.']),
};

test.each([1, 2, 3])('whatever happens to its replicas, the poet keeps its promises: seed %i', async (seed) => {
  await using lab = await openLab({ agent: poet, seed });
  const { violations, trace } = await lab.run();
  expect(violations, trace.join('\n')).toEqual([]);
});
