import { parseArgs } from 'node:util';
import type { AgentOptions } from '../agent/options.ts';
import type { WireLimits } from '../bindings/exchange.ts';
import type { TurnOptions } from '../turn/options.ts';

/** What a command line says, read and checked. */
export interface Flags {
  /** `scripted` or a file. */
  readonly agent: string | undefined;
  /** `memory`, a file's path, or a database's URL. */
  readonly store: string;
  readonly port: number;
  readonly host: string | undefined;
  readonly publicUrl: string | undefined;
  readonly effects: string | undefined;
  readonly fault: string | undefined;
  readonly migrate: 'auto' | 'check';
  readonly endsWithInput: boolean;
  readonly wantsHelp: boolean;
  /** The options of the agent that were given. */
  readonly options: TurnOptions & Pick<AgentOptions, 'blockingMs' | 'streamUntil' | 'limits'>;
}

/** The command line makes no sense: one line says why, and the process ends with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Kind = 'number' | readonly string[];

/** Each option of the agent by its name; the compiler sees to it that none is missing. */
const turnKinds: Readonly<Record<keyof TurnOptions, Kind>> = {
  onLost: ['fail', 'retry', 'ask'],
  whileWorking: ['refuse', 'enqueue', 'interrupt'],
  leaseMs: 'number',
  tickMs: 'number',
  pollMs: 'number',
  inactivityMs: 'number',
  deadlineMs: 'number',
  queueMs: 'number',
  concurrency: 'number',
  queuedMax: 'number',
  cancelGraceMs: 'number',
  runawayMax: 'number',
  drainMs: 'number',
  pausedTtlMs: 'number',
  retentionMs: 'number',
  purgeEveryMs: 'number',
  taskEntriesMax: 'number',
  taskBytesMax: 'number',
  tries: 'number',
};

const limitKinds: Readonly<Record<keyof WireLimits, Kind>> = {
  bodyBytesMax: 'number',
  streamsMax: 'number',
  streamsPerCallerMax: 'number',
  callsMax: 'number',
  callsPerCallerMax: 'number',
  bodiesBytesMax: 'number',
  bodiesBytesPerCallerMax: 'number',
  answersBytesMax: 'number',
  answersBytesPerCallerMax: 'number',
};

const otherKinds = { blockingMs: 'number', streamUntil: ['answered', 'ended'] } as const;

const kinds: Readonly<Record<string, Kind>> = { ...turnKinds, ...limitKinds, ...otherKinds };

const texts = {
  agent: 'scripted, or the file of an agent: a module that exports `agent`',
  store: 'memory (the default) or the path of a SQLite file; replicas share it',
  port: '4000 unless given; 0 takes a free one',
  host: 'address to listen on: 127.0.0.1 unless given',
  'public-url': 'what the card says, in place of the address it listens on',
  effects: 'file to which the scripted agent appends what its runs do',
  fault: 'what a bad database does: final-write, final-refused, lost-ack, dead-ack, slow',
  migrate: 'auto (the default) brings the tables up to date, check only looks',
} as const;

const switches = {
  'end-with-input': 'end at once when standard input ends: the process does not outlive the one that started it',
  help: 'show this',
} as const;

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Reads a command line. Throws UsageError. */
export function parseFlags(args: readonly string[]): Flags {
  const values = parse(args);
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const migrate = text('migrate') ?? 'auto';
  if (migrate !== 'auto' && migrate !== 'check') throw new UsageError(`--migrate: auto or check was expected, ${migrate} came`);
  return {
    agent: text('agent'),
    store: text('store') ?? 'memory',
    port: numberOf('port', text('port') ?? '4000'),
    host: text('host'),
    publicUrl: text('public-url'),
    effects: text('effects'),
    fault: text('fault'),
    migrate,
    endsWithInput: values['end-with-input'] === true,
    wantsHelp: values['help'] === true,
    options: { ...given(turnKinds, text), ...given(otherKinds, text), ...limitsOf(given(limitKinds, text)) },
  };
}

/** What `--help` prints. */
export function usage(): string {
  const named = [...Object.entries(texts).map(([name, says]) => [`${name} …`, says]), ...Object.entries(switches)];
  const options = Object.entries(kinds).map(([name, kind]) => [kebab(name), kind === 'number' ? 'a number' : kind.join(' | ')]);
  const lines = [...named, ...options].map(([name = '', says = '']) => `  --${name.padEnd(20)} ${says}`);
  return ['npm start -- [--FLAG VALUE …]: serves an agent on one port; several with one --store are replicas', ...lines].join('\n');
}

function parse(args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const strings = [...Object.keys(texts), ...Object.keys(kinds).map(kebab)];
  const options = {
    ...Object.fromEntries(strings.map((name) => [name, { type: 'string' as const }])),
    ...Object.fromEntries(Object.keys(switches).map((name) => [name, { type: 'boolean' as const }])),
  };
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const [sentence = ''] = error instanceof Error ? error.message.split('. ') : [];
    throw new UsageError(`${sentence.replaceAll('\n', ' ')}; --help shows what there is`, { cause: error });
  }
}

/** The options of a table that the command line gives. */
function given(
  table: Readonly<Record<string, Kind>>,
  text: (name: string) => string | undefined,
): Readonly<Record<string, string | number>> {
  const found: Record<string, string | number> = {};
  for (const [name, kind] of Object.entries(table)) {
    const flag = kebab(name);
    const value = text(flag);
    if (value === undefined) continue;
    if (kind === 'number') found[name] = numberOf(flag, value);
    else if (kind.includes(value)) found[name] = value;
    else throw new UsageError(`--${flag}: ${kind.join(' or ')} was expected, ${value} came`);
  }
  return found;
}

function limitsOf(limits: Readonly<Record<string, string | number>>): Pick<AgentOptions, 'limits'> {
  return Object.keys(limits).length === 0 ? {} : { limits };
}

function numberOf(flag: string, value: string): number {
  if (!/^\d+(\.\d+)?$/.test(value)) throw new UsageError(`--${flag}: a number was expected, ${value} came`);
  return Number(value);
}
