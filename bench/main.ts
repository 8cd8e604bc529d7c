import { runAll } from './all.ts';
import { benches } from './benches.ts';

const words = process.argv.slice(2);
const flags = words.filter((word) => word.startsWith('--'));
const name = words.find((word) => !word.startsWith('--'));
const effort = flags.includes('--smoke') ? 'smoke' : flags.includes('--quick') ? 'quick' : 'full';

if (name === undefined) process.exitCode = await runAll(effort, flags);
else {
  const bench = benches[name];
  if (!bench) {
    console.error(`bench: one of ${Object.keys(benches).join(', ')} was expected, "${name}" came`);
    process.exit(2);
  }
  const figures = await bench.measure({ effort, isProfiled: flags.includes('--profile') });
  console.log(JSON.stringify({ name, ...figures }));
}
