// Ours: one replica as `serve` starts it. Argument: `memory` or a SQLite file.
import { createAgent } from '../src/index.ts';
import { serve } from '../src/node.ts';
import { sqlite } from '../src/sqlite.ts';
import { runScript } from './scripts.ts';

const file = process.argv[2] ?? 'memory';
const agent = createAgent({
  card: { name: 'Bench', description: 'Answers at once, or streams chunks.', version: '1.0.0' },
  ...(file === 'memory' ? {} : { store: sqlite(file) }),
  run: runScript,
});
const served = await serve(agent, { port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ ready: true, url: served.url }));
