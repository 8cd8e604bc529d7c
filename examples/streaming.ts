// Streams an answer word by word, as a model does:  npm start -- --agent examples/streaming.ts --port 4000
import { setTimeout as delay } from 'node:timers/promises';
import { createAgent } from 'chorus-a2a';
import type { Agent } from 'chorus-a2a';

const VERSES = [
  'The log is long and never bends,',
  'it starts with you, it tells who spoke;',
  'a holder falls, another mends',
  'the song the falling holder broke.',
];

/** Stands for a model's token stream; stops being read when the turn is over. */
async function* tokens(about: string): AsyncGenerator<string> {
  for (const word of [`On ${about}:\n`, ...VERSES.flatMap((verse) => `${verse}\n`.split(/(?<= )/))]) {
    await delay(15);
    yield word;
  }
}

/** Writes a poem while the caller watches it grow. */
export const agent: Agent = createAgent({
  card: { name: 'Poet', description: 'Writes a poem about anything, word by word.', version: '1.0.0' },
  async run(turn) {
    await turn.working('Looking for a rhyme…');
    await turn.stream(tokens(turn.text || 'logs'), { name: 'poem' });
  },
});
