// npm test: everything that needs no service. `--runtime` runs only what depends on the version of Node: drivers, timers, sockets, `using`.
import { programStep, runSteps, stillSteps, vitestStep } from './steps.ts';

const rooms = ['stores', 'wakes', 'log', 'wire', 'turn', 'bindings', 'agent', 'mounts', 'client'].map((room) => `test/${room}/`);
const processes = ['kill-cycles', 'cancel', 'client'].map((name) => `test/replicas/${name}.test.ts`);

if (process.argv.includes('--runtime')) await runSteps([vitestStep(`tests on Node ${process.version}`, ...rooms, ...processes)]);
else await runSteps([...stillSteps, vitestStep('tests'), programStep('the lab, 2,000 seeds', 'proof/lab.ts', '--seeds', '2000')]);
