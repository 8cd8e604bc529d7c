import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../src/log/store.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Run, Turn } from '../../src/turn/turn.ts';
import type { StageOptions } from './stage.ts';
import { errorOf, gate, sources, Stage } from './stage.ts';

/** An agent whose turns wait until the test lets them go, and that counts how many run at once. */
class Held {
  readonly begun: string[] = [];
  readonly byReplica = new Map<string, number>();
  most = 0;
  readonly #ends = new Map<string, () => void>();
  readonly run: Run = async (turn) => {
    this.begun.push(turn.text);
    const running = (this.byReplica.get(turn.replica) ?? 0) + 1;
    this.byReplica.set(turn.replica, running);
    this.most = Math.max(this.most, running);
    await new Promise<void>((resolve) => {
      this.#ends.set(turn.text, resolve);
      turn.signal.addEventListener('abort', () => resolve());
    });
    this.byReplica.set(turn.replica, (this.byReplica.get(turn.replica) ?? 1) - 1);
  };
  end(text: string): void {
    this.#ends.get(text)?.();
  }
}

describe.each(sources)('the queue, on $name', ({ make }) => {
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

  test('no more turns run at once than concurrency says, however many messages come at once', async () => {
    const held = new Held();
    await open({ run: held.run, turns: { concurrency: 2 } });
    const names = Array.from({ length: 10 }, (_, i) => `t${i}`);
    const ids = await Promise.all(names.map((name) => stage.send(name)));
    for (let i = 0; i < names.length; i++) {
      await stage.until(() => held.begun.length > i, `turn ${i} begins`);
      held.end(held.begun[i] ?? '');
    }
    await Promise.all(ids.map((id) => stage.reached(id, 'TASK_STATE_COMPLETED')));
    expect(held.most).toBe(2);
  });

  test('a replica that said yes too often starts the rest as slots become free', async () => {
    const held = new Held();
    await open({ run: held.run, turns: { concurrency: 1 } });
    const ids = await Promise.all(['a', 'b', 'c'].map((name) => stage.send(name, { canStart: true })));
    for (const name of ['a', 'b', 'c']) {
      await stage.until(() => held.begun.at(-1) === name, `${name} begins`);
      held.end(name);
    }
    await Promise.all(ids.map((id) => stage.reached(id, 'TASK_STATE_COMPLETED')));
    expect(held.most).toBe(1);
  });

  test('queued turns are claimed oldest first, by any replica with room, and none starves', async () => {
    const held = new Held();
    await open({ run: held.run, replicas: 3, turnsOf: (index) => ({ concurrency: index === 0 ? 0 : 1 }) });
    const ids: string[] = [];
    // replica 0 only answers: whatever it accepts is for the others
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) ids.push(await stage.send(name));
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await stage.until(() => held.begun.includes(name), `${name} begins`);
      held.end(name);
    }
    await Promise.all(ids.map((id) => stage.reached(id, 'TASK_STATE_COMPLETED')));
    expect(held.most).toBe(1);
    expect(new Set(held.byReplica.keys()).has(stage.replica(0).runner.replica)).toBe(false);
    expect(held.begun).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('a new message does not overtake one that waits', async () => {
    const held = new Held();
    await open({ run: held.run, turns: { concurrency: 1 } });
    const first = await stage.send('first');
    await stage.until(() => held.begun.length === 1, 'first begins');
    const second = await stage.send('second');
    expect(await stage.state(second)).toBe('TASK_STATE_SUBMITTED');
    expect(stage.replica().runner.canStart).toBe(false);
    held.end('first');
    const third = await stage.send('third');
    await stage.until(() => held.begun.length === 2, 'second begins');
    held.end('second');
    await stage.until(() => held.begun.length === 3, 'third begins');
    held.end('third');
    await Promise.all([first, second, third].map((id) => stage.reached(id, 'TASK_STATE_COMPLETED')));
    expect(held.begun).toEqual(['first', 'second', 'third']);
  });

  test('a queued turn that could not be claimed yet is not overtaken either', async () => {
    const held = new Held();
    await open({ run: held.run, turns: { tickMs: 100, pollMs: 100 } });
    const { link, runner } = stage.replica();
    const failed = gate();
    link.before = (verb) => {
      if (verb !== 'claim') return;
      link.before = () => {};
      failed.open();
      throw new StoreError('unavailable', 'this one call fails');
    };
    const first = await stage.send('first', { canStart: false });
    await failed.promise;
    await Promise.resolve();
    expect(runner.canStart).toBe(false);
    const second = await stage.send('second');
    for (const name of ['first', 'second']) {
      await stage.until(() => held.begun.includes(name), `${name} begins`);
      held.end(name);
    }
    await Promise.all([first, second].map((id) => stage.reached(id, 'TASK_STATE_COMPLETED')));
    expect(held.begun).toEqual(['first', 'second']);
  });

  test('a grant whose answer was lost is found by the next look and started once (⚖ grants)', async () => {
    const held = new Held();
    await open({ run: held.run, turns: { tickMs: 20, pollMs: 20 } });
    const id = await stage.send('lost', { isAnswerLost: true });
    await stage.until(() => held.begun.length > 0, 'it begins');
    // the repeat of the request under its key brings the same grant again
    stage.replica().runner.offer(await stage.row(id));
    await stage.pass(60);
    held.end('lost');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    stage.replica().runner.offer({ ...(await stage.row(id)), phase: 'open', holder: stage.replica().runner.replica });
    await stage.pass(20);
    expect(held.begun).toEqual(['lost']);
  });

  test('a claim whose answer was lost is found by the next look', async () => {
    const held = new Held();
    await open({ run: held.run, turns: { tickMs: 20, pollMs: 20 } });
    stage.replica().link.lostAcks.push('claim');
    const id = await stage.send('queued', { canStart: false });
    await stage.until(() => held.begun.length > 0, 'it begins');
    held.end('queued');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(held.begun).toEqual(['queued']);
  });

  test('what a claim under way will take is overtaken by nobody, and keeps nobody waiting', async () => {
    const held = new Held();
    await open({ run: held.run, turns: { concurrency: 2 } });
    const claim = gate();
    stage.replica().link.before = (verb) => (verb === 'claim' ? claim.promise : undefined);
    const queued = await stage.send('queued', { canStart: false });
    const direct = await stage.send('direct');
    expect(await stage.state(direct)).toBe('TASK_STATE_WORKING');
    const late = await stage.send('late'); // the last slot is promised to the claim
    expect(await stage.state(late)).toBe('TASK_STATE_SUBMITTED');
    claim.open();
    await stage.until(() => held.begun.length === 2, 'the claimed one begins');
    for (const name of ['direct', 'queued', 'late']) {
      await stage.until(() => held.begun.includes(name), `${name} begins`);
      held.end(name);
    }
    await Promise.all([queued, direct, late].map((id) => stage.reached(id, 'TASK_STATE_COMPLETED')));
    expect(held.begun).toEqual(['direct', 'queued', 'late']);
    expect(held.most).toBe(2);
  });

  test('queued counts the turns of all replicas that wait', async () => {
    const held = new Held();
    await open({ run: held.run, replicas: 2, turns: { concurrency: 0, tickMs: 20 } });
    await stage.send('a');
    await stage.send('b', { at: 1 });
    await stage.until(() => stage.replica(1).runner.queued === 2, 'both are counted');
  });
});

