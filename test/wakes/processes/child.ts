// A replica as far as hints go, in a process of its own: it listens, and says what it hears and what it costs.
import { sqlite } from '../../../src/agent/sqlite.ts';
import { systemClock } from '../../../src/ground/clock.ts';
import { silentLogger } from '../../../src/ground/logger.ts';
import { systemRandom } from '../../../src/ground/random.ts';

const [path = '', mode = ''] = process.argv.slice(2);

const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** Microseconds of the machine's own clock: the same in all its processes. */
const now = (): number => Number(process.hrtime.bigint() / 1_000n);

const { store, wake } = sqlite(path).open({ clock: systemClock, random: systemRandom, logger: silentLogger });
wake.listen((hints) => {
  const at = now();
  for (const hint of hints) say({ at, ...hint });
});
await store.start();
await wake.start();
say({ isProven: wake.isProven });
if (mode === 'once') {
  await wake.stop();
  await store.stop();
} else {
  listenToTheTest();
}

function listenToTheTest(): void {
  process.stdin.on('data', () => {
    const { user, system } = process.cpuUsage();
    say({ cpu: user + system, at: now() });
  });
  process.stdin.on('end', () => process.exit(0));
}
