import { describe, expect, test } from 'vitest';
import { CARDS_MAX } from '../../src/agent/agent.ts';
import { BASES_MAX, createCardReply } from '../../src/bindings/card.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import { createAgent } from '../../src/index.ts';
import type { AgentCard } from '../../src/protocol/types.ts';
import { exchangeAt } from '../bindings/stage.ts';

const CARD = '/.well-known/agent-card.json';

describe('callers who make up names of hosts', () => {
  test('fill no memory with cards: a few are kept, and made again when they were dropped (P11)', async () => {
    let made = 0;
    const card = {
      get name(): string {
        made += 1;
        return 'Counted';
      },
      description: 'Counts how often it is made.',
      version: '1.0.0',
    };
    const agent = createAgent({ card, run: () => '', logger: silentLogger });
    const ask = (index: number): Promise<unknown> => agent.handle(exchangeAt(`http://host-${index}.example`, CARD));
    const madeBy = async (work: () => Promise<unknown>): Promise<boolean> => {
      const before = made;
      await work();
      return made > before;
    };
    expect(await madeBy(() => ask(0))).toBe(true);
    expect(await madeBy(() => ask(0))).toBe(false);
    for (let index = 1; index <= CARDS_MAX; index++) await ask(index);
    expect(await madeBy(() => ask(CARDS_MAX))).toBe(false);
    expect(await madeBy(() => ask(0))).toBe(true);
    await agent.close();
  });

  test('nor with printed ones', () => {
    let printed = 0;
    // printing asks for it
    const card = { toJSON: () => `${(printed += 1)}` } as unknown as AgentCard;
    const reply = createCardReply(() => card);
    const ask = (index: number): unknown => reply(exchangeAt(`http://host-${index}.example`, CARD));
    for (let round = 0; round < 2; round++) for (let index = 0; index < BASES_MAX; index++) ask(index);
    expect(printed).toBe(BASES_MAX);
    ask(BASES_MAX);
    ask(0);
    expect(printed).toBe(BASES_MAX + 2);
  });
});
