import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express from 'express';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The official SDK's server with a small agent: "ask…" asks, "slow…" streams three chunks, "slowest…" a second apart, anything else is echoed. */
class Executor implements AgentExecutor {
  readonly #canceled = new Set<string>();

  async execute({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const [part] = userMessage.parts;
    const text = part?.content?.$case === 'text' ? part.content.value : '';
    const status = (state: string): void =>
      bus.publish(
        AgentEvent.statusUpdate(
          TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status: { state, timestamp: new Date().toISOString() } }),
        ),
      );
    const chunk = (said: string, append: boolean): void =>
      bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({
            taskId,
            contextId,
            artifact: { artifactId: 'out', parts: [{ text: said }] },
            append,
            lastChunk: false,
          }),
        ),
      );
    // the SDK wants a task first in every turn: of a follow-up the client sees the state before its answer once more
    const fresh = Task.fromJSON({
      id: taskId,
      contextId,
      status: { state: 'TASK_STATE_SUBMITTED' },
      history: [Message.toJSON(userMessage)],
    });
    bus.publish(AgentEvent.task(task ?? fresh));
    if (!task && text.startsWith('ask')) return status('TASK_STATE_INPUT_REQUIRED');
    status('TASK_STATE_WORKING');
    if (!text.startsWith('slow')) chunk(`echo: ${text}`, false);
    for (let i = 0; text.startsWith('slow') && i < 3; i++) {
      await sleep(text.startsWith('slowest') ? 1_000 : 100);
      if (this.#canceled.has(taskId)) return;
      chunk(`${i} `, i > 0);
    }
    status('TASK_STATE_COMPLETED');
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    this.#canceled.add(taskId);
    const status = { state: 'TASK_STATE_CANCELED', timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: '', status })));
    await Promise.resolve();
  }
}

/** Starts it on a free port. */
export async function openSdkServer(): Promise<{ readonly url: string; readonly server: Server }> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  const card = AgentCard.fromJSON({
    name: 'sdk',
    description: 'the official SDK',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'echo', description: 'echoes', tags: ['echo'] }],
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
  const parts = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler(parts));
  app.use('/rest', restHandler(parts));
  return { url, server };
}
