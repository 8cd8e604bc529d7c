// npm run check: what must be right before every commit, in under a minute on two cores
import { runSteps, stillSteps, vitestStep } from './steps.ts';

await runSteps([...stillSteps, vitestStep('fast tests', '--project', 'fast')]);
