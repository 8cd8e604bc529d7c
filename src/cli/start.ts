#!/usr/bin/env node
// npm start: one process, one replica of an agent. Several with the same --store are replicas of one agent.
import { createAgent } from '../agent/agent.ts';
import type { AgentOptions } from '../agent/options.ts';
import type { Identify } from '../bindings/exchange.ts';
import { serve } from '../mounts/node.ts';
import { agentOptionsOf } from './agent-flag.ts';
import { parseFlags, usage, UsageError } from './flags.ts';
import type { Flags } from './flags.ts';
import { storeOf } from './store-flag.ts';

/** `authorization: Bearer NAME` makes the caller NAME: good enough to try things, no authentication. */
const byBearer: Identify = (request) => {
  const [, name] = /^Bearer (.+)$/i.exec(request.header('authorization') ?? '') ?? [];
  return name === undefined ? undefined : { name };
};

async function start(flags: Flags): Promise<void> {
  const { effects, publicUrl, host, port } = flags;
  const store = storeOf(flags);
  const given = await agentOptionsOf(flags.agent, effects === undefined ? {} : { effects });
  const options: AgentOptions = {
    identify: byBearer,
    ...given,
    ...flags.options,
    store,
    ...(publicUrl === undefined ? {} : { publicUrl }),
  };
  const agent = createAgent(options);
  const served = await serve(agent, { port, ...(host === undefined ? {} : { host }) });
  // the only line on standard output: whoever started the process reads it
  process.stdout.write(`${JSON.stringify({ ready: true, url: served.url, pid: process.pid, replica: agent.replica })}\n`);
  if (flags.endsWithInput) endWithInput();
}

/** Ends as a kill would: whoever held the other end of the pipe is gone, and nobody is left to wait for a drain. */
function endWithInput(): void {
  process.stdin.on('close', () => process.kill(process.pid, 'SIGKILL')).resume();
  if ('unref' in process.stdin && typeof process.stdin.unref === 'function') process.stdin.unref(); // it must not keep a drained process alive
}

async function main(): Promise<void> {
  try {
    const flags = parseFlags(process.argv.slice(2));
    if (flags.wantsHelp) process.stderr.write(`${usage()}\n`);
    else await start(flags);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

await main();
