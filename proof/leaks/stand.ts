import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Agent, AgentOptions, Run, StoreSource } from '../../src/index.ts';
import { createAgent, memory } from '../../src/index.ts';
import type { Reply } from '../../src/bindings/exchange.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import type { Signal } from '../../src/ground/signal.ts';
import { Stopper } from '../../src/ground/signal.ts';
import type { WakeSource } from '../../src/log/store.ts';
import type { Task } from '../../src/protocol/types.ts';
import { sqlite } from '../../src/sqlite.ts';
import { localHub } from '../../src/wakes/local.ts';

/** The stores that leaks are looked for on. */
export const stores = ['memory', 'sqlite'] as const;
export type StoreName = (typeof stores)[number];

/** A store that is gone when it is disposed of. */
export interface TempStore extends AsyncDisposable {
  readonly name: StoreName;
  readonly source: StoreSource;
}

export function tempStore(name: StoreName): TempStore {
  if (name === 'memory') return { name, source: memory(), [Symbol.asyncDispose]: async () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'chorus-leaks-'));
  return {
    name,
    source: sqlite(join(folder, 'tasks.db')),
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A wake for replicas of one process: on a clock of its own a doorbell would wait for a file system that keeps real time. */
export function nearWake(): WakeSource {
  const hub = localHub();
  return { name: 'near', reach: 'process', open: () => hub.open() };
}

/** Does what a message asks for: `ask`, `hold` until the signal fires, `flood N BYTES` pieces; anything else is said again. */
export const script: Run = async (turn) => {
  const [word, count = '0', bytes = '0'] = turn.text.split(' ');
  switch (word) {
    case 'ask':
      return turn.ask('Which?');
    case 'hold':
      return new Promise((resolve) => turn.signal.addEventListener('abort', () => resolve(undefined), { once: true }));
    case 'flood': {
      const out = turn.artifact('out');
      const piece = 'x'.repeat(Number(bytes));
      for (let index = 0; index < Number(count); index++) await out.append(piece);
      return undefined;
    }
    case 'stream':
      await turn.stream(['one', ' two', ' three']);
      return undefined;
    default:
      return turn.text;
  }
};

/** One more replica. */
export function replica(options: Partial<AgentOptions>): Agent {
  const card = { name: 'Leaks', description: 'Forgets everything.', version: '1.0.0' };
  return createAgent({ card, run: script, logger: silentLogger, ...options });
}

/** Waits until something holds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, deadlineMs = 60_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`leaks: waited in vain until ${what}`);
    await setTimeout(5);
  }
}

/** A request to an agent without a socket in between: what the mounts do for each of theirs. */
export async function ask(agent: Agent, line: string, json?: object, signal: Signal = new Stopper()): Promise<Reply> {
  const [method = 'GET', path = '/'] = line.split(' ');
  const headers: Readonly<Record<string, string>> = { 'a2a-version': '1.0', 'content-type': 'application/json' };
  const bytes = new TextEncoder().encode(json === undefined ? '' : JSON.stringify(json));
  const header = (name: string): string | undefined => headers[name.toLowerCase()];
  const reply = await agent.handle({ method, path, base: '', query: new URLSearchParams(), header, body: async () => bytes, signal });
  reply.onSent?.();
  return reply;
}

/** Sends a message and gives the task: as it ended or asked, or `begun`, as it was accepted. */
export async function send(
  agent: Agent,
  text: string,
  { taskId, begun = false }: { taskId?: string; begun?: boolean } = {},
): Promise<Task> {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text }], ...(taskId === undefined ? {} : { taskId }) };
  return taskIn(await ask(agent, 'POST /rest/message:send', { message, configuration: { returnImmediately: begun } }));
}

/** The task in an answer; anything else is a fault of the proof. */
export function taskIn({ status, body }: Reply): Task {
  if (status !== 200 || typeof body !== 'string') throw new Error(`leaks: a task was expected, ${status} came`);
  const answer = JSON.parse(body) as { readonly task?: Task } & Task; // an answer of ours to a send, or to a read or cancel
  return answer.task ?? answer;
}

/** Does something many times over, some at once. */
export async function many(count: number, act: (index: number) => Promise<unknown>, atOnce = 16): Promise<void> {
  let next = 0;
  const some = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: atOnce }, some));
}

/** Sockets that are open in this process, of either side. */
export const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
