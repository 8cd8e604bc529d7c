// npm test: everything that needs no service. `--runtime` runs only what depends on the version of Node.
import { runSteps, stillSteps, vitestStep } from './steps.ts';

const rooms = ['stores', 'wakes', 'log', 'wire', 'turn', 'operations', 'bindings', 'agent', 'mounts', 'client', 'replicas'];
const runtimeRooms = rooms.map((room) => `test/${room}/`);

if (process.argv.includes('--runtime')) await runSteps([vitestStep(`tests on Node ${process.version}`, ...runtimeRooms)]);
else await runSteps([...stillSteps, vitestStep('tests')]);
