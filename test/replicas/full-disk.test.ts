import { describe, expect, test } from 'vitest';
import { seeded } from '../../proof/chance.ts';
import type { Complaint } from '../../proof/chaos/complaint.ts';
import { fillDisk } from '../../proof/chaos/full-disk.ts';
import { Reached } from '../../proof/chaos/reached.ts';

// a run of chaos does the same on a small file system of its own, where it may mount one
describe('a disk that takes no more', () => {
  test('refuses writes with UNAVAILABLE and answers reads; once there is room every turn goes on, and nothing acknowledged is lost (P5, P7)', async () => {
    const reached = new Reached();
    const complaints: Complaint[] = [];
    const seed = Date.now() % 1_000_000;
    const complain = (complaint: Complaint): void => void complaints.push(complaint);
    const { violations, counted } = await fillDisk({ random: seeded(seed), reached, complain, disk: 'limit' });
    expect([...violations, ...complaints], `seed ${seed}`).toEqual([]);
    expect(counted.items).toBeGreaterThan(0); // how many come depends on the machine
    for (const rule of ['full', 'unavailable', 'readWhileFull', 'wholeAfterFull'] as const)
      expect(reached.of(rule), rule).toBeGreaterThan(0);
  });
});
