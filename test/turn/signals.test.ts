import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sleep } from '../../src/ground/clock.ts';
import { textOf } from '../../src/protocol/parts.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Turn } from '../../src/turn/turn.ts';
import type { StageOptions, StageReplica } from './stage.ts';
import { codeOf, errorOf, gate, sources, Stage } from './stage.ts';

const aborted = (turn: Turn): Promise<void> =>
  new Promise((resolve) => {
    if (turn.signal.aborted) resolve();
    else turn.signal.addEventListener('abort', () => resolve());
  });

describe.each(sources)('cancel, on $name', ({ make }) => {
  let source: ReturnType<typeof make>;
  let stage: Stage;
  beforeEach(() => {
    source = make();
  });
  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
    source.remove();
  });
  const open = async (options: Omit<StageOptions, 'source'>): Promise<Stage> => {
    stage = await Stage.open({ source, ...options });
    return stage;
  };

  const hasFired = (turns: readonly (Turn | undefined)[]): Promise<void> =>
    stage.until(() => turns.every((turn) => turn?.signal.aborted), 'the signal fires', 10_000);

  test('a cancel on one replica fires the signal of a silent turn on another, by the hint and not by a poll (P8, cases 17, 19)', async () => {
    const begun = gate<Turn>();
    await open({
      replicas: 3,
      turns: { leaseMs: 400_000, tickMs: 100_000, pollMs: 100_000 }, // no look of its own within this test
      run: (turn) => (begun.open(turn), aborted(turn)),
    });
    await stage.until(() => stage.replicas.every(({ log }) => log.isWakeProven), 'hints arrive');
    const id = await stage.send('x', { at: 2 });
    const turn = await begun.promise;
    const result = await stage.cancel(id, 1);
    await hasFired([turn]);
    expect(result.kind).toBe('canceled');
    expect(turn.signal.reason).toMatchObject({ name: 'AbortError' });
    expect(await codeOf(turn.working())).toBe('UNSUPPORTED_OPERATION');
    expect((await stage.gist(id)).at(-1)).toBe('CANCELED');
  });

  const COUNT = 20;

  /** Silent turns of one replica that does not look by itself within a test. */
  const openSilent = async (): Promise<{ readonly turns: ReadonlyMap<string, Turn>; readonly holder: StageReplica }> => {
    const turns = new Map<string, Turn>();
    await open({
      replicas: 2,
      turns: { leaseMs: 400_000, tickMs: 100_000, pollMs: 100_000 },
      run: (turn) => (turns.set(turn.task.id, turn), aborted(turn)),
    });
    const holder = stage.replica(0);
    await stage.until(() => holder.log.isWakeProven, 'hints arrive');
    await Promise.all(Array.from({ length: COUNT }, () => stage.send('x', { at: 0, canStart: true })));
    await stage.until(() => turns.size === COUNT, 'all have begun');
    holder.link.calls.length = 0;
    return { turns, holder };
  };

  test('a cancel reads the row of its own turn only, however many run on that replica', async () => {
    const { turns, holder } = await openSilent();
    const [[id, turn] = []] = turns;
    await stage.cancel(id ?? '', 1);
    await hasFired([turn]);
    expect(turn?.signal.reason).toMatchObject({ message: 'The task was canceled.' });
    expect(holder.link.calls).toEqual(['read']);
  });

  test('a cancel whose row cannot be read is seen by a look at once', async () => {
    const { turns, holder } = await openSilent();
    const [[id, turn] = []] = turns;
    holder.link.lostCalls.push('read');
    await stage.cancel(id ?? '', 1);
    await hasFired([turn]);
    expect(holder.link.calls).toEqual(['read', 'tick']);
  });

  test('many cancels at once are seen by a look together, not by a read each', async () => {
    const { turns, holder } = await openSilent();
    const slow = gate<undefined>();
    holder.link.before = async (verb) => void (verb === 'read' && (await slow.promise));
    for (const id of turns.keys()) await stage.cancel(id, 1);
    await hasFired([...turns.values()]);
    expect(holder.link.calls.filter((verb) => verb === 'read')).toHaveLength(16);
    expect(holder.link.calls).toContain('tick');
    slow.open(undefined);
  });

  test('against a writer that never pauses, CANCELED stays and nothing follows it (cases 1, 93)', async () => {
    const counts: number[] = [];
    await open({
      replicas: 2,
      run: async (turn) => {
        const out = turn.artifact('out');
        let last: Promise<void> = Promise.resolve();
        for (let i = 0; i < 400 && !turn.signal.aborted; i++) {
          last = out.append(`${i} `);
          if (i % 8 === 7) await last.catch(() => {});
          counts.push(i);
        }
        await last;
      },
    });
    for (let round = 0; round < 12; round++) {
      const from = counts.length;
      const id = await stage.send('x');
      await stage.until(() => counts.length > from + round * 7, 'it is under way');
      const result = await stage.cancel(id, 1);
      await stage.replica(0).runner.drained(AbortSignal.timeout(15_000));
      const gist = await stage.gist(id);
      expect(gist.at(-1)).toBe(result.kind === 'canceled' ? 'CANCELED' : 'COMPLETED');
      const chunks = textOf((await stage.task(id)).artifacts?.[0]?.parts ?? []);
      expect(chunks).toBe(Array.from({ length: chunks.split(' ').length - 1 }, (_, i) => `${i} `).join(''));
    }
  });

  test('whoever canceled and whoever completed agree, in any order (case 77)', async () => {
    await open({ replicas: 2, run: () => 'done' });
    for (let round = 0; round < 20; round++) {
      const id = await stage.send('x');
      if (round % 3 > 0) await new Promise((resolve) => setTimeout(resolve, round % 3));
      const result = await stage.cancel(id, 1);
      await stage.replica(0).runner.drained(AbortSignal.timeout(15_000));
      expect(await stage.state(id)).toBe(result.kind === 'canceled' ? 'TASK_STATE_CANCELED' : 'TASK_STATE_COMPLETED');
    }
  });
});

