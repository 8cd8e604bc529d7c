import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/ground/clock.ts';
import { LagRecord } from '../../src/testing/lag.ts';

function clockAt(times: { wall: number }): Clock {
  return { monotonic: () => times.wall, wall: () => times.wall, after: () => ({ cancel: () => undefined }) };
}

describe('the record of lag', () => {
  test('takes lost time out of a span, each moment of it once', () => {
    const time = { wall: 1_000 };
    const lag = new LagRecord(clockAt(time));
    expect(lag.fairMs(0, 1_000)).toBe(1_000);
    lag.note('loop', 200); // 800..1000
    time.wall = 1_100;
    lag.note('tick', 200); // 900..1100
    time.wall = 3_000;
    lag.note('write', 500); // 2500..3000
    expect(lag.fairMs(0, 2_000)).toBe(1_700);
    expect(lag.fairMs(850, 2_750)).toBe(1_900 - 250 - 250);
    expect(lag.fairMs(1_100, 2_500)).toBe(1_400);
    expect(lag.lost.map(({ why }) => why)).toEqual(['loop', 'tick', 'write']);
  });

  test('notes a beat that came late and a write that took long', async () => {
    const time = { wall: 0 };
    const due: (() => void)[] = [];
    const clock: Clock = {
      monotonic: () => time.wall,
      wall: () => time.wall,
      after: (_ms, task) => {
        due.push(task);
        return { cancel: () => undefined };
      },
    };
    const lag = new LagRecord(clock);
    lag.start(async () => {
      time.wall += 700;
    });
    await Promise.resolve();
    time.wall += 300; // the beat was due at 50, the loop comes to it at 1000
    for (const task of due.splice(0)) task();
    await new Promise((resolve) => setImmediate(resolve));
    expect(lag.lost.map(({ why }) => why).toSorted()).toEqual(expect.arrayContaining(['loop', 'write']));
    const stopped = lag.stop();
    for (const task of due.splice(0)) task();
    await stopped;
  });
});
