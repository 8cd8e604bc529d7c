// Ours: one replica as `serve` starts it. Argument: `memory` or a SQLite file.
import { createAgent } from '../src/index.ts';
import { serve } from '../src/node.ts';
import { sqlite } from '../src/sqlite.ts';
import { ANSWER, CHUNK, chunkCount } from './words.ts';

/** Chunks under way at once: more than one commit takes, so that the disk never waits for the agent. */
const AHEAD = 1_024;

const file = process.argv[2] ?? 'memory';
const agent = createAgent({
  card: { name: 'Bench', description: 'Answers at once, or streams chunks.', version: '1.0.0' },
  ...(file === 'memory' ? {} : { store: sqlite(file) }),
  async run(turn) {
    const count = chunkCount(turn.text);
    if (count === undefined) return ANSWER;
    const out = turn.artifact('out');
    const ahead: Promise<void>[] = [];
    for (let index = 0; index < count; index++) {
      ahead.push(out.append(CHUNK, { isLast: index === count - 1 }));
      if (ahead.length >= AHEAD) await ahead.shift();
    }
    await Promise.all(ahead);
    return undefined;
  },
});
const served = await serve(agent, { port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ ready: true, url: served.url }));