test('without hints a cancel fires the signal within the poll interval (P8)', async () => {
  for (const phaseMs of [0, 90, 180]) {
    const clock = new VirtualClock();
    const turns: Turn[] = [];
    await using stage = await Stage.open({ clock, replicas: 2, isWakeless: true, run: (turn) => (turns.push(turn), aborted(turn)) });
    const id = await stage.send('x');
    await clock.advance(5_000 + phaseMs);
    await stage.cancel(id, 1);
    await clock.advance(250);
    expect(turns[0]?.signal.aborted).toBe(true);
  }
});

describe('interrupt', () => {
  const interrupt = { whileWorking: 'interrupt' } as const;

  test('the signal fires, and the turn may still end by itself within its grace', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      turns: interrupt,
      run: async (turn) => {
        if (turn.text !== 'x') return turn.complete('second');
        await aborted(turn);
        await turn.artifact('out').append('rescued');
        return turn.complete('first');
      },
    });
    const id = await stage.send('x');
    await clock.advance(100);
    await stage.send('stop', { taskId: id });
    await clock.advance(100);
    expect((await stage.gist(id)).slice(2)).toEqual(['said:stop', '1-out:rescued', 'SUBMITTED:first', 'WORKING', 'COMPLETED:second']);
  });

  test('the turn may take its whole grace to end by itself', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      turns: { ...interrupt, cancelGraceMs: 5_000 },
      run: async (turn) => {
        if (turn.text !== 'x') return turn.complete('second');
        await aborted(turn);
        await sleep(clock, 4_900);
        await turn.artifact('out').append('rescued');
        return turn.complete('first');
      },
    });
    const id = await stage.send('x');
    await clock.advance(100);
    await stage.send('stop', { taskId: id });
    await clock.advance(5_500);
    expect((await stage.gist(id)).slice(2)).toEqual(['said:stop', '1-out:rescued', 'SUBMITTED:first', 'WORKING', 'COMPLETED:second']);
  });

  test('code that stops with its signal’s reason makes way at once', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      turns: interrupt,
      run: async (turn) => {
        if (turn.text !== 'x') return turn.complete('second');
        await aborted(turn);
        throw turn.signal.reason;
      },
    });
    const id = await stage.send('x');
    await clock.advance(100);
    await stage.send('stop', { taskId: id });
    await clock.advance(100);
    expect((await stage.gist(id)).slice(2)).toEqual(['said:stop', 'SUBMITTED', 'WORKING', 'COMPLETED:second']);
  });

  test('code that ignores it is handed over after the grace, and nothing it says then counts', async () => {
    const clock = new VirtualClock();
    const codes: string[] = [];
    await using stage = await Stage.open({
      clock,
      turns: interrupt,
      run: async (turn) => {
        if (turn.text !== 'x') return turn.complete('second');
        await new Promise<void>((resolve) => clock.after(9_000, resolve));
        codes.push(await codeOf(turn.working('late')));
        return 'late';
      },
    });
    const id = await stage.send('x');
    await clock.advance(100);
    await stage.send('stop', { taskId: id });
    await clock.advance(4_900);
    expect((await stage.row(id)).phase).toBe('open');
    await clock.advance(200);
    expect(await stage.state(id)).toBe('TASK_STATE_COMPLETED');
    await clock.advance(10_000);
    expect(codes).toEqual(['UNSUPPORTED_OPERATION']);
    expect((await stage.gist(id)).slice(2)).toEqual(['said:stop', 'SUBMITTED', 'WORKING', 'COMPLETED:second']);
  });

  test('code that takes the message goes on with its turn', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      turns: interrupt,
      run: async (turn) => {
        await aborted(turn);
        const [message] = await turn.inbox.take();
        await new Promise<void>((resolve) => clock.after(20_000, resolve));
        return turn.complete(`heard ${message ? textOf(message) : 'nothing'}`);
      },
    });
    const id = await stage.send('x');
    await clock.advance(100);
    await stage.send('faster', { taskId: id });
    await clock.advance(30_000);
    expect((await stage.gist(id)).slice(2)).toEqual(['said:faster', 'taken:3', 'COMPLETED:heard faster']);
  });

  test('code that took one message can be interrupted again, and then has a grace anew', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      turns: interrupt,
      run: async (turn) => {
        if (turn.text !== 'x') return turn.complete('third');
        await aborted(turn);
        await turn.inbox.take();
        await turn.stream(['after the first']); // its signal has fired, its turn goes on
        return new Promise<void>(() => {});
      },
    });
    const id = await stage.send('x');
    await clock.advance(100);
    await stage.send('first', { taskId: id });
    await clock.advance(10_000);
    expect((await stage.row(id)).phase).toBe('open');
    await stage.send('second', { taskId: id });
    await clock.advance(4_900);
    expect((await stage.row(id)).phase).toBe('open');
    await clock.advance(300);
    expect((await stage.gist(id)).slice(2)).toEqual([
      'said:first',
      'taken:3',
      '1#1:after the first.',
      'said:second',
      'SUBMITTED',
      'WORKING',
      'COMPLETED:third',
    ]);
  });

  test('a failure of its own while interrupted is still a failure', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      turns: interrupt,
      run: async (turn) => {
        await aborted(turn);
        throw new Error('broken');
      },
    });
    const id = await stage.send('x');
    await clock.advance(100);
    await stage.send('stop', { taskId: id });
    await clock.advance(100);
    expect(errorOf(await stage.task(id))['code']).toBe('INTERNAL');
  });

  test('it reaches a turn on another replica', async () => {
    const begun = gate<Turn>();
    await using stage = await Stage.open({
      replicas: 2,
      turns: interrupt,
      run: async (turn) => {
        if (turn.text !== 'x') return turn.complete();
        begun.open(turn);
        await aborted(turn);
        return turn.complete();
      },
    });
    const id = await stage.send('x');
    await begun.promise;
    await stage.send('stop', { taskId: id, at: 1 });
    await stage.reached(id, 'TASK_STATE_COMPLETED');
  });
});

