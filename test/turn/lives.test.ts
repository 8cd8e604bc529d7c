import { describe, expect, test } from 'vitest';
import type { TickAsk } from '../../src/log/store.ts';
import { StoreError } from '../../src/log/store.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Turn } from '../../src/turn/turn.ts';
import { errorOf, gate, Stage } from './stage.ts';

const never = (): Promise<never> => new Promise(() => {});
/** Runs until its signal fires, however long. */
const patient = (turn: Turn): Promise<void> => new Promise((resolve) => turn.signal.addEventListener('abort', () => resolve()));

/** How long settling may take after a death (P6). */
const SETTLE_MS = 1_500;

describe('who lives', () => {
  test.each([10_000, 2_000])(
    'a turn whose holder died is settled within lease + 1.5 s, at a lease of %i ms (P6, case 3)',
    async (leaseMs) => {
      for (const phaseMs of [0, 130, 370, 555]) {
        const clock = new VirtualClock();
        await using stage = await Stage.open({ clock, replicas: 3, turns: { leaseMs }, run: never });
        await clock.advance(5_000 + phaseMs);
        const id = await stage.send('x');
        await clock.advance(1_234);
        stage.replica(0).link.mode = 'hang';
        const diedAt = clock.monotonic();
        const task = await stage
          .until(async () => (await stage.state(id)) !== 'TASK_STATE_WORKING', 'settled', 60_000)
          .then(() => stage.task(id));
        expect(task.status.state).toBe('TASK_STATE_FAILED');
        expect(errorOf(task)['code']).toBe('LOST');
        expect(clock.monotonic() - diedAt).toBeLessThanOrEqual(leaseMs + SETTLE_MS);
        expect(clock.monotonic() - diedAt).toBeGreaterThan(leaseMs / 2);
      }
    },
  );

  test('nobody is taken for dead while the store is away, however long (an outage kills nobody)', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, replicas: 3, run: patient });
    const id = await stage.send('x');
    for (const outageMs of [3_000, 9_500, 40_000, 600_000]) {
      for (const { link } of stage.replicas) link.mode = 'cut';
      await clock.advance(outageMs);
      for (const { link } of stage.replicas) link.mend();
      await clock.advance(15_000);
      expect(await stage.state(id)).toBe('TASK_STATE_WORKING');
    }
    for (const { lines } of stage.replicas) expect(lines.of('replica: taken for dead, joins again under a new id')).toEqual([]);
  });

  test('a store that can be read but not written kills nobody ⚖', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, replicas: 2, run: patient });
    const id = await stage.send('x');
    for (const { link } of stage.replicas) link.mode = 'read-only';
    await clock.advance(60_000);
    // the first to be able to write again must not judge by what it saw meanwhile
    stage.replica(1).link.mend();
    await clock.advance(5_000);
    stage.replica(0).link.mend();
    await clock.advance(30_000);
    expect(await stage.state(id)).toBe('TASK_STATE_WORKING');
  });

  test('an own renew that failed starts the count anew ⚖: perhaps nobody could renew', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, replicas: 2, run: patient });
    const id = await stage.send('x');
    await clock.advance(3_000);
    stage.replica(0).link.mode = 'hang';
    await clock.advance(6_000);
    let hasFailed = false;
    stage.replica(1).link.before = (verb, ask) => {
      if (hasFailed || verb !== 'tick' || (ask as TickAsk).own !== 'renew') return;
      hasFailed = true;
      throw new StoreError('unavailable', 'this one write fails');
    };
    await clock.advance(6_000);
    expect(hasFailed).toBe(true);
    expect(await stage.state(id)).toBe('TASK_STATE_WORKING');
    await clock.advance(8_000);
    expect(await stage.state(id)).toBe('TASK_STATE_FAILED');
  });

  test('a step of the wall clock kills nobody and settles nothing', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, replicas: 2, run: patient });
    const id = await stage.send('x');
    clock.jump(3_600_000 * 5);
    await clock.advance(20_000);
    clock.jump(-3_600_000 * 9);
    await clock.advance(20_000);
    expect(await stage.state(id)).toBe('TASK_STATE_WORKING');
  });

  test('an observer that was stopped itself starts its count anew', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, replicas: 2, run: patient });
    const id = await stage.send('x');
    await clock.advance(3_000);
    // the holder renews rarely enough that an observer may see one value at 3 s and, stopped in between, an equal one much later
    stage.replica(0).link.mode = 'hang';
    await clock.advance(8_000);
    stage.replica(1).link.mode = 'hang';
    await clock.advance(30_000);
    stage.replica(1).link.mend();
    await clock.advance(3_000);
    expect(await stage.state(id)).toBe('TASK_STATE_WORKING');
    await clock.advance(10_000);
    expect(await stage.state(id)).toBe('TASK_STATE_FAILED');
  });

  test('a replica that was taken for dead stops its turns, writes nothing more, and goes on under a new id (P4)', async () => {
    const clock = new VirtualClock();
    const turns: Turn[] = [];
    await using stage = await Stage.open({
      clock,
      replicas: 2,
      run: async (turn) => {
        turns.push(turn);
        if (turn.text === 'again') return 'fine';
        await patient(turn);
        await turn.working('from the dead');
        return 'from the dead';
      },
    });
    const id = await stage.send('x');
    const before = stage.replica(0).runner.replica;
    await clock.advance(1_000);
    stage.replica(0).link.mode = 'hang';
    await clock.advance(12_000);
    expect(await stage.state(id)).toBe('TASK_STATE_FAILED');
    stage.replica(0).link.mend();
    await clock.advance(2_000);
    expect(turns[0]?.signal.aborted).toBe(true);
    expect((await stage.gist(id)).join()).not.toContain('dead');
    expect(stage.replica(0).runner.replica).not.toBe(before);
    expect(stage.replica(0).runner.isReady).toBe(true);
    await stage.reached(await stage.send('again'), 'TASK_STATE_COMPLETED');
  });

  test('its turns stop before it can join again', async () => {
    const clock = new VirtualClock();
    const turns: Turn[] = [];
    await using stage = await Stage.open({ clock, replicas: 2, run: (turn) => (turns.push(turn), patient(turn)) });
    await stage.send('x');
    await clock.advance(1_000);
    const { link, runner } = stage.replica(0);
    link.mode = 'hang';
    await clock.advance(12_000);
    link.before = (verb) => {
      if (verb === 'join') throw new StoreError('unavailable', 'no room for another one');
    };
    link.mend();
    await clock.advance(2_000);
    expect(turns[0]?.signal.aborted).toBe(true);
    expect(runner.isReady).toBe(false);
    expect(runner.canStart).toBe(false);
    link.before = () => {};
    await clock.advance(2_000);
    expect(runner.isReady).toBe(true);
  });

  test('without contact a turn with onLost fail goes on, and what it said stands when the store is back', async () => {
    const clock = new VirtualClock();
    const go = gate();
    await using stage = await Stage.open({
      clock,
      run: async (turn) => {
        await go.promise;
        expect(turn.signal.aborted).toBe(false);
        return 'said in the dark';
      },
    });
    const id = await stage.send('x');
    await clock.advance(1_000);
    stage.replica().link.mode = 'cut';
    await clock.advance(60_000);
    expect(stage.replica().runner.isReady).toBe(false);
    go.open();
    await clock.advance(1_000);
    stage.replica().link.mend();
    await stage.reached(id, 'TASK_STATE_COMPLETED');
  });

  test('without contact for a lease a turn with onLost retry stops, and is queued anew when the store is back', async () => {
    const clock = new VirtualClock();
    const turns: Turn[] = [];
    await using stage = await Stage.open({
      clock,
      turns: { onLost: 'retry' },
      run: async (turn) => {
        turns.push(turn);
        if (turn.attempt > 1) return 'second';
        await patient(turn);
        return 'first';
      },
    });
    const id = await stage.send('x');
    await clock.advance(1_000);
    stage.replica().link.mode = 'cut';
    await clock.advance(8_000);
    expect(turns[0]?.signal.aborted).toBe(false);
    await clock.advance(2_500);
    expect(turns[0]?.signal.aborted).toBe(true);
    stage.replica().link.mend();
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(turns.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect((await stage.row(id)).tries).toBe(1);
    expect((await stage.gist(id)).slice(1)).toEqual(['WORKING', 'SUBMITTED', 'WORKING', '1#result:second.', 'COMPLETED']);
  });

  test('onLost ask gives a lost turn back to its user', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, replicas: 2, turns: { onLost: 'ask' }, run: never });
    const id = await stage.send('x');
    stage.replica(0).link.mode = 'hang';
    const task = await stage
      .reached(id, 'TASK_STATE_INPUT_REQUIRED')
      .catch(() =>
        stage.until(async () => (await stage.state(id)) === 'TASK_STATE_INPUT_REQUIRED', 'given back', 12_000).then(() => stage.task(id)),
      );
    expect(errorOf(task)['code']).toBe('LOST');
  });

  test('onLost retry runs the turn again on another replica, as often as tries says', async () => {
    const clock = new VirtualClock();
    const runs: { replica: string; attempt: number; id: string }[] = [];
    await using stage = await Stage.open({
      clock,
      replicas: 4,
      turns: { onLost: 'retry', tries: 3 },
      run: (turn) => {
        runs.push({ replica: turn.replica, attempt: turn.attempt, id: turn.id });
        const holder = stage.replicas.find(({ runner }) => runner.replica === turn.replica);
        if (holder) holder.link.mode = 'hang';
        return never();
      },
    });
    const id = await stage.send('x');
    await clock.advance(60_000);
    expect(await stage.state(id)).toBe('TASK_STATE_FAILED');
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(runs.map(({ replica }) => replica)).size).toBe(3);
    expect(new Set(runs.map(({ id: turn }) => turn))).toEqual(new Set([`${id}.1`]));
  });

  test('a re-run’s first chunk replaces what the lost attempt left', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      replicas: 2,
      turns: { onLost: 'retry' },
      run: async (turn) => {
        const out = turn.artifact('out');
        await out.append(`attempt ${turn.attempt}`);
        if (turn.attempt === 1) await never();
        await out.append('!');
      },
    });
    const id = await stage.send('x');
    await clock.advance(100);
    stage.replica(0).link.mode = 'hang';
    await clock.advance(12_000);
    const task = await stage.task(id);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'attempt 2' }, { text: '!' }]);
  });

  test('late ticks are told to the operator', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, run: never });
    await clock.advance(3_000);
    const { link, lines } = stage.replica();
    expect(lines.of('replica: late tick')).toEqual([]);
    link.mode = 'hang';
    await clock.advance(5_000);
    link.mend();
    await clock.advance(2_000);
    expect(lines.of('replica: late tick').length).toBe(1);
  });

  test('an outage is told once, and its end too', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, run: never });
    const { link, lines } = stage.replica();
    await clock.advance(1_000);
    link.mode = 'cut';
    await clock.advance(20_000);
    link.mend();
    await clock.advance(2_000);
    expect(lines.of('replica: the store does not answer')).toHaveLength(1);
    expect(lines.of('replica: the store answers again')).toHaveLength(1);
  });

  test('an idle replica with a proven wake asks the store once per tick', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, run: never });
    const { calls } = stage.replica().link;
    await clock.advance(1_000);
    calls.length = 0;
    await clock.advance(60_000);
    expect(calls.filter((verb) => verb === 'tick').length).toBe(100);
    expect(calls.filter((verb) => verb !== 'tick' && verb !== 'purge')).toEqual([]);
  });

  test('while hints arrive, the look asks for watched tasks every 5 s only; without, every time', async () => {
    for (const [isWakeless, count] of [
      [false, 12],
      [true, 240],
    ] as const) {
      const clock = new VirtualClock();
      await using stage = await Stage.open({ clock, isWakeless, run: patient });
      const { log, link } = stage.replica();
      const id = await stage.send('x');
      const end = new AbortController();
      const following = (async () => {
        for await (const item of log.follow({ taskId: id, after: 0 }, end.signal)) if (item.kind === 'gone') break;
      })();
      await clock.advance(10_000);
      let asked = 0;
      link.before = (verb, ask) => {
        if (verb === 'tick' && (ask as TickAsk).watched.length > 0) asked += 1;
      };
      await clock.advance(60_000);
      expect(Math.abs(asked - count)).toBeLessThanOrEqual(1);
      end.abort();
      await following;
    }
  });

  test('without a wake watched tasks and running turns are looked at every pollMs', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, isWakeless: true, run: patient });
    const { calls } = stage.replica().link;
    await stage.send('x');
    await clock.advance(1_000);
    calls.length = 0;
    await clock.advance(10_000);
    expect(calls.filter((verb) => verb === 'tick').length).toBe(40);
  });
});
