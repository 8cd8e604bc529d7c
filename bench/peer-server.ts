// The peer: the official JavaScript SDK on Express, as its own samples set it up. Argument: `memory` or a file for its SQL task store,
// which runs through Kysely on libsql with the same pragmas as ours. With `asked` after it, it tells on standard input's questions what it uses.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AgentCard, TaskState } from '@a2a-js/sdk';
import type { Artifact, TaskStatus } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import type { AgentExecutor, ExecutionEventBus, RequestContext, TaskStore } from '@a2a-js/sdk/server';
import { DatabaseTaskStore } from '@a2a-js/sdk/server/database';
import { UserBuilder, agentCardHandler, jsonRpcHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { Kysely, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { answerQuestions } from './gauge.ts';
import { ANSWER, CHUNK, chunkCount } from './words.ts';

const status = (state: TaskState): TaskStatus => ({ state, message: undefined, timestamp: new Date().toISOString() });

function artifact(artifactId: string, text: string): Artifact {
  const part = { content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' };
  return { artifactId, name: 'out', description: '', parts: [part], metadata: undefined, extensions: [] };
}

class BenchExecutor implements AgentExecutor {
  async execute({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const first = userMessage.parts[0]?.content;
    const text = first?.$case === 'text' ? first.value : '';
    const count = chunkCount(text);
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_WORKING),
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }),
    );
    if (text === 'rest') return new Promise(() => {}); // it works without a word until the process ends
    const texts = count === undefined ? [ANSWER] : Array.from({ length: count }, () => CHUNK);
    for (const [index, said] of texts.entries())
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: artifact('out', said),
          append: index > 0,
          lastChunk: index === texts.length - 1,
          metadata: undefined,
        }),
      );
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(TaskState.TASK_STATE_COMPLETED), metadata: undefined }));
    bus.finished();
    await Promise.resolve();
  }
  cancelTask = (): Promise<void> => Promise.resolve();
}

function openStore(file: string): TaskStore {
  if (file === 'memory') return new InMemoryTaskStore();
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  // the schema that its own tool prints
  const sdk = dirname(createRequire(import.meta.url).resolve('@a2a-js/sdk'));
  database.exec(
    execFileSync(process.execPath, [join(sdk, 'cli/a2a_db.js'), 'upgrade', '--sql', '--dialect', 'sqlite'], { encoding: 'utf8' }),
  );
  const dialect = new SqliteDialect({ database }); // libsql has better-sqlite3's interface, which this dialect is made for
  return new DatabaseTaskStore(new Kysely({ dialect }));
}

const app = express();
const server = createServer(app);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rpc`; // it listens on TCP
const card = AgentCard.fromJSON({
  name: 'peer',
  description: 'answers at once',
  version: '1.0.0',
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'answer', name: 'answer', description: 'answers', tags: ['answer'] }],
});
const requestHandler = new DefaultRequestHandler(card, openStore(process.argv[2] ?? 'memory'), new BenchExecutor());
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
console.log(JSON.stringify({ ready: true, url }));
process.once('SIGTERM', () => process.exit(0));
if (process.argv[3] === 'asked') answerQuestions();
