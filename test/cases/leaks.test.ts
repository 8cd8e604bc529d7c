import { describe, expect, test } from 'vitest';
import type { Held } from './agent.ts';
import { callers, collect, pause, rounds, sendRequest, stageOf, stateOf } from './support.ts';
import type { Stranger } from './support.ts';

const stage = stageOf();

const MIB = 1_048_576;

/** What the process of one replica holds. */
async function heldBy(who: Stranger): Promise<Held> {
  const { message } = await who.sendRaw('!held');
  const [part] = message?.parts ?? [];
  return JSON.parse(part && 'text' in part ? part.text : '{}') as Held; // the agent's own word
}

const everywhere = (who: Stranger): Promise<Held[]> => Promise.all([0, 1].map((index) => heldBy(who.at(index))));

/** Does something many times over, some at once. */
async function many(count: number, act: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const some = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) await act(number);
  };
  await Promise.all(Array.from({ length: 12 }, some));
}

/**
 * No replica holds more than before, but for what caches of a fixed size and connections that are kept for their next request may take. It
 * may take a while to let go; what leaks is never let go of.
 */
async function expectFlat(who: Stranger, before: readonly Held[], bytesEach: number): Promise<void> {
  const growth = async (): Promise<readonly Held[]> =>
    (await everywhere(who)).map(({ heapBytes, handles, files }, index) => ({
      heapBytes: heapBytes - (before[index]?.heapBytes ?? 0),
      handles: handles - (before[index]?.handles ?? 0),
      files: files - (before[index]?.files ?? 0),
    }));
  const isFlat = ({ heapBytes, handles, files }: Held): boolean => heapBytes < bytesEach && handles < 30 && files < 30;
  let grown = await growth();
  for (const end = Date.now() + 15_000; !grown.every(isFlat) && Date.now() < end; grown = await growth()) await pause(500);
  expect(
    grown.filter((one) => !isFlat(one)),
    `of more than ${bytesEach} bytes`,
  ).toEqual([]);
}

describe.each(callers)('$name', (raw) => {
  test('paused tasks cost their rows, nothing on any replica (case 100, case 79)', async () => {
    const who = stage.by(raw);
    await many(60, (number) => who.at(number % 2).send('ask who?')); // whatever is made once is made now
    const before = await everywhere(who);
    const count = rounds(5_000, 300);
    await many(count, (number) => who.at(number % 2).send('ask who?'));
    // the cache of recent entries keeps some of each, up to its limit; a task that stayed for ever would cost tens of kilobytes
    await expectFlat(who, before, 2 * MIB + (count / 2) * 4_096);
  });

  test('streams that were dropped leave no socket, no timer and no memory behind (case 79)', async () => {
    const who = stage.by(raw);
    const { id } = await who.at(0).send('ask who?');
    const drop = async (number: number): Promise<void> => {
      const [first] = await collect(who.at(number % 2).subscribe(id), () => true);
      expect(stateOf(first ?? { id: 0 })).toBe('TASK_STATE_INPUT_REQUIRED');
    };
    await many(60, drop);
    const before = await everywhere(who);
    await many(rounds(20_000, 300), drop);
    await expectFlat(who, before, 2 * MIB);
    await who.cancel(id);
  });

  test('a caller that makes up names, hosts and contexts fills nothing', async () => {
    const who = stage.by(raw);
    const ask = async (number: number): Promise<void> => {
      const stranger = who.as(`somebody ${number}`).at(number % 2);
      await stranger.answer('GetTask', { id: `made up ${number}` });
      await stranger.answer('ListTasks', { contextId: `context ${number}` });
      await stranger.answer('SendMessage', sendRequest('x', { taskId: crypto.randomUUID() }));
      const card = await fetch(`${stranger.url}/.well-known/agent-card.json?${number}`);
      await card.text();
    };
    await many(60, ask);
    const before = await everywhere(who);
    await many(rounds(5_000, 200), ask);
    await expectFlat(who, before, 2 * MIB);
  });
});