describe('limits in time', () => {
  test('a turn that nobody claims ends FAILED (QUEUE_TIMEOUT)', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({ clock, turns: { concurrency: 0 }, run: () => 'never' });
    const id = await stage.send('x');
    await clock.advance(3_599_000);
    expect(await stage.state(id)).toBe('TASK_STATE_SUBMITTED');
    await clock.advance(2_000);
    expect(errorOf(await stage.task(id))['code']).toBe('QUEUE_TIMEOUT');
  });

  test('a pause that nobody ends is EXPIRED after pausedTtlMs, and a finished task is purged after retentionMs', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      turns: { pausedTtlMs: 100_000, retentionMs: 200_000, tickMs: 2_500 },
      run: (turn) => turn.ask(),
    });
    const id = await stage.send('x');
    await clock.advance(99_000);
    expect(await stage.state(id)).toBe('TASK_STATE_INPUT_REQUIRED');
    await clock.advance(61_000);
    expect(errorOf(await stage.task(id))['code']).toBe('EXPIRED');
    await clock.advance(139_000);
    expect(await stage.isGone(id)).toBe(false);
    await clock.advance(64_000);
    expect(await stage.isGone(id)).toBe(true);
  });

  test('a turn that appends nothing for inactivityMs ends FAILED (INACTIVE); the commit comes before the signal', async () => {
    const clock = new VirtualClock();
    const aborted = gate<string>();
    await using stage = await Stage.open({
      clock,
      turns: { inactivityMs: 60_000 },
      run: async (turn) => {
        turn.signal.addEventListener('abort', () => void stage.state(turn.task.id).then(aborted.open));
        for (let i = 0; i < 4; i++) {
          await new Promise<void>((resolve) => clock.after(50_000, resolve));
          await turn.working(`${i}`);
        }
        await new Promise(() => {});
      },
    });
    const id = await stage.send('x');
    await clock.advance(259_000);
    expect(await stage.state(id)).toBe('TASK_STATE_WORKING');
    await clock.advance(2_000);
    expect(errorOf(await stage.task(id))['code']).toBe('INACTIVE');
    expect(await aborted.promise).toBe('TASK_STATE_FAILED');
  });

  test('a run longer than deadlineMs ends FAILED (DEADLINE), busy or not; what it returns later does not count', async () => {
    const clock = new VirtualClock();
    const turns: Turn[] = [];
    await using stage = await Stage.open({
      clock,
      turns: { deadlineMs: 10_000 },
      run: async (turn) => {
        turns.push(turn);
        while (!turn.signal.aborted) {
          await new Promise<void>((resolve) => clock.after(1_000, resolve));
          await turn.working().catch(() => {});
        }
        return 'late';
      },
    });
    const id = await stage.send('x');
    await clock.advance(9_900);
    expect(await stage.state(id)).toBe('TASK_STATE_WORKING');
    await clock.advance(2_000);
    expect(errorOf(await stage.task(id))['code']).toBe('DEADLINE');
    expect(turns[0]?.signal.reason).toMatchObject({ name: 'AbortError' });
    expect(String(turns[0]?.signal.reason)).toContain('too long');
    expect((await stage.gist(id)).join()).not.toContain('late');
  });

  test('the signal tells of the deadline also when a look sees the end before its own answer is here', async () => {
    const clock = new VirtualClock();
    const turns: Turn[] = [];
    await using stage = await Stage.open({
      clock,
      turns: { deadlineMs: 10_000 },
      run: async (turn) => {
        turns.push(turn);
        await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()));
      },
    });
    await stage.send('x');
    stage.replica().link.after = (verb) => (verb === 'append' ? new Promise((resolve) => clock.after(3_000, resolve)) : undefined);
    await clock.advance(15_000);
    expect(String(turns[0]?.signal.reason)).toContain('too long');
  });

  test('there is no deadline unless one is set', async () => {
    const clock = new VirtualClock();
    await using stage = await Stage.open({
      clock,
      turns: { tickMs: 2_500 },
      run: async (turn) => {
        for (let i = 0; i < 5; i++) {
          await new Promise<void>((resolve) => clock.after(800_000, resolve));
          await turn.working(`${i}`);
        }
      },
    });
    const id = await stage.send('x');
    await clock.advance(3_900_000);
    expect((await stage.gist(id)).at(-1)).toBe('WORKING:3');
    await clock.advance(200_000);
    expect(await stage.state(id)).toBe('TASK_STATE_COMPLETED');
  });
});
