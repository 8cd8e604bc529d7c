// An agent whose wake reaches other machines, whatever store it is given.
import type { AgentOptions } from 'chorus-a2a';

/** Fine with a store that its replicas share, and with no other (case 36). */
export const agent: AgentOptions = {
  card: { name: 'Far', description: 'Wakes replicas far away.', version: '1.0.0' },
  run: () => 'here',
  wake: {
    name: 'far',
    reach: 'network',
    open: () => {
      throw new Error('the wake is not opened before its store was looked at');
    },
  },
};
