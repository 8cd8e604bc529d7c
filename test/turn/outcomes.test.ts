import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { A2AError } from '../../src/protocol/errors.ts';
import { textOf } from '../../src/protocol/parts.ts';
import type { Run, Turn } from '../../src/turn/turn.ts';
import type { StageOptions } from './stage.ts';
import { codeOf, errorOf, gate, sources, Stage, untyped } from './stage.ts';

describe.each(sources)('how a turn ends, on $name', ({ make }) => {
  let source: ReturnType<typeof make>;
  let stage: Stage;
  beforeEach(() => {
    source = make();
  });
  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
    source.remove();
  });
  const open = async (run: Run, options: Partial<StageOptions> = {}): Promise<Stage> => {
    stage = await Stage.open({ run, source, ...options });
    return stage;
  };

  test('content becomes one artifact named result and COMPLETED', async () => {
    await open((turn) => `Hello, ${turn.text}!`);
    const id = await stage.send('Ada');
    const task = await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(await stage.gist(id)).toEqual(['said:Ada', 'WORKING', '1#result:Hello, Ada!.', 'COMPLETED']);
    expect(task.artifacts).toEqual([{ artifactId: '1#result', name: 'result', parts: [{ text: 'Hello, Ada!' }] }]);
  });

  test('nothing becomes COMPLETED', async () => {
    await open(() => undefined);
    const id = await stage.send('x');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(await stage.gist(id)).toEqual(['said:x', 'WORKING', 'COMPLETED']);
  });

  test('code may take a turn apart: what it took needs no turn in front of it', async () => {
    await open(async ({ text, message, working, artifact, complete }) => {
      await working('apart');
      await artifact('out').append(`${text}/${textOf(message)}`);
      return complete('bye');
    });
    const id = await stage.send('Ada');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect((await stage.gist(id)).at(-1)).toBe('COMPLETED:bye');
    expect((await stage.task(id)).artifacts?.[0]?.parts).toEqual([{ text: 'Ada/Ada' }]);
  });

  test('ask, refuse and complete end the turn with their words and metadata (AMB-34)', async () => {
    const outcomes: Record<string, (turn: Turn) => ReturnType<Run>> = {
      ask: (turn) => turn.ask('Who?', { metadata: { asked: 1 } }),
      refuse: (turn) => turn.refuse('No.'),
      complete: (turn) => turn.complete('Done.'),
    };
    await open((turn) => outcomes[turn.text]?.(turn));
    const [asked, refused, completed] = await Promise.all([stage.send('ask'), stage.send('refuse'), stage.send('complete')]);
    expect((await stage.reached(asked, 'TASK_STATE_INPUT_REQUIRED')).metadata).toEqual({ asked: 1 });
    await stage.reached(refused, 'TASK_STATE_REJECTED');
    await stage.reached(completed, 'TASK_STATE_COMPLETED');
    expect((await stage.gist(asked)).at(-1)).toBe('INPUT_REQUIRED:Who?');
    expect((await stage.gist(refused)).at(-1)).toBe('REJECTED:No.');
    expect((await stage.gist(completed)).at(-1)).toBe('COMPLETED:Done.');
    const message = (await stage.task(asked)).status.message;
    expect(message).toMatchObject({ role: 'ROLE_AGENT', taskId: asked, contextId: 'context' }); // TURN-23
  });

  test('a thrown error is recorded behind all that was said before it, without its text (P7, cases 31, 71)', async () => {
    await open(async (turn) => {
      void turn.working('first');
      void turn.artifact('out').append('kept');
      throw new Error('secret at /etc/passwd');
    });
    const id = await stage.send('x');
    const task = await stage.reached(id, 'TASK_STATE_FAILED');
    expect((await stage.gist(id)).slice(0, 4)).toEqual(['said:x', 'WORKING', 'WORKING:first', '1-out:kept']);
    expect(JSON.stringify(await stage.entries(id))).not.toContain('secret');
    const { code, message } = errorOf(task);
    expect(code).toBe('INTERNAL');
    const [line] = stage.replica().lines.of('turn: the agent threw');
    expect(line).toMatchObject({ task: id, turn: 1, attempt: 1, error: 'Error: secret at /etc/passwd' });
    expect(message).toContain(String(line?.['reference']));
  });

  test('a thrown A2AError gives its own code, words, metadata and violations, and the agent’s task metadata (case 14)', async () => {
    await open(() => {
      throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'No images.', {
        metadata: { mediaType: 'image/png' },
        violations: [{ field: 'message.parts[0]', description: 'not an image' }],
        retryAfterMs: 5,
        taskMetadata: { own: true },
      });
    });
    const id = await stage.send('x');
    const task = await stage.reached(id, 'TASK_STATE_FAILED');
    expect(errorOf(task)).toEqual({
      code: 'CONTENT_TYPE_NOT_SUPPORTED',
      message: 'No images.',
      metadata: { mediaType: 'image/png' },
      violations: [{ field: 'message.parts[0]', description: 'not an image' }],
      retryAfterMs: 5,
    });
    expect(task.metadata?.['own']).toBe(true);
    expect(textOf(task.status.message?.parts ?? [])).toBe('No images.');
  });

  test('what is not content fails the turn with INVALID_AGENT_RESPONSE (ERR-21)', async () => {
    await open(() => untyped<string>({ nonsense: true }));
    const id = await stage.send('x');
    expect(errorOf(await stage.reached(id, 'TASK_STATE_FAILED'))['code']).toBe('INVALID_AGENT_RESPONSE');
  });

  test('an outcome of another turn is no outcome', async () => {
    const outcomes: ReturnType<Turn['ask']>[] = [];
    await open((turn) => {
      outcomes.push(turn.ask('mine'));
      return outcomes[0];
    });
    await stage.reached(await stage.send('one'), 'TASK_STATE_INPUT_REQUIRED');
    const second = await stage.send('two');
    expect(errorOf(await stage.reached(second, 'TASK_STATE_FAILED'))['code']).toBe('INVALID_AGENT_RESPONSE');
  });

  test('after the end every verb is refused and changes nothing (case 18)', async () => {
    const late = gate<Turn>();
    await open((turn) => {
      late.open(turn);
      return turn.complete();
    });
    const id = await stage.send('x');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    const turn = await late.promise;
    const verbs = [
      turn.working('late'),
      turn.note({ late: true }),
      turn.artifact('late').write('late'),
      turn.artifact('late').append('late'),
      turn.stream(['late']),
      turn.askForAuth('late'),
      turn.inbox.take(),
      turn.inbox.next(),
    ];
    for (const verb of verbs) expect(await codeOf(verb)).toBe('UNSUPPORTED_OPERATION');
    expect(turn.signal.aborted).toBe(false); // it ended by its own doing
    expect(await stage.gist(id)).toEqual(['said:x', 'WORKING', 'COMPLETED']);
  });

  test('awaiting a verb means it is on the log, in call order', async () => {
    const seen: (readonly string[])[] = [];
    await open(async (turn) => {
      await turn.working('one');
      seen.push(await stage.gist(turn.task.id));
      void turn.artifact('a').write('two');
      void turn.note({ three: 3 });
      await turn.artifact('b').write('four');
      seen.push(await stage.gist(turn.task.id));
    });
    const id = await stage.send('x');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(seen[0]?.at(-1)).toBe('WORKING:one');
    expect(seen[1]?.slice(3)).toEqual(['1-a:two', 'WORKING', '1-b:four']);
  });

  test('bad content throws in the verb, and nothing of it is stored', async () => {
    const codes: string[] = [];
    await open(async (turn) => {
      codes.push(
        await codeOf(turn.working('\0')),
        await codeOf(turn.artifact('a').write([])),
        await codeOf(turn.note(untyped({ f: () => 1 }))),
      );
      return 'fine';
    });
    const id = await stage.send('x');
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(codes).toEqual(Array(3).fill('INVALID_AGENT_RESPONSE'));
    expect(await stage.gist(id)).toEqual(['said:x', 'WORKING', '1#result:fine.', 'COMPLETED']);
  });

  test('what the code changes afterwards never shows (case 35)', async () => {
    await open(async (turn) => {
      const parts = [{ text: 'before' }];
      const said = turn.artifact('a').write(parts);
      parts[0] = { text: 'after' };
      (turn.message as { messageId: string }).messageId = 'changed';
      await said;
      return turn.complete();
    });
    const id = await stage.send('x');
    const task = await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(textOf(task.artifacts?.[0]?.parts ?? [])).toBe('before');
    expect(task.history?.[0]?.messageId).not.toBe('changed');
  });

  test('a turn knows its message, caller, metadata, task and what was said before (cases 2, 29)', async () => {
    const turns: Turn[] = [];
    await open((turn) => {
      turns.push(turn);
      return turn.text === 'again' ? 'two' : turn.ask('Who?');
    });
    const id = await stage.send('one', { caller: { name: 'ada', claims: { role: 'x' } }, owner: 'ada', metadata: { tint: 'red' } });
    await stage.reached(id, 'TASK_STATE_INPUT_REQUIRED');
    await stage.send('again', { taskId: id, caller: { name: 'ada' }, owner: 'ada' });
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    const [first, second] = turns;
    expect(first).toMatchObject({ id: `${id}.1`, attempt: 1, isResumed: false, text: 'one', metadata: { tint: 'red' }, history: [] });
    expect(first?.caller).toEqual({ name: 'ada', claims: { role: 'x' } });
    expect(second?.id).toBe(`${id}.2`);
    expect(second?.history.map(textOf)).toEqual(['one', 'Who?']);
    expect(second?.task.status.state).toBe('TASK_STATE_WORKING');
  });

  test('artifacts of one name do not clobber each other over turns, unless the author gives the id (case 2)', async () => {
    await open(async (turn) => {
      await turn.artifact('out').append(turn.text);
      await turn.artifact('shared', { artifactId: 'shared' }).append(turn.text);
      await turn.artifact('out').append('!');
      return turn.text === 'two' ? undefined : turn.ask();
    });
    const id = await stage.send('one');
    await stage.reached(id, 'TASK_STATE_INPUT_REQUIRED');
    await stage.send('two', { taskId: id });
    const task = await stage.reached(id, 'TASK_STATE_COMPLETED');
    const texts = Object.fromEntries((task.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, textOf(parts)]));
    expect(texts).toEqual({ '1-out': 'one!', '2-out': 'two!', shared: 'onetwo' });
  });

  test('related gives the tasks that the caller may see, and no others (TURN-20, P10)', async () => {
    let related: readonly string[] = [];
    await open(async (turn) => {
      related = (await turn.related()).map(({ id }) => id);
    });
    const mine = await stage.send('mine', { owner: 'ada' });
    const foreign = await stage.send('foreign', { owner: 'eve' });
    const id = await stage.send('x', { owner: 'ada', referenceTaskIds: [mine, foreign, 'unknown', mine] });
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(related).toEqual([mine]);
  });

  test('a note keeps the state and sets metadata of the task, key by key (AMB-34)', async () => {
    await open(async (turn) => {
      await turn.note({ a: 1, b: 1 });
      await turn.note({ b: 2 });
      return turn.complete();
    });
    const task = await stage.reached(await stage.send('x'), 'TASK_STATE_COMPLETED');
    expect(task.metadata).toEqual({ a: 1, b: 2 });
  });
});
