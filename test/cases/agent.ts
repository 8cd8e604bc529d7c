// The scripted agent, with a few words more that only tests of cases need. They stand alone in a message and begin with `!`.
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { AgentOptions, Content, Message, Outcome, Turn } from 'chorus-a2a';
import { createScripted } from '../../examples/scripted.ts';
import type { ScriptedSettings } from '../../examples/scripted.ts';
import type * as errors from '../../src/protocol/errors.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // what the flag above exposes

/** What a replica's process holds at this moment. */
export interface Held {
  readonly heapBytes: number;
  /** Sockets, timers, watches and whatever else keeps the loop busy. */
  readonly handles: number;
  readonly files: number;
}

async function held(): Promise<Held> {
  collectGarbage();
  await delay(10); // what finalizers of the first round let go is for the second
  collectGarbage();
  const { heapUsed: heapBytes, external, arrayBuffers } = process.memoryUsage();
  return {
    heapBytes: heapBytes + external + arrayBuffers,
    handles: process.getActiveResourcesInfo().length,
    files: readdirSync('/proc/self/fd').length,
  };
}

/** Words of the first kind: answered with a bare message. */
async function reply(text: string): Promise<Content | undefined> {
  return text === '!held' ? JSON.stringify(await held()) : undefined;
}

const runs: Readonly<Record<string, (turn: Turn, rest: string) => Promise<Content | Outcome | undefined>>> = {
  /** Says what came behind the word, whatever it is. */
  '!echo': async (_turn, rest) => rest,
  /** Gives back the parts of its message. */
  '!parts': async (turn) => turn.message.parts.slice(1),
  /** Throws an error of another copy of the package (case 69). */
  '!copy': async (_turn, rest) => {
    const copy = new URL('../../src/protocol/errors.ts?another-copy', import.meta.url);
    const { taskNotFound } = (await import(copy.href)) as typeof errors; // the same file, loaded again
    throw taskNotFound(rest);
  },
  /** Returns what is no content at all (ERR-21). */
  '!nonsense': async () => ({ parts: 7 }) as unknown as Content, // on purpose not what the type says
  /** Needs a sign-in, gets it by another way after a while, and goes on by itself (case 49, ITA-06). */
  '!sign-in': async (turn, rest) => {
    await turn.askForAuth('Sign in, please.');
    await delay(Number(rest), undefined, { signal: turn.signal });
    await turn.working('Signed in.');
    return 'welcome';
  },
  /** One artifact, written as case 56 wants it. */
  '!pieces': async (turn) => {
    const options = { artifactId: 'pieces', name: 'pieces' };
    await turn.artifact('pieces', { ...options, metadata: { a: 1, b: 1 } }).write('old');
    await turn.artifact('pieces', { ...options, metadata: { b: 2 } }).append('er');
    await turn.artifact('pieces', { ...options, metadata: { c: 3 } }).append('!');
    await turn.working('once more');
    await turn.artifact('pieces', { ...options, metadata: { a: 9 } }).write('new');
    await turn.artifact('pieces', { ...options, metadata: { d: 4 } }).append('er');
    await turn.artifact('pieces', options).append('!', { isLast: true });
    return turn.complete();
  },
};

/** The scripted agent and these words. */
export function agent(settings: ScriptedSettings = {}): AgentOptions {
  const scripted = createScripted(settings);
  return {
    ...scripted,
    reply: (message, context) => (context.text.startsWith('!') ? reply(context.text) : scripted.reply?.(message, context)),
    run: (turn) => {
      const [word = '', ...rest] = firstText(turn.message).split(' ');
      const run = Object.hasOwn(runs, word) ? runs[word] : undefined;
      return run ? run(turn, rest.join(' ')) : scripted.run(turn);
    },
  };
}

function firstText({ parts: [first] }: Message): string {
  return first && 'text' in first ? first.text : '';
}
