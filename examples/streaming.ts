// Streams an answer word by word, as a model does:  npm start -- --agent examples/streaming.ts --port 4000
import { setTimeout as delay } from 'node:timers/promises';
import { createAgent } from 'chorus-a2a';
import type { Agent } from 'chorus-a2a';

const WORD_MS = 60;

const poem = (about: string): string => `A song of ${about}:

The log is long and never bends,
it keeps what anybody said;
a holder falls, another mends
the line, and nothing said is dead.

So kill me where my verse is thin,
mid-word, mid-line, without a sign:
another voice will soon begin,
and every ear hears every line.
`;

/** Stands for a model's token stream. */
async function* tokens(text: string): AsyncGenerator<string> {
  for (const token of text.split(/(?<=\s)/)) {
    await delay(WORD_MS);
    yield token;
  }
}

/** Writes a poem while its readers watch it grow. Stops by itself when the turn is over: nobody reads the tokens any more. */
export const agent: Agent = createAgent({
  card: { name: 'Poet', description: 'Writes a poem about anything, word by word.', version: '1.0.0' },
  async run(turn) {
    const isQuestion = turn.text === '' || turn.text.endsWith('?');
    if (isQuestion) return turn.ask('What shall it be about?');
    await turn.working(`Looking for rhymes on ${turn.text}…`);
    await turn.stream(tokens(poem(turn.text)), { name: 'poem' });
    return undefined;
  },
});
