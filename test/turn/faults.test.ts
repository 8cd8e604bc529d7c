import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AppendAsk } from '../../src/log/store.ts';
import { StoreError } from '../../src/log/store.ts';
import { textOf } from '../../src/protocol/parts.ts';
import { withFault } from '../../src/testing/faults.ts';
import type { Turn } from '../../src/turn/turn.ts';
import type { StageOptions } from './stage.ts';
import { codeOf, errorOf, gate, sources, Stage } from './stage.ts';

describe.each(sources)('a turn and a bad store, on $name', ({ make }) => {
  let source: ReturnType<typeof make>;
  let stage: Stage;
  beforeEach(() => {
    source = make();
  });
  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
    source.remove();
  });
  const open = async (options: Omit<StageOptions, 'source'> & Partial<StageOptions>): Promise<Stage> => {
    stage = await Stage.open({ source, ...options });
    return stage;
  };
  const numbers = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `${i + 1} `);

  test('an answer that is lost is asked for again under the same ordinal: every chunk once, in order (P9, case 5)', async () => {
    await open({
      run: async (turn) => {
        const out = turn.artifact('out');
        await Promise.all(numbers(60).map((text) => out.append(text)));
        for (const text of numbers(20)) await out.append(text);
      },
    });
    const { link } = stage.replica();
    let count = 0;
    link.before = (verb) => {
      if (verb === 'append' && ++count % 3 === 0) link.lostAcks.push('append');
    };
    const id = await stage.send('x');
    const task = await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(textOf(task.artifacts?.[0]?.parts ?? [])).toBe([...numbers(60), ...numbers(20)].join(''));
    expect(link.lostAcks.length).toBeLessThan(count);
  });

  test('a lost answer to the last word is no failure: the turn has ended by itself', async () => {
    const done = gate<Turn>();
    await open({ run: (turn) => (done.open(turn), 'said') });
    stage.replica().link.lostAcks.push('append');
    const id = await stage.send('x');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    const turn = await done.promise;
    await stage.replica().runner.drained(AbortSignal.timeout(15_000));
    expect(turn.signal.aborted).toBe(false);
    expect(await stage.gist(id)).toEqual(['said:x', 'WORKING', '1#result:said.', 'COMPLETED']);
  });

  test('after an unknown outcome "fenced" is not believed: the log tells that the words are on it', async () => {
    const words = gate<string>();
    const begun = gate<Turn>();
    await open({
      run: async (turn) => {
        begun.open(turn);
        words.open(await codeOf(turn.working('said')));
      },
      replicas: 2,
    });
    const { link, runner } = stage.replica();
    const id = await stage.send('x');
    await begun.promise;
    // the answer is lost, and before the repeat the task is canceled: the repeat is refused although the words stand in the log
    link.lostAcks.push('append');
    let appends = 0;
    link.before = async (verb) => {
      if (verb === 'append' && ++appends === 2) await stage.cancel(id, 1);
      if (verb === 'tick' || verb === 'read') await words.promise; // so that the writer learns of it first
    };
    expect(await words.promise).toBe('no error: undefined');
    await runner.drained(AbortSignal.timeout(15_000));
    expect(await stage.gist(id)).toEqual(['said:x', 'WORKING', 'WORKING:said', 'CANCELED']);
  });

  test('batches that overtake each other leave no gap and no repeat', async () => {
    await open({
      run: async (turn) => {
        const out = turn.artifact('out');
        const said: Promise<void>[] = [];
        for (const text of numbers(40)) {
          said.push(out.append(text));
          await Promise.resolve(); // so that each is a batch of its own
          await Promise.resolve();
        }
        await Promise.all(said);
      },
    });
    const { link } = stage.replica();
    let appends = 0;
    link.before = async (verb) => {
      if (verb === 'append' && appends++ % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 8));
    };
    const id = await stage.send('x');
    const task = await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(textOf(task.artifacts?.[0]?.parts ?? [])).toBe(numbers(40).join(''));
  });

  test('while the store is away writes wait, and go on when it is back (case 30)', async () => {
    const begun = gate<Turn>();
    await open({
      run: async (turn) => {
        begun.open(turn);
        await turn.inbox.next();
        await turn.artifact('out').append('after');
      },
      turns: { whileWorking: 'enqueue', leaseMs: 60_000 },
    });
    const { link } = stage.replica();
    const id = await stage.send('x');
    const turn = await begun.promise;
    link.mode = 'cut';
    let isSaid = false;
    const said = turn.working('during').then(() => (isSaid = true));
    await stage.until(() => link.calls.filter((verb) => verb === 'append').length >= 3, 'it tries again');
    expect(isSaid).toBe(false);
    link.mend();
    await said;
    await stage.send('go on', { taskId: id });
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect((await stage.gist(id)).slice(2)).toEqual(['WORKING:during', 'said:go on', 'taken:4', '1-out:after', 'COMPLETED']);
  });

  test('a store that cannot be written for a reason a person must mend is complained of once per turn', async () => {
    await open({ run: (turn) => turn.complete() });
    const { link, lines } = stage.replica();
    let left = 3;
    link.before = (verb) => {
      if (verb === 'append' && left-- > 0) throw new StoreError('misconfigured', 'no rights');
    };
    await stage.reached(await stage.send('x'), 'TASK_STATE_COMPLETED');
    expect(lines.of('turn: the store cannot be written, writes wait')).toHaveLength(1);
  });

  test('content that is refused for good fails the turn UNSTORABLE; what was said before it is kept (case 12)', async () => {
    const codes: Promise<string>[] = [];
    await open({
      run: async (turn) => {
        codes.push(codeOf(turn.working('before')), codeOf(turn.working('POISON')), codeOf(turn.working('after')));
        await Promise.all(codes);
        return 'never';
      },
    });
    stage.replica().link.before = (verb, ask) => {
      if (verb === 'append' && (ask as AppendAsk).entries.some(({ body }) => body.includes('POISON'))) {
        throw new StoreError('unstorable', 'poison');
      }
    };
    const id = await stage.send('x');
    const task = await stage.reached(id, 'TASK_STATE_FAILED');
    expect(errorOf(task)['code']).toBe('UNSTORABLE');
    expect((await stage.gist(id)).slice(2, -1)).toEqual(['WORKING:before']);
    expect(await Promise.all(codes)).toEqual(['no error: undefined', 'UNSUPPORTED_OPERATION', 'UNSUPPORTED_OPERATION']);
  });

  test('a COMPLETED that is refused for its content ends FAILED; the artifact said with it is kept (--fault final-refused)', async () => {
    await open({ run: () => 'kept', source: withFault(source, 'final-refused') });
    const id = await stage.send('x');
    expect(errorOf(await stage.reached(id, 'TASK_STATE_FAILED'))['code']).toBe('UNSTORABLE');
    expect((await stage.gist(id)).slice(2, 3)).toEqual(['1#result:kept.']);
  });

  test('a terminal status that meets a broken connection is repeated and stands (--fault final-write)', async () => {
    await open({ run: () => 'kept', source: withFault(source, 'final-write') });
    const id = await stage.send('x');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect((await stage.gist(id)).slice(2)).toEqual(['1#result:kept.', 'COMPLETED']);
  });

  test('a failure that cannot be stored either is settled by the store’s own words: nothing stays WORKING', async () => {
    await open({
      run: () => {
        throw new Error('x');
      },
      turns: { tickMs: 20, pollMs: 20 },
    });
    stage.replica().link.before = (verb) => {
      if (verb === 'append') throw new StoreError('unstorable', 'everything is poison');
    };
    const id = await stage.send('x');
    expect(errorOf(await stage.reached(id, 'TASK_STATE_FAILED'))['code']).toBe('LOST');
  });

  test('the turn that makes its task too long ends FAILED (LIMIT), with all that fitted', async () => {
    await open({
      run: async (turn) => {
        const out = turn.artifact('out');
        await Promise.all(numbers(20).map((text) => out.append(text)));
        return 'never';
      },
      turns: { taskEntriesMax: 8 },
    });
    const id = await stage.send('x');
    expect(errorOf(await stage.reached(id, 'TASK_STATE_FAILED'))['code']).toBe('LIMIT');
    expect((await stage.gist(id)).slice(2, -1)).toEqual(['1-out:1 ', '1-out+2 ', '1-out+3 ', '1-out+4 ', '1-out+5 ', '1-out+6 ']);
  });

  test('code that talks on without waiting cannot fill the memory: the limits of the task hold for what waits too (P11)', async () => {
    const refused = gate<string>();
    await open({
      run: async (turn) => {
        const out = turn.artifact('out');
        let last: Promise<void> = Promise.resolve();
        for (let i = 0; i < 50; i++) last = out.append('x'.repeat(1_000));
        refused.open(await codeOf(last));
      },
      turns: { taskBytesMax: 20_000 },
    });
    const appends = gate();
    stage.replica().link.before = (verb) => (verb === 'append' ? appends.promise : undefined);
    const id = await stage.send('x');
    expect(await refused.promise).toBe('UNSUPPORTED_OPERATION'); // although the store was not even asked yet
    appends.open();
    expect(errorOf(await stage.reached(id, 'TASK_STATE_FAILED'))['code']).toBe('LIMIT');
    expect((await stage.row(id)).bytes).toBeLessThan(21_000);
  });

  test('a verb that nobody awaits does not end the process when its turn is canceled', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const begun = gate<Turn>();
    await open({
      run: async (turn) => {
        begun.open(turn);
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
        void turn.working('late');
        void turn.stream(['late']);
        void turn.inbox.take();
      },
    });
    const id = await stage.send('x');
    await begun.promise;
    await stage.cancel(id);
    await stage.replica().runner.drained(AbortSignal.timeout(15_000));
    await stage.pass(5);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
