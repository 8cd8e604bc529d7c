import { describe, expect, test } from 'vitest';
import type { Held } from './agent.ts';
import { callers, collect, eventually, rounds, sendRequest, stageOf, stateOf } from './support.ts';
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

/** No replica holds more than before, but for what caches of a fixed size may take. */
const expectFlat = (before: readonly Held[], after: readonly Held[], bytesEach: number): void => {
  for (const [index, { heapBytes, handles, files }] of after.entries()) {
    const was = before[index];
    expect(heapBytes - (was?.heapBytes ?? 0), 'heap').toBeLessThan(bytesEach);
    expect(handles - (was?.handles ?? 0), 'handles').toBeLessThan(30); // connections that are kept for their next request
    expect(files - (was?.files ?? 0), 'files').toBeLessThan(30);
  }
};

describe.each(callers)('$name', (raw) => {
  test('paused tasks cost their rows, nothing on any replica (case 100, case 79)', async () => {
    const who = stage.by(raw);
    await many(60, (number) => who.at(number % 2).send('ask who?')); // whatever is made once is made now
    const before = await everywhere(who);
    const count = rounds(5_000, 300);
    await many(count, (number) => who.at(number % 2).send('ask who?'));
    const after = await everywhere(who);
    // the cache of recent entries keeps some of each, up to its limit; a task that stayed for ever would cost tens of kilobytes
    expectFlat(before, after, 2 * MIB + (count / 2) * 4_096);
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
    await eventually('the sockets to close', async () =>
      (await everywhere(who)).every(({ files }, index) => files - (before[index]?.files ?? 0) < 30),
    );
    expectFlat(before, await everywhere(who), 2 * MIB);
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
    expectFlat(before, await everywhere(who), 2 * MIB);
  });
});
