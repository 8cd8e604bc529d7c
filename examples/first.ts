// The first agent:  npm start -- --agent examples/first.ts --port 4000
import { createAgent } from 'chorus-a2a';
import type { Agent } from 'chorus-a2a';

/** Greets people by name, and asks for the name if there is none. */
export const agent: Agent = createAgent({
  card: { name: 'Greeter', description: 'Greets people by name.', version: '1.0.0' },
  async run(turn) {
    if (!turn.text) return turn.ask('Who should I greet?');
    await turn.working('Choosing warm words…');
    return `Hello, ${turn.text}!`;
  },
});
