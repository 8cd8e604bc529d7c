import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/protocol/parts.ts';
import { A2AError } from '../../src/protocol/errors.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Turn } from '../../src/turn/turn.ts';
import { codeOf, errorOf, gate, Stage, untyped } from './stage.ts';

/** Runs one turn that pipes these chunks, and gives what stands in the log of it. */
async function piped(
  chunks: Parameters<Turn['stream']>[0],
  options: Parameters<Turn['stream']>[1] = { name: 'out' },
): Promise<readonly string[]> {
  await using stage = await Stage.open({
    run: async (turn) => {
      await turn.stream(chunks, options);
      return turn.complete();
    },
  });
  const id = await stage.send('x');
  await stage.reached(id, 'TASK_STATE_COMPLETED');
  return (await stage.gist(id)).slice(2, -1);
}

describe('a stream', () => {
  test('its first chunk opens the artifact, the others append, the last is marked (case 57)', async () => {
    expect(await piped(['a', 'b', 'c', 'd', 'e'])).toEqual(['1-out:a', '1-out+b', '1-out+c', '1-out+d', '1-out+e.']);
    expect(await piped(['whole'])).toEqual(['1-out:whole.']);
  });

  test('text that waits for the same commit is joined, and nothing is lost or reordered', async () => {
    const words = Array.from({ length: 500 }, (_, i) => `${i} `);
    await using stage = await Stage.open({ run: (turn) => turn.stream(words) });
    let calls = 0;
    stage.replica().link.before = async (verb) => {
      if (verb === 'append') await new Promise((resolve) => setTimeout(resolve, 5 + (calls++ % 3)));
    };
    const id = await stage.send('x');
    const task = await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(textOf(task.artifacts?.[0]?.parts ?? [])).toBe(words.join(''));
    expect((await stage.entries(id)).length).toBeLessThan(50);
  });

  test('a delta is on the log before the next one comes, also when the source is slow', async () => {
    const clock = new VirtualClock();
    const next = gate();
    await using stage = await Stage.open({
      clock,
      run: async (turn) => {
        await turn.stream(
          (async function* () {
            yield 'first';
            await next.promise;
            yield 'second';
          })(),
        );
      },
    });
    const id = await stage.send('x');
    await clock.advance(50);
    expect((await stage.gist(id)).slice(2)).toEqual(['1#1:first']);
    next.open();
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect((await stage.gist(id)).slice(2)).toEqual(['1#1:first', '1#1+second.', 'COMPLETED']);
  });

  test('an end that comes late is marked on an empty piece', async () => {
    const clock = new VirtualClock();
    const next = gate();
    await using stage = await Stage.open({
      clock,
      run: (turn) =>
        turn.stream(
          (async function* () {
            yield 'only';
            await next.promise;
          })(),
        ),
    });
    const id = await stage.send('x');
    await clock.advance(50);
    next.open();
    await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect((await stage.gist(id)).slice(2, -1)).toEqual(['1#1:only', '1#1+.']);
  });

  test('an empty stream is an artifact with an empty text (ART-01)', async () => {
    expect(await piped([])).toEqual(['1-out:.']);
    expect(await piped(['', ''])).toEqual(['1-out:.']);
  });

  test('half a surrogate pair waits for the other half, and is replaced if that never comes (case 74)', async () => {
    expect((await piped(['a\ud83d', '\ude00b'])).join('')).toBe('1-out:a1-out+😀b.');
    expect((await piped(['a\ud83d'])).join('')).toBe('1-out:a\ufffd.');
    expect((await piped(['\ud83d', 'b'])).join('')).toBe('1-out:\ufffdb.');
    expect(await piped(['a\ud83d', { data: 1 }])).toEqual(['1-out:a', '1-out+\ufffd', '1-out+.']);
  });

  test('parts that are not text are entries of their own, in their place', async () => {
    expect(await piped(['a', { data: { x: 1 } }, { text: 'b' }, { text: 'c', mediaType: 'text/plain' }])).toEqual([
      '1-out:a',
      '1-out+',
      '1-out+b',
      '1-out+c.',
    ]);
  });

  test('a source that fails fails the turn behind what it gave before (P7)', async () => {
    await using stage = await Stage.open({
      run: (turn) =>
        turn.stream(
          (async function* () {
            yield 'a';
            yield 'b';
            throw new A2AError('UNAVAILABLE', 'The model is away.');
          })(),
        ),
    });
    const id = await stage.send('x');
    expect(errorOf(await stage.reached(id, 'TASK_STATE_FAILED'))['code']).toBe('UNAVAILABLE');
    expect((await stage.gist(id)).slice(2, 4)).toEqual(['1#1:a', '1#1+b']);
  });

  test('a chunk that is neither text nor part fails with its path', async () => {
    await using stage = await Stage.open({ run: (turn) => turn.stream([untyped<string>({ nonsense: 1 })]) });
    const id = await stage.send('x');
    expect(errorOf(await stage.reached(id, 'TASK_STATE_FAILED'))['code']).toBe('INVALID_AGENT_RESPONSE');
  });

  test('it stops at the signal, is refused, and lets its source go', async () => {
    const released = gate();
    const begun = gate();
    const code = gate<string>();
    await using stage = await Stage.open({
      run: async (turn) => {
        const source = (async function* () {
          try {
            for (let i = 0; ; i++) {
              yield `${i} `;
              begun.open();
              await new Promise((resolve) => setTimeout(resolve, 1));
            }
          } finally {
            released.open();
          }
        })();
        code.open(await codeOf(turn.stream(source)));
      },
    });
    const id = await stage.send('x');
    await begun.promise;
    await stage.cancel(id);
    expect(await code.promise).toBe('UNSUPPORTED_OPERATION');
    await released.promise;
    expect((await stage.gist(id)).at(-1)).toBe('CANCELED');
  });

  test('its source waits while the store is slow: what is held is bounded (P11)', async () => {
    let pulled = 0;
    const chunk = 'x'.repeat(10_000);
    await using stage = await Stage.open({
      run: (turn) =>
        turn.stream(
          (function* () {
            for (; pulled < 1_000; pulled++) yield chunk;
          })(),
        ),
    });
    const { link } = stage.replica();
    const appends = gate();
    link.before = (verb) => (verb === 'append' ? appends.promise : undefined);
    const id = await stage.send('x');
    await stage.until(() => pulled > 5, 'it pulls');
    for (let quiet = 0, before = -1; quiet < 5; quiet = before === pulled ? quiet + 1 : 0) {
      before = pulled;
      await stage.pass(5);
    }
    expect(pulled).toBeLessThan(20);
    appends.open();
    const task = await stage.reached(id, 'TASK_STATE_COMPLETED');
    expect(textOf(task.artifacts?.[0]?.parts ?? [])).toHaveLength(10_000_000);
  });
});
