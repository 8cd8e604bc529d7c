import type { Agent } from '../../agent/agent.ts';
import type { AgentOptions } from '../../agent/options.ts';
import type { Identify } from '../../bindings/exchange.ts';
import type { Clock } from '../../ground/clock.ts';
import type { Random } from '../../ground/random.ts';

/** What the lab hands to each replica of an agent; an agent that keeps time or chance of its own takes them from here. */
export interface LabParts {
  /** Name of the replica: `a1`, and `a2` when it was started anew. */
  readonly replica: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** The agent under test: what it is made of, one that was made already (its options are used), or what makes it for a replica. */
export type LabAgent = AgentOptions | Agent | ((parts: LabParts) => AgentOptions | Agent);

/** What the agent of a replica is made of. */
export function optionsOf(agent: LabAgent, parts: LabParts): AgentOptions {
  const made = typeof agent === 'function' ? agent(parts) : agent;
  return 'options' in made ? made.options : made;
}

/** The options that say when things happen. */
export function timesOf(options: AgentOptions): Pick<AgentOptions, 'leaseMs' | 'tickMs' | 'pollMs'> {
  const { leaseMs, tickMs, pollMs } = options;
  return {
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(tickMs === undefined ? {} : { tickMs }),
    ...(pollMs === undefined ? {} : { pollMs }),
  };
}

/** Who has a name in the header is that caller: for agents that do not ask who calls. */
export const byHeader: Identify = (request) => {
  const name = request.header('authorization')?.replace(/^Bearer /, '');
  return name === undefined ? undefined : { name };
};
