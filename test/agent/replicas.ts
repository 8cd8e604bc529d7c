import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScripted } from '../../examples/scripted.ts';
import { createAgent } from '../../src/agent/agent.ts';
import type { Agent } from '../../src/agent/agent.ts';
import { memory } from '../../src/agent/memory.ts';
import type { AgentOptions } from '../../src/agent/options.ts';
import { sqlite } from '../../src/agent/sqlite.ts';
import type { Client } from '../../src/client/client.ts';
import { connect } from '../../src/client/connect.ts';
import { silentLogger } from '../../src/ground/logger.ts';
import type { StoreSource } from '../../src/log/store.ts';
import type { Message, Part, StreamResponse, Task } from '../../src/protocol/types.ts';

/** The stores every test of several replicas runs on. */
export const kinds = ['memory', 'sqlite'] as const;
export type Kind = (typeof kinds)[number];

/** Replicas of the scripted agent in this process, over one store. */
export class Replicas implements AsyncDisposable {
  readonly agents: readonly Agent[];
  readonly clients: readonly Client[];
  readonly #folder: string | undefined;

  private constructor(agents: readonly Agent[], clients: readonly Client[], folder: string | undefined) {
    this.agents = agents;
    this.clients = clients;
    this.#folder = folder;
  }

  static async open(kind: Kind, count: number, options: Partial<AgentOptions> = {}): Promise<Replicas> {
    const folder = kind === 'sqlite' ? await mkdtemp(join(tmpdir(), 'chorus-agent-')) : undefined;
    const shared = memory();
    // each replica opens the file for itself, as a process of its own would
    const source = (): StoreSource => (folder === undefined ? shared : sqlite(join(folder, 'tasks.db')));
    const agents = Array.from({ length: count }, () =>
      createAgent({ ...createScripted(), store: source(), logger: silentLogger, drainMs: 0, ...options }),
    );
    for (const agent of agents) await agent.start();
    return new Replicas(agents, await Promise.all(agents.map((agent) => connect(agent))), folder);
  }

  agent(index: number): Agent {
    const agent = this.agents[index];
    if (!agent) throw new Error(`no replica ${index}`);
    return agent;
  }

  client(index: number): Client {
    const client = this.clients[index];
    if (!client) throw new Error(`no replica ${index}`);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.close()));
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The task of an answer that must be one. */
export function taskOf(answer: Task | Message): Task {
  if ('status' in answer) return answer;
  throw new Error('a task was expected, a message came');
}

/** What a stream showed, in short. */
export function gist(item: StreamResponse): string {
  if ('task' in item) return `task:${item.task.status.state.slice(11)}`;
  if ('statusUpdate' in item) return `status:${item.statusUpdate.status.state.slice(11)}`;
  if ('artifactUpdate' in item) return `chunk:${textOf(item.artifactUpdate.artifact.parts)}`;
  return 'message';
}

/** The texts of parts, joined. */
export function textOf(parts: readonly Part[] = []): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('');
}

/** The texts of all artifacts of a task, by their ids. */
export function artifactsOf(task: Task): Readonly<Record<string, string>> {
  return Object.fromEntries((task.artifacts ?? []).map(({ name, artifactId, parts }) => [name ?? artifactId, textOf(parts)]));
}

/** Waits for a condition, with a deadline. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, ms = 15_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
