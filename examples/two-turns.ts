// Asks back and goes on in a second turn, on whichever replica the answer reaches:  npm start -- --agent examples/two-turns.ts --port 4000
import { createAgent } from 'chorus-a2a';
import type { Agent, Message } from 'chorus-a2a';

const textOf = (message: Message | undefined): string => message?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? '';

/** Books a table. What was said before is in `turn.history`: the agent keeps nothing in its own memory. */
export const agent: Agent = createAgent({
  card: { name: 'Waiter', description: 'Books a table in two turns.', version: '1.0.0' },
  run(turn) {
    const wish = turn.history.find((message) => message.role === 'ROLE_USER');
    if (!wish) return turn.ask('For how many people?');
    const guests = Number.parseInt(turn.text, 10);
    if (Number.isNaN(guests)) return turn.ask(`"${turn.text}" is not a number. For how many people?`);
    return `A table for ${guests} is booked: ${textOf(wish)}`;
  },
});