describe('code that ignores its signal', () => {
  test('keeps its slot for cancelGraceMs, then is told as runaway and counted apart', async () => {
    const clock = new VirtualClock();
    const end = gate();
    await using stage = await Stage.open({
      clock,
      turns: { concurrency: 1, runawayMax: 1 },
      run: (turn) => (turn.text === 'deaf' ? end.promise : turn.complete()),
    });
    const { runner, lines } = stage.replica();
    const deaf = await stage.send('deaf');
    await clock.advance(10);
    await stage.cancel(deaf);
    await clock.advance(4_900);
    expect(runner.canStart).toBe(false);
    expect(lines.of('turn: the code ignores its signal')).toEqual([]);
    await clock.advance(200);
    expect(lines.of('turn: the code ignores its signal')).toMatchObject([{ task: deaf, turn: 1, attempt: 1 }]);
    expect(runner.canStart).toBe(true);
    const next = await stage.send('next');
    await clock.advance(10);
    expect(await stage.state(next)).toBe('TASK_STATE_COMPLETED');
    end.open();
    await clock.advance(10);
    expect(lines.of('turn: runaway code has ended')).toHaveLength(1);
  });

  test('past runawayMax the replica takes no more turns, until some of it ends', async () => {
    const clock = new VirtualClock();
    const ends: (() => void)[] = [];
    await using stage = await Stage.open({
      clock,
      turns: { runawayMax: 1 },
      run: (turn) => (turn.text === 'deaf' ? new Promise<void>((resolve) => ends.push(resolve)) : turn.complete()),
    });
    const { runner } = stage.replica();
    for (let i = 0; i < 2; i++) {
      const id = await stage.send('deaf');
      await clock.advance(10);
      await stage.cancel(id);
      await clock.advance(6_000);
    }
    expect(runner.canStart).toBe(false);
    const id = await stage.send('x');
    await clock.advance(2_000);
    expect(await stage.state(id)).toBe('TASK_STATE_SUBMITTED');
    ends[0]?.();
    await clock.advance(2_000);
    expect(await stage.state(id)).toBe('TASK_STATE_COMPLETED');
  });
});
