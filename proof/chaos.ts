// npm run chaos: compiles first. A run starts hundreds of processes, and each of them would transform the source anew; and it goes on with
// the code it began with, whatever is edited meanwhile.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const built = `.cache/chaos/${process.pid}`; // a folder for each run

/** Examples import the package by its name: here that is what was compiled. */
function writeManifest(): void {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly name: string; readonly exports: object }; // our own
  const exports: unknown = JSON.parse(JSON.stringify(manifest.exports).replaceAll('./dist/', './src/'));
  writeFileSync(`${built}/package.json`, JSON.stringify({ name: manifest.name, type: 'module', exports }));
}

function run(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
    // it ends its replicas when it ends; here only its end is waited for
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  });
}

try {
  spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.chaos.json', '--outDir', built], { stdio: ['ignore', 2, 2] });
  if (!existsSync(`${built}/proof/chaos/main.js`)) throw new Error('chaos: the compiler made no program, see above');
  writeManifest();
  process.exitCode = await run([`${built}/proof/chaos/main.js`, ...process.argv.slice(2)]);
} finally {
  rmSync(built, { recursive: true, force: true });
}
