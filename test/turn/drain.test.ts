import { describe, expect, test } from 'vitest';
import type { OnLost } from '../../src/log/store.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Turn } from '../../src/turn/turn.ts';
import { errorOf, gate, Stage } from './stage.ts';

const aborted = (turn: Turn): Promise<void> => new Promise((resolve) => turn.signal.addEventListener('abort', () => resolve()));

/** Settles while time passes. */
async function settled(stage: Stage, clock: VirtualClock, index = 0): Promise<number> {
  const from = clock.monotonic();
  await stage.during(stage.replica(index).runner.settle());
  return clock.monotonic() - from;
}

describe('a drain', () => {
  test('takes on nothing new, and what runs goes on', async () => {
    const clock = new VirtualClock();
    const end = gate();
    await using stage = await Stage.open({ clock, replicas: 2, run: (turn) => (turn.text === 'x' ? end.promise : turn.complete()) });
    const id = await stage.send('x');
    await clock.advance(10);
    const { runner } = stage.replica();
    runner.beginDrain();
    expect(runner.canStart).toBe(false);
    expect(runner.reserve()).toBeUndefined();
    expect(runner.isReady).toBe(false);
    const other = await stage.send('y');
    await clock.advance(1_000);
    expect(await stage.state(other)).toBe('TASK_STATE_COMPLETED'); // the other replica claimed it
    let isDrained = false;
    void runner.drained(new AbortController().signal).then(() => (isDrained = true));
    await clock.advance(30_000);
    expect(isDrained).toBe(false);
    expect(await stage.state(id)).toBe('TASK_STATE_WORKING');
    end.open();
    await clock.advance(10);
    expect(isDrained).toBe(true);
    expect(await stage.state(id)).toBe('TASK_STATE_COMPLETED');
  });

  test('drained ends with its signal when something still runs', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, run: aborted });
    await stage.send('x');
    await clock.advance(10);
    const late = new AbortController();
    const drained = stage.replica().runner.drained(late.signal);
    late.abort();
    await drained;
  });

  test.each<[OnLost, string]>([
    ['fail', 'FAILED'],
    ['ask', 'INPUT_REQUIRED'],
    ['retry', 'SUBMITTED'],
  ])('settling by onLost %s gives %s, behind the commit the signal fires, no loss is counted (case 98)', async (onLost, state) => {
    const clock = new VirtualClock();
    const seen = gate<string>();
    await using stage = await Stage.open({
      clock,
      turns: { onLost },
      run: async (turn) => {
        turn.signal.addEventListener('abort', () => void stage.state(turn.task.id).then(seen.open));
        await aborted(turn);
        return 'late';
      },
    });
    const id = await stage.send('x');
    await clock.advance(10);
    expect(await settled(stage, clock)).toBeLessThan(500);
    expect(await stage.state(id)).toBe(`TASK_STATE_${state}`);
    expect(await seen.promise).toBe(`TASK_STATE_${state}`);
    expect((await stage.row(id)).tries).toBe(0);
    if (onLost !== 'retry') expect(errorOf(await stage.task(id))['code']).toBe('LOST');
  });

  test.each<[OnLost, string]>([
    ['fail', 'first'],
    ['retry', 'second'],
  ])('a grant that comes to light while draining is run here or given away, by onLost %s', async (onLost, where) => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      replicas: 2,
      turns: { onLost },
      run: (turn) => (turn.replica === stage.replica(0).runner.replica ? 'first' : 'second'),
    });
    await clock.advance(10);
    const id = await stage.send('x', { isAnswerLost: true });
    stage.replica(0).runner.beginDrain();
    const task = await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: where }]);
  });

  test('a released turn runs on another replica at once, as another attempt', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      replicas: 2,
      turns: { onLost: 'retry' },
      run: async (turn) => (turn.attempt === 1 ? aborted(turn) : turn.complete(`attempt ${turn.attempt}`)),
    });
    const id = await stage.send('x');
    await clock.advance(10);
    await settled(stage, clock);
    await clock.advance(50);
    expect((await stage.gist(id)).at(-1)).toBe('COMPLETED:attempt 2');
  });

  test('a turn whose last word is under way ends by it, not by the drain', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, run: () => 'done' });
    const { link } = stage.replica();
    link.before = (verb) => (verb === 'append' ? new Promise<void>((resolve) => clock.after(100, resolve)) : undefined);
    const id = await stage.send('x');
    await clock.advance(10);
    await settled(stage, clock);
    expect(await stage.state(id)).toBe('TASK_STATE_COMPLETED');
  });

  test('the incarnation is marked dead, so that what it could not give away is swept without waiting a lease', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, replicas: 2, run: aborted });
    const id = await stage.send('x');
    await clock.advance(1_000);
    const { link } = stage.replica(0);
    link.before = (verb) => (verb === 'release' ? new Promise(() => {}) : undefined);
    await settled(stage, clock);
    await clock.advance(1_000);
    expect(errorOf(await stage.task(id))['code']).toBe('LOST');
  });

  test('a store that does not answer does not hold it up for more than its time', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, run: aborted });
    await stage.send('x');
    await clock.advance(1_000);
    stage.replica().link.mode = 'hang';
    expect(await settled(stage, clock)).toBeLessThanOrEqual(3_000);
  });

  test('stopping twice is fine, and so is stopping before the start', async () => {
    const stage = await Stage.open({ run: () => 'done' });
    const id = await stage.send('x');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    const { runner, link } = stage.replica();
    await Promise.all([runner.stop(), runner.stop()]);
    await runner.stop();
    const calls = link.calls.length;
    await stage.pass(700);
    expect(link.calls.length).toBe(calls); // all still
    await stage[Symbol.asyncDispose]();
  });
});
