// npm run build: dist/ anew, one .js and one .d.ts for each file of src/
import { rmSync } from 'node:fs';
import { runProgram } from './steps.ts';

rmSync('dist', { recursive: true, force: true });
process.exitCode = await runProgram('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json']);
