// npm run demo: three replicas, a kill, nothing lost; ends with 0 only if the checker finds every promise kept.
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { callerClock } from '../ground/clock.ts';
import type { Verdict } from '../testing/checker.ts';
import { Rig } from '../testing/rig.ts';
import { DEMO_LEASE_MS, Story } from './demo/story.ts';
import { Transcript } from './demo/transcript.ts';

const poet = fileURLToPath(new URL('../../examples/streaming.ts', import.meta.url));

const USAGE = 'npm run demo -- [--agent FILE] [--text TEXT]: the story with your agent; TEXT is what it is asked';

async function demo({ agent, text }: { readonly agent?: string; readonly text?: string }): Promise<boolean> {
  const out = new Transcript(process.stdout, callerClock);
  out.say(out.bold('Chorus: one agent, three replicas, one SQLite file, any replica for any call.'));
  out.say('Starting three processes …');
  const flags = ['--lease-ms', String(DEMO_LEASE_MS), '--on-lost', 'retry'];
  await using rig = await Rig.open({ agent: agent ?? poet, replicas: 3, flags });
  rig.recordLag();
  for (const { name, url, pid } of rig.replicas) out.say(`  ${name}  ${url}  process ${pid}`);
  out.say(`  front ${rig.front.url} sends each request to the next of them`);
  const story = new Story(rig, out);
  const wishes = { opening: text ?? 'A poem, please?', answer: text ?? 'a falling replica' };
  await story.canceledFromAfar(wishes);
  await story.lostAndTakenOver(wishes);
  return tellVerdict(out, await story.verdict());
}

function tellVerdict(out: Transcript, { violations, counted, kills }: Verdict): boolean {
  out.chapter('The verdict');
  out.say(
    `  ${counted.items} stream items, ${counted.sends} sends and ${counted.cancels} cancels were seen, and ${counted.entries} entries`,
  );
  out.say(`  of ${counted.tasks} logs read, on every replica that lives: same entries, same order, none missing, none twice.`);
  for (const { settled } of kills) {
    for (const { wallMs } of settled) if (wallMs !== undefined) out.say(`  The turn of the killed replica was settled after ${wallMs} ms.`);
  }
  for (const { promise, taskId, says } of violations) out.say(out.red(`  ${promise} broken, task ${taskId ?? 'unknown'}: ${says}`));
  const isKept = violations.length === 0 && counted.entries > 0;
  out.say(isKept ? out.green('  Every promise was kept.') : out.red('  A promise was broken.'));
  return isKept;
}

async function main(): Promise<void> {
  let values: { readonly agent?: string; readonly text?: string };
  try {
    ({ values } = parseArgs({ options: { agent: { type: 'string' }, text: { type: 'string' } } }));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    process.exitCode = 2;
    return;
  }
  process.exitCode = (await demo(values)) ? 0 : 1;
}

await main();
