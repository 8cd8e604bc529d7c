import { setTimeout as delay } from 'node:timers/promises';
import { A2AError } from 'chorus-a2a';
import { isErrorCode } from 'chorus-a2a/protocol';
import type { Message, Outcome, Turn } from 'chorus-a2a';
import type { Tell } from './effects.ts';
import { badCommand, numbers, optionalText, splitFirst } from './script.ts';
import type { Command } from './script.ts';

/** What the words of one run share. */
export interface Scene {
  readonly turn: Turn;
  readonly tell: Tell;
  /** Numbers the chunks over all `emit`s of the turn. */
  emitted: number;
}

/** What a word leads to: `go` on with the next, `stop` the list because the signal fired, or the end of the turn. */
export type Step = 'go' | 'stop' | Outcome;

type Word = (scene: Scene, command: Command) => Promise<Step>;

/** Chunks on their way to the log before the next one waits: enough to fill a commit, few enough to stop soon. */
const CHUNKS_IN_FLIGHT = 256;

/** Every word of the language, by its name; `late` and `reply` are not here: they say how the others are read. */
export const words: Readonly<Record<string, Word>> = {
  emit,
  async artifact({ turn }, { rest }) {
    const [name, text] = splitFirst(rest);
    if (name === '') throw badCommand('artifact', 'NAME TEXT');
    await turn.artifact(name).write(text, { isLast: true });
    return 'go';
  },
  async append({ turn }, { rest }) {
    const [name, text] = splitFirst(rest);
    if (name === '') throw badCommand('append', 'NAME TEXT');
    await turn.artifact(name, { artifactId: name }).append(text);
    return 'go';
  },
  async data({ turn }, { rest }) {
    await turn.artifact('data').write({ data: parseJson(rest) }, { isLast: true });
    return 'go';
  },
  async work({ turn }, { rest }) {
    await turn.working(optionalText(rest));
    return 'go';
  },
  async silent({ turn }, command) {
    const [ms = 0] = numbers(command, 1);
    return (await pause(ms, turn.signal)) ? 'go' : 'stop';
  },
  async deaf(_scene, command) {
    const [ms = 0] = numbers(command, 1);
    await delay(ms);
    return 'go';
  },
  async tick({ turn, tell }, command) {
    const [ms = 0, count = 0] = numbers(command, 2);
    for (let number = 1; number <= count; number++) {
      if (number > 1 && !(await pause(ms, turn.signal))) return 'stop';
      if (turn.signal.aborted) return 'stop';
      tell('tick');
    }
    return 'go';
  },
  async block(_scene, command) {
    const [ms = 0] = numbers(command, 1);
    for (const end = performance.now() + ms; performance.now() < end;);
    return 'go';
  },
  async meta({ turn }, { rest }) {
    const [key, text] = splitFirst(rest);
    if (key === '') throw badCommand('meta', 'KEY TEXT');
    await turn.note({ [key]: text });
    return 'go';
  },
  ask: async ({ turn }, { rest }) => turn.ask(optionalText(rest)),
  auth: async ({ turn }, { rest }) => turn.askForAuth(optionalText(rest)),
  async 'hold-auth'({ turn }, { rest }) {
    await turn.askForAuth(optionalText(rest));
    const answer = await turn.inbox.next();
    if (!answer) return 'stop';
    await turn.artifact('answer').write(textOf(answer), { isLast: true });
    return 'go';
  },
  async inbox({ turn }) {
    for (const message of await turn.inbox.take()) await turn.artifact('inbox').append(textOf(message));
    return 'go';
  },
  async whoami({ turn }) {
    const { name = null, tenant = null } = turn.caller;
    await turn.artifact('caller').write({ data: { name, tenant, replica: turn.replica, attempt: turn.attempt } }, { isLast: true });
    return 'go';
  },
  async related({ turn }) {
    await turn.artifact('related').write({ data: (await turn.related()).map((task) => task.id) }, { isLast: true });
    return 'go';
  },
  async history({ turn }) {
    await turn.artifact('history').write(turn.history.map(textOf).join('\n'), { isLast: true });
    return 'go';
  },
  async fail(_scene, { rest }) {
    throw new Error(optionalText(rest) ?? 'The script says so.');
  },
  async error(_scene, { rest }) {
    const [code, text] = splitFirst(rest);
    if (!isErrorCode(code)) throw badCommand('error', 'CODE TEXT');
    throw new A2AError(code, optionalText(text) ?? 'The script says so.');
  },
  refuse: async ({ turn }, { rest }) => turn.refuse(optionalText(rest)),
  done: async ({ turn }, { rest }) => turn.complete(optionalText(rest)),
};

async function emit(scene: Scene, command: Command): Promise<Step> {
  const [count = 0, gapMs = 0, bytes = 0] = numbers(command, 2, 3);
  const { signal } = scene.turn;
  const out = scene.turn.artifact('out');
  const inFlight = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for (let number = 0; number < count && failures.length === 0; number++) {
    if (signal.aborted || (number > 0 && gapMs > 0 && !(await pause(gapMs, signal)))) break;
    const chunk: Promise<void> = out
      .append(`${++scene.emitted} `.padEnd(bytes, '.'))
      .catch((error: unknown) => void failures.push(error))
      .finally(() => inFlight.delete(chunk));
    inFlight.add(chunk);
    if (inFlight.size >= CHUNKS_IN_FLIGHT) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  if (failures.length > 0) throw failures[0];
  return signal.aborted ? 'stop' : 'go';
}

/** Waits; false when the signal fired first. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    return false; // an aborted delay rejects with AbortError and with nothing else
  }
  return !signal.aborted;
}

function textOf(message: Message): string {
  return message.parts.map((part) => ('text' in part ? part.text : '')).join('');
}

function parseJson(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text);
  } catch {
    throw badCommand('data', 'JSON');
  }
}
