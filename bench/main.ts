import { measureChunks } from './chunks.ts';
import { measureSend } from './send.ts';
import type { BenchOptions, Figures } from './figures.ts';

/** What can be measured, by the name `npm run bench -- NAME` takes. */
const benches: Readonly<Record<string, (options: BenchOptions) => Promise<Figures>>> = { chunks: measureChunks, send: measureSend };

const words = process.argv.slice(2);
const name = words.find((word) => !word.startsWith('--')) ?? '';
const measure = benches[name];
if (!measure) {
  console.error(`bench: one of ${Object.keys(benches).join(', ')} was expected, "${name}" came`);
  process.exit(2);
}
const effort = words.includes('--smoke') ? 'smoke' : words.includes('--quick') ? 'quick' : 'full';
const figures = await measure({ effort, isProfiled: words.includes('--profile') });
console.log(JSON.stringify({ name, ...figures }));
