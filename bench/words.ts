/** What one chunk carries: 1 KB of text. */
export const CHUNK: string = 'x'.repeat(1_024);

/** What an agent that answers at once says. */
export const ANSWER = 'Hello!';

/** How many chunks a message asks for (`chunks N`); undefined for any other message, which is answered at once. */
export function chunkCount(text: string): number | undefined {
  const found = /^chunks (\d+)$/.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** A JSON-RPC request. */
export const rpc = (method: string, params: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** A JSON-RPC request that sends one message of a new task. */
export function sendRequest(method: 'SendMessage' | 'SendStreamingMessage', text: string, configuration?: object): string {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  return rpc(method, { message, ...(configuration && { configuration }) });
}

/** A JSON-RPC request that starts a task and does not wait for it. */
export const startRequest = (text: string): string => sendRequest('SendMessage', text, { returnImmediately: true });
