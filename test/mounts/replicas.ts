import { createScripted } from '../../examples/scripted.ts';
import { createAgent, memory, silentLogger } from '../../src/index.ts';
import type { AgentOptions, Task } from '../../src/index.ts';
import { serve } from '../../src/mounts/node.ts';
import type { Answered, Asking, RawCaller, Wanted } from '../bindings/callers.ts';
import { jsonRpc } from '../bindings/callers.ts';
import type { OperationName } from '../../src/wire/operations.ts';

/** Replicas of the scripted agent over one memory, each on a server of its own. */
export interface Cluster extends AsyncDisposable {
  readonly urls: readonly [string, string];
  /** Asks one replica by one binding. */
  ask(replica: 0 | 1, caller: RawCaller, operation: OperationName, wanted: Wanted, asking?: Asking): Promise<Answered>;
  /** Sends a script without waiting for its end, as a caller of that name. */
  start(script: string, name?: string): Promise<Task>;
  /** Sends a script and waits for its end. */
  send(script: string, name?: string): Promise<Task>;
}

/** `Authorization: Bearer NAME` makes the caller NAME. */
export const as = (name: string | undefined): Record<string, string> => (name === undefined ? {} : { authorization: `Bearer ${name}` });

export const messageOf = (text: string): Wanted => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] });

export async function openCluster(more: Partial<AgentOptions> = {}): Promise<Cluster> {
  const store = memory();
  const open = async () => {
    const agent = createAgent({
      ...createScripted(),
      identify: (request) => {
        const [scheme, name] = (request.header('authorization') ?? '').split(' ');
        return scheme === 'Bearer' && name !== undefined ? { name } : undefined;
      },
      logger: silentLogger,
      store,
      drainMs: 2_500,
      ...more,
    });
    return serve(agent, { signals: false });
  };
  const [a, b] = [await open(), await open()];
  const urls = [a.url, b.url] as const;
  const ask: Cluster['ask'] = async (replica, caller, operation, wanted, asking) =>
    caller.read(await caller.fetch(urls[replica], operation, wanted, asking));
  const send = async (script: string, name: string | undefined, returnImmediately: boolean): Promise<Task> => {
    const { result, error } = await ask(
      0,
      jsonRpc,
      'SendMessage',
      { message: messageOf(script), configuration: { returnImmediately } },
      { headers: as(name) },
    );
    if (error) throw new Error(error.message);
    return (result as { readonly task: Task }).task; // the scripts of these tests all open a task
  };
  return {
    urls,
    ask,
    start: (script, name) => send(script, name, true),
    send: (script, name) => send(script, name, false),
    async [Symbol.asyncDispose]() {
      await Promise.all([a.close(), b.close()]);
    },
  };
}
