import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AgentOptions } from '../agent/options.ts';
import { UsageError } from './flags.ts';

/** What a file's `agent` may be told when it is a function. */
export interface AgentSettings {
  readonly effects?: string;
}

// beside the sources, or compiled with them; the published package has no examples and is given a file
const example = (name: string): string => {
  const [source = '', ...others] = ['ts', 'js'].map((ending) =>
    fileURLToPath(new URL(`../../examples/${name}.${ending}`, import.meta.url)),
  );
  return [source, ...others].find((file) => existsSync(file)) ?? source;
};

/**
 * The agent a command line names: `scripted`, or a file whose export `agent` (or default export) is an agent, the options of one, or a
 * function that makes options. The first agent unless told.
 */
export async function agentOptionsOf(name: string | undefined, settings: AgentSettings): Promise<AgentOptions> {
  const file = fileOf(name);
  if (!existsSync(file)) throw new UsageError(`--agent: scripted or the file of an agent was expected, there is no ${file}`);
  const loaded: unknown = await import(pathToFileURL(file).href);
  const given = memberOf(loaded, 'agent') ?? memberOf(loaded, 'default');
  const made: unknown = typeof given === 'function' ? given(settings) : given;
  const options = memberOf(made, 'options') ?? made;
  if (!isAgentOptions(options)) throw new UsageError(`--agent: ${file} exports no \`agent\` made by createAgent`);
  return options;
}

function fileOf(name: string | undefined): string {
  if (name === undefined) return example('first');
  return name === 'scripted' ? example('scripted') : resolve(name);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function isAgentOptions(value: unknown): value is AgentOptions {
  const card = memberOf(value, 'card');
  return typeof memberOf(value, 'run') === 'function' && typeof card === 'object' && card !== null;
}
