// One of our replicas as `serve` starts it, for benches with several of them on one file. Argument: its options as JSON.
import { createInterface } from 'node:readline';
import { createAgent } from '../src/index.ts';
import { serve } from '../src/node.ts';
import { sqlite } from '../src/sqlite.ts';
import type { ReplicaOptions } from './replica.ts';
import { runScript } from './scripts.ts';

const { file, ...options } = JSON.parse(process.argv[2] ?? '{}') as ReplicaOptions; // written by replica.ts alone
const agent = createAgent({
  card: { name: 'Bench', description: 'Does what a message asks for.', version: '1.0.0' },
  store: sqlite(file),
  run: runScript,
  ...options,
});
const served = await serve(agent, { port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ ready: true, url: served.url }));
// asked how much processor time it has used, it tells; when the bench is gone, it goes too
const asked = createInterface({ input: process.stdin });
asked.on('line', () => {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ cpuMs: (user + system) / 1_000 }));
});
asked.on('close', () => process.kill(process.pid, 'SIGKILL'));
if ('unref' in process.stdin && typeof process.stdin.unref === 'function') process.stdin.unref(); // it must not keep a drained replica alive
