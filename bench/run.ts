// npm run bench -- NAME [--quick] [--profile]: compiles first and measures in plain Node processes, because a loader that transforms
// source on the fly (tsx) also wraps functions, which costs some per cent
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';

const built = `.cache/bench/${process.pid}`; // a folder for each run: another one may be measuring the code of a moment ago
const compile = ['-p', 'tsconfig.bench.json', '--outDir', built];
try {
  spawnSync('node_modules/.bin/tsc', compile, { stdio: 'inherit' });
  if (!existsSync(`${built}/bench/main.js`)) throw new Error('bench: the compiler made no program, see above');
  const { status } = spawnSync(process.execPath, [`${built}/bench/main.js`, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(built, { recursive: true, force: true });
}
