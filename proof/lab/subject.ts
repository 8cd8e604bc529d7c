// The agent that the lab torments: it does what a message says, a word at a time, and remembers which of its verbs told it that they are on
// the log.
import { sleep } from '../../src/ground/clock.ts';
import { keptWords, spokenInOrder, spokenWhole } from './subject-checks.ts';
import type { Said } from './subject-checks.ts';
import type { AgentOptions, Clock, Outcome, Random, Turn } from '../../src/index.ts';
import type { Chance, LabCheck, LabParts } from '../../src/testing.ts';

/** What is the same for all replicas of one run. */
export interface LabSubject {
  readonly agent: (parts: LabParts) => AgentOptions;
  readonly messages: (chance: Chance) => string;
  readonly checks: readonly LabCheck[];
}

interface Scene {
  readonly turn: Turn;
  readonly clock: Clock;
  readonly random: Random;
  readonly said: Said[];
}

const LEASE_MS = 2_000;

/** An agent whose options are drawn by the seed. */
export function labSubject(chance: Chance): LabSubject {
  const said: Said[] = [];
  const options = drawOptions(chance);
  return {
    agent: ({ clock, random }) => ({ ...options, run: (turn) => obey({ turn, clock, random, said }) }),
    messages: script,
    checks: [(stored) => keptWords(said, stored), spokenInOrder, ...(options.whileWorking === 'interrupt' ? [] : [spokenWhole])],
  };
}

function drawOptions(chance: Chance): Omit<AgentOptions, 'run'> {
  return {
    card: { name: 'Subject', description: 'Does what it is told.', version: '1.0.0' },
    onLost: chance.pick(['fail', 'retry', 'retry', 'ask'] as const) ?? 'fail',
    whileWorking: chance.pick(['refuse', 'enqueue', 'enqueue', 'interrupt', 'interrupt'] as const) ?? 'refuse',
    concurrency: chance.pick([1, 2, 4, 64]) ?? 64,
    leaseMs: LEASE_MS,
    drainMs: 4_000,
    cancelGraceMs: 800,
    inactivityMs: 20_000,
    pausedTtlMs: chance.pick([3_000, 6_000, 3_600_000]) ?? 6_000,
    purgeEveryMs: 5_000,
    streamUntil: chance.pick(['answered', 'answered', 'ended'] as const) ?? 'answered',
    ...(chance.happens(0.3) ? { blockingMs: 2_500 } : {}),
    tries: 3,
    reply: (_message, { text }) => (text === 'reply' ? 'small talk' : undefined),
  };
}

const verbs = [
  'emit 2',
  'emit 5',
  'emit 12',
  'drip 8',
  'drip 16',
  'stream 6',
  'work',
  'note',
  'wait 150',
  'wait 700',
  'wait 2500',
  'deaf 900',
  'inbox',
  'hold',
];
const ends = ['', '', '', 'say', 'ask', 'ask', 'auth', 'auth', 'fail', 'refuse'];

function script(chance: Chance): string {
  if (chance.happens(0.03)) return 'reply';
  const words = Array.from({ length: chance.between(1, 3) }, () => chance.pick(verbs) ?? 'work');
  return [...words, chance.pick(ends) ?? ''].join(';');
}

async function obey(scene: Scene): Promise<Outcome | string | undefined> {
  const { turn } = scene;
  for (const [index, command] of turn.text.split(';').entries()) {
    if (turn.signal.aborted && index % 2 === 0) return undefined;
    const [word = '', count = '1'] = command.split(' ');
    const end = await step(scene, word, { count: Number(count), name: `${index}` });
    if (end !== undefined) return end;
  }
  return undefined;
}

async function step(
  scene: Scene,
  word: string,
  { count, name }: { readonly count: number; readonly name: string },
): Promise<Outcome | string | undefined> {
  const { turn, clock } = scene;
  switch (word) {
    case 'emit':
      return emit(scene, name, count);
    case 'drip':
      return drip(scene, name, count);
    case 'stream':
      await turn.stream(deltas(scene, count), { artifactId: `${turn.id}-${name}` });
      return undefined;
    case 'work':
      await turn.working(`attempt ${turn.attempt}`);
      return undefined;
    case 'note':
      await turn.note({ attempt: turn.attempt });
      return undefined;
    case 'wait':
      await sleep(clock, count, turn.signal);
      return undefined;
    case 'deaf': // does not listen to its signal
      await sleep(clock, count);
      return undefined;
    case 'inbox': {
      const taken = await turn.inbox.take();
      await turn.working(`took ${taken.length}`);
      return undefined;
    }
    case 'hold': {
      await turn.askForAuth('May I?');
      await Promise.race([turn.inbox.next(), sleep(clock, 1_500, turn.signal)]);
      await turn.working('thanks');
      return undefined;
    }
    case 'say':
      return `said by attempt ${turn.attempt}`;
    case 'ask':
      return turn.ask('And then?');
    case 'auth':
      return turn.askForAuth('Log in, please.');
    case 'refuse':
      return turn.refuse('No.');
    case 'fail':
      throw new Error('as it happens');
    default:
      return undefined;
  }
}

/** Chunks of one artifact, some awaited and some not. */
async function emit({ turn, random, said, clock }: Scene, name: string, count: number): Promise<undefined> {
  const out = turn.artifact(`out ${name}`);
  for (let number = 0; number < count; number++) {
    const text = `${turn.attempt}:${number} `;
    const done = out.append(text).then(() => said.push({ taskId: turn.task.id, turn: turn.id, text }));
    if (random.fraction() < 0.4) await done;
    else done.catch(() => undefined); // the next one that is awaited tells
    if (random.fraction() < 0.2) await sleep(clock, 300 * random.fraction(), turn.signal);
  }
}

/** Chunks one by one, for longer than some replicas live. */
async function drip({ turn, clock }: Scene, name: string, count: number): Promise<undefined> {
  const out = turn.artifact(`out ${name}`);
  for (let number = 0; number < count; number++) {
    await out.append(`${turn.attempt}:${number} `);
    await sleep(clock, 220);
  }
}

async function* deltas({ clock, random, turn }: Scene, count: number): AsyncGenerator<string> {
  for (let number = 0; number < count; number++) {
    yield `${number} `;
    if (random.fraction() < 0.5) await sleep(clock, 200 * random.fraction(), turn.signal);
  }
}
