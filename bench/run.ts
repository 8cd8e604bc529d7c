// npm run bench -- NAME [--quick] [--profile]: compiles first and measures in plain Node processes, because a loader that transforms
// source on the fly (tsx) also wraps functions, which costs some per cent
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';

const built = '.cache/bench';
rmSync(built, { recursive: true, force: true });
spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.bench.json'], { stdio: 'inherit' });
if (!existsSync(`${built}/bench/main.js`)) throw new Error('bench: the compiler made no program, see above');
const { status } = spawnSync(process.execPath, [`${built}/bench/main.js`, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exitCode = status ?? 1;
