// An agent that does not stream, requires an extension, and lets in who has a key and, for more than reading, the right to write.
import { A2AError } from 'chorus-a2a';
import type { AgentOptions } from 'chorus-a2a';

/** The extension that every request has to name. */
export const REQUIRED = 'https://example.com/extensions/careful/v1';

/** Guarded at every door. */
export const agent: AgentOptions = {
  card: {
    name: 'Guarded',
    description: 'Lets few in.',
    version: '1.0.0',
    capabilities: { streaming: false, extensions: [{ uri: REQUIRED, required: true }] },
  },
  identify(request) {
    const [, name] = /^Key (\w+)$/.exec(request.header('authorization') ?? '') ?? [];
    if (name === undefined)
      throw new A2AError('UNAUTHENTICATED', 'A key is needed: Authorization: Key NAME.', {
        metadata: { challenge: 'Key realm="guarded"' },
      });
    if (name === 'reader')
      throw new A2AError('PERMISSION_DENIED', 'This key lacks the scope tasks.write.', { metadata: { scope: 'tasks.write' } });
    return { name };
  },
  run: (turn) => `Hello, ${turn.caller.name}`,
};
