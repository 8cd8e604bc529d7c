// npm run build: dist/ anew, one .js and one .d.ts for each file of src/; migrations (.sql) are copied as they are
import { cpSync, rmSync } from 'node:fs';
import { extname } from 'node:path';
import { statSync } from 'node:fs';
import { runProgram } from './steps.ts';

rmSync('dist', { recursive: true, force: true });
process.exitCode = await runProgram('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json']);
cpSync('src', 'dist', { recursive: true, filter: (from) => statSync(from).isDirectory() || extname(from) === '.sql' });
