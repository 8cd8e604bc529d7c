// npm run chaos: replicas as processes on one store, killed, stopped, drained and starved under load, and judged by what anybody saw
import { ChaosUsageError, CHAOS_USAGE, parseChaosOptions } from './options.ts';
import { runChaos } from './run.ts';

async function main(): Promise<number> {
  const options = parseChaosOptions(process.argv.slice(2), Date.now() % 1_000_000);
  if (!options) {
    process.stderr.write(`${CHAOS_USAGE}\n`);
    return 0;
  }
  process.stderr.write(`chaos on ${options.store.name}, ${options.replicas} replicas, seed ${options.seed}\n`);
  const report = await runChaos(options, (line) => process.stderr.write(`${line}\n`));
  process.stdout.write(`${report.table()}\n\n${JSON.stringify(report.json)}\n`);
  return report.isGood ? 0 : 1;
}

// whoever breaks it off leaves no mount behind; replicas end with this process
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ChaosUsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
