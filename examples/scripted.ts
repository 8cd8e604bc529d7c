// An agent whose behaviour is told by the message it gets: a list of commands separated by `;`, run in order. Tests, the demo and anyone's
// own probe drive it over the wire:  npm start -- --agent scripted --port 4000 --store tasks.db --effects effects.jsonl
import { setTimeout as delay } from 'node:timers/promises';
import { isA2AError } from 'chorus-a2a';
import type { AgentOptions, Outcome, Turn } from 'chorus-a2a';
import { effectsOf } from './scripted/effects.ts';
import type { Tell } from './scripted/effects.ts';
import { badCommand, parseScript } from './scripted/script.ts';
import type { Command } from './scripted/script.ts';
import { words } from './scripted/words.ts';
import type { Scene, Step } from './scripted/words.ts';

/** What the scripted agent can be told at its start. */
export interface ScriptedSettings {
  /** File to which each run appends what it does; replicas share it. */
  readonly effects?: string;
}

/** The scripted agent. */
export function createScripted({ effects }: ScriptedSettings = {}): AgentOptions {
  return {
    card: {
      name: 'Scripted',
      description: 'Does what the message says: a list of commands separated by semicolons.',
      version: '1.0.0',
      defaultInputModes: ['*/*'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [
        {
          id: 'script',
          name: 'Script',
          description: 'Runs commands such as "work; emit 10 100; done".',
          tags: ['testing'],
          examples: ['work; emit 10 100; done', 'ask Who are you?'],
        },
      ],
    },
    reply: (_message, { text }) => replyOf(text),
    run: (turn) => play(turn, effectsOf(turn, effects)),
  };
}

/** What `npm start` makes replicas of. */
export const agent: (settings?: ScriptedSettings) => AgentOptions = createScripted;

/** `reply TEXT`, first and alone, is small talk: everything else opens a task. */
function replyOf(text: string): string | undefined {
  const [command, ...others] = parseScript(text);
  return command?.word === 'reply' && others.length === 0 ? command.rest : undefined;
}

async function play(turn: Turn, tell: Tell): Promise<Outcome | undefined> {
  tell('start');
  if (turn.signal.aborted) tell('abort');
  turn.signal.addEventListener('abort', () => tell('abort'), { once: true });
  try {
    return await obeyAll({ turn, tell, emitted: 0 }, parseScript(turn.text), false);
  } finally {
    tell('end');
  }
}

/** Runs the commands in order. `late` lets those go on that stand behind the end of the turn, to show that their verbs are refused. */
async function obeyAll(scene: Scene, commands: readonly Command[], isLate: boolean): Promise<Outcome | undefined> {
  let goesOn = isLate;
  for (const [index, command] of commands.entries()) {
    if (command.word === 'late') {
      goesOn = true;
      continue;
    }
    const afterwards = (): void => {
      if (goesOn) void obeyAfterTheEnd(scene, commands.slice(index + 1));
    };
    let step: Step;
    try {
      step = await obey(scene, command);
    } catch (error) {
      afterwards();
      throw error;
    }
    if (step === 'go' || (step === 'stop' && goesOn)) continue;
    if (step === 'stop') return undefined;
    afterwards();
    return step;
  }
  return undefined;
}

/** One command. A verb that was refused means that the turn is over: it is told and stops the list. */
async function obey(scene: Scene, command: Command): Promise<Step> {
  const word = Object.hasOwn(words, command.word) ? words[command.word] : undefined;
  if (!word) throw badCommand(command.word, command.word === 'reply' ? 'TEXT, first and alone' : undefined);
  try {
    return await word(scene, command);
  } catch (error) {
    const isRefusal = command.word !== 'error' && isA2AError(error) && error.code === 'UNSUPPORTED_OPERATION';
    if (!isRefusal) throw error;
    scene.tell('refused');
    return 'stop';
  }
}

/** Long enough for the end of the turn to be on the log before the first late verb. */
const END_IS_WRITTEN_MS = 100;

async function obeyAfterTheEnd(scene: Scene, commands: readonly Command[]): Promise<void> {
  await delay(END_IS_WRITTEN_MS);
  await obeyAll(scene, commands, true).catch(() => undefined); // nobody waits for it: what was refused has been told
}
