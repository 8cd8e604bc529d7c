import type { NewEntry } from '../../src/log/entry.ts';
import type { AcceptAsk, AppendAsk, OnLost, TaskRow, WhileWorking } from '../../src/log/store.ts';
import type { Decisions, Shelf } from './shelf.ts';
import { limits, scope } from './shelf.ts';

// One task, its log, two replicas and their clients: what a state of this model is made of.

/** What a replica does by itself, beside what the store decides. Each is on; a rule is taken away by switching one off. */
export interface Habits {
  /** A grant that was started is not started again, however often it is told. */
  readonly startsOnce: boolean;
  /** Each tick it starts the turns that name it and that it never started. */
  readonly looksForHeld: boolean;
  /** A refusal after an unknown outcome is held against the log. */
  readonly looksIntoLog: boolean;
  /** A call of unknown outcome is asked again; the run goes on until an outcome is known. */
  readonly waitsForOutcome: boolean;
  /** A process draws its id when it starts. */
  readonly drawsId: boolean;
  /** A refused renewal ends the incarnation: its turns are left, and it goes on under a new id. */
  readonly endsWithRefusal: boolean;
  /** All tries of one send carry the key that was made before the first one. */
  readonly keepsKey: boolean;
  /** The store decides on the row under its lock, not on what was read when the call began. */
  readonly decidesUnderLock: boolean;
}

/** With all of them on. */
export const habits: Habits = {
  startsOnce: true,
  looksForHeld: true,
  looksIntoLog: true,
  waitsForOutcome: true,
  drawsId: true,
  endsWithRefusal: true,
  keepsKey: true,
  decidesUnderLock: true,
};

/** What a client wants, once. */
export interface Script {
  readonly does: 'send' | 'answer' | 'add' | 'cancel' | 'resume';
  readonly key: string;
  readonly whileWorking?: WhileWorking;
  /** The one replica it goes to, where the two are alike and half of the states are the other half in a mirror. */
  readonly via?: number;
  /** The replica it reaches takes the turn itself. */
  readonly hasRoom?: boolean;
  /** Only when every replica that is up lives, as far as it knows itself: all trouble is over. */
  readonly whenCalm?: boolean;
}

/** How often each thing may go wrong. */
export interface Faults {
  readonly cut: number;
  readonly crash: number;
  readonly restart: number;
  readonly pause: number;
  /** A lease ends although its replica lives. */
  readonly falseEnd: number;
  readonly drain: number;
}

const noFaults: Faults = { cut: 0, crash: 0, restart: 0, pause: 0, falseEnd: 0, drain: 0 };

/** How large the model is, and by which rules it goes. */
export interface Setup {
  readonly name: string;
  /** What the agent says, by turn: a state's short name, `TAKE` (the first waiting message), `LEAVE` (AUTH_REQUIRED, closed), or a chunk. */
  readonly programs: readonly (readonly string[])[];
  readonly clients: readonly Script[];
  readonly faults?: Partial<Faults>;
  readonly onLost?: OnLost;
  readonly triesMax?: number;
  /** Batches of one run that may be under way at once. */
  readonly flights?: number;
  /** The agent goes on talking after its last word: no engine of ours lets it, and the store does not rely on that. */
  readonly talksOn?: boolean;
  /** One replica claims at a time, and a lease ends falsely only while its replica holds the turn: other sizes go into that. */
  readonly isNarrow?: boolean;
  readonly decisions: Decisions;
  readonly habits: Habits;
}

/** One go of a replica at a turn, as far as it knows. */
export interface Run {
  /** Its place in the list of all runs: no two are the same, whatever fences and attempts say. */
  readonly no: number;
  readonly turn: number;
  readonly fence: number;
  /** Place in the program. */
  readonly at: number;
  /** What was said so far; a word's place is its ordinal. */
  readonly words: readonly string[];
  /** Ordinal up to which all is known to stand in the log, and up to which all was sent. */
  readonly known: number;
  readonly sent: number;
  readonly flights: number;
  /** An answer was not "applied": once all are back, the rest is asked again alone and in order. */
  readonly isTroubled: boolean;
  readonly isMending: boolean;
  readonly isDoubtful: boolean;
}

/** A process and its present incarnation. */
export interface Replica {
  readonly id: string;
  readonly life: 'up' | 'paused' | 'down';
  readonly isDraining: boolean;
  readonly run: Run | undefined;
  /** Highest fence that was started here, and, if its run is over, how to give the turn back should it still be held. */
  readonly started: number;
  readonly over: '' | 'drain' | 'silence';
  /** The client it serves; -1: none. */
  readonly serves: number;
  readonly isClaiming: boolean;
  readonly isReleasing: boolean;
  /** Only with a rule off: it was told that it is dead, and goes on. */
  readonly ignoresDeath: boolean;
}

/** What a replica asks the store, cut down to what can differ. */
export type Ask =
  | { readonly verb: 'accept'; readonly client: number; readonly key: string; readonly canStart: boolean }
  | { readonly verb: 'cancel'; readonly client: number }
  | { readonly verb: 'resume'; readonly client: number; readonly canStart: boolean }
  | { readonly verb: 'claim' }
  | { readonly verb: 'append'; readonly no: number; readonly fence: number; readonly first: number; readonly words: readonly string[] }
  | { readonly verb: 'release'; readonly fence: number; readonly why: 'drain' | 'silence' | 'interrupt' };

/** What comes back of a call, cut down to what its caller goes by. */
export interface Answer {
  readonly kind: string;
  readonly grant?: { readonly turn: number; readonly attempt: number; readonly fence: number; readonly holder: string };
}

/** A call under way. */
export interface Call {
  readonly by: number;
  readonly from: string;
  readonly ask: Ask;
  /** `late`: its link was cut before it ran; nobody hears of it any more, and it may still run. */
  readonly stage: 'asked' | 'late' | 'answered';
  readonly answer?: Answer;
  /** Only with a rule off: the store as it was when the call began. */
  readonly read?: Shelf;
}

/** What a client has come to. */
export interface Client {
  readonly at: 'idle' | 'waits' | 'told';
  readonly told: string;
  readonly tries: number;
}

/** A run that was ever begun. */
export interface RunRecord {
  readonly by: string;
  readonly turn: number;
  readonly attempt: number;
  readonly fence: number;
}

/** A state of this model. */
export interface World {
  readonly shelf: Shelf;
  /** Tasks that a repeat made beside the first one. */
  readonly twins: number;
  readonly replicas: readonly Replica[];
  readonly calls: readonly Call[];
  readonly clients: readonly Client[];
  readonly runs: readonly RunRecord[];
  /** Incarnations whose counter somebody saw stand still for a lease, with the count seen. */
  readonly suspects: Readonly<Record<string, number>>;
  /** Runs that were lost, not given back. */
  readonly losses: number;
  readonly left: Faults;
  /** Something befell a replica: its turn may be lost. */
  readonly isStruck: boolean;
  /** A promise that a step broke, seen only while it was taken. */
  readonly flaw: string;
}

/** Id of an incarnation: the process’s letter and its number. */
export const idOf = (by: number, incarnation: number): string => `${'AB'[by] ?? '?'}${incarnation}`;

/** A process that has just started. */
export const freshReplica = (id: string): Replica => ({
  id,
  life: 'up',
  isDraining: false,
  run: undefined,
  started: 0,
  over: '',
  serves: -1,
  isClaiming: false,
  isReleasing: false,
  ignoresDeath: false,
});

/** Nothing has happened yet. */
export function firstWorld({ clients, faults }: Setup, shelf: Shelf): World {
  return {
    shelf,
    twins: 0,
    replicas: Object.keys(shelf.replicas).map(freshReplica),
    calls: [],
    clients: clients.map(() => ({ at: 'idle', told: '', tries: 0 })),
    runs: [],
    suspects: {},
    losses: 0,
    left: { ...noFaults, ...faults },
    isStruck: false,
    flaw: '',
  };
}

/** A copy of a list with one member replaced. */
export function replaced<Item>(list: readonly Item[], at: number, item: Item): readonly Item[] {
  return list.map((one, index) => (index === at ? item : one));
}

/** A world with one replica changed. */
export function withReplica(world: World, by: number, change: Partial<Replica>): World {
  const replica = world.replicas[by];
  return replica === undefined ? world : { ...world, replicas: replaced(world.replicas, by, { ...replica, ...change }) };
}

const orderOf = new WeakMap<Call, string>();
const order = (call: Call): string => {
  const known = orderOf.get(call) ?? JSON.stringify(call);
  orderOf.set(call, known);
  return known;
};

/** Calls under way have no order: two worlds that differ only there are one. */
export function withCalls(world: World, calls: readonly Call[]): World {
  return { ...world, calls: calls.toSorted((one, other) => (order(one) < order(other) ? -1 : 1)) };
}

const states: Readonly<Record<string, NonNullable<NewEntry['state']>>> = {
  WORKING: 'TASK_STATE_WORKING',
  INPUT: 'TASK_STATE_INPUT_REQUIRED',
  AUTH: 'TASK_STATE_AUTH_REQUIRED',
  COMPLETED: 'TASK_STATE_COMPLETED',
  FAILED: 'TASK_STATE_FAILED',
  REJECTED: 'TASK_STATE_REJECTED',
};

/** Words after which a run says nothing more. */
export const isLastWord = (word: string): boolean => ['INPUT', 'COMPLETED', 'FAILED', 'REJECTED', 'LEAVE'].includes(word);

/** A word as the entry that a run appends; the body names the run, so that its author can be told from the fence it came under. */
function entryOf(word: string, no: number): NewEntry {
  const body = `${no} ${word}`;
  if (word === 'LEAVE') return { kind: 'closed', body };
  if (word.startsWith('TAKE')) return { kind: 'taken', taken: [Number(word.slice(4))], body };
  const state = states[word];
  return state === undefined ? { kind: 'artifact', body } : { kind: 'status', state, body };
}

/** The ask of a run’s words. */
export function appendAsk({ no, fence, first, words }: Extract<Ask, { readonly verb: 'append' }>): AppendAsk {
  return { taskId: 'task', fence, from: first, entries: words.map((word) => entryOf(word, no)) };
}

/** The ask of a client's message. */
export function acceptAsk(
  setup: Setup,
  { key, canStart }: { readonly key: string; readonly canStart: boolean },
  by: { readonly script: Script; readonly replica: string },
): AcceptAsk {
  const isNew = by.script.does === 'send';
  return {
    scope,
    taskId: 'task',
    isNew,
    ...(isNew ? { contextId: 'context' } : {}),
    key,
    digest: key,
    body: key,
    replica: by.replica,
    canStart,
    whileWorking: by.script.whileWorking ?? 'refuse',
    limits: limitsOf(setup),
  };
}

/** The limits that every turn of the model is accepted under. */
export const limitsOf = ({ onLost, triesMax }: Setup): AcceptAsk['limits'] => ({
  ...limits,
  onLost: onLost ?? 'fail',
  triesMax: triesMax ?? 3,
});

/** The grant that a row is, to whoever it names. */
export function grantOf({ phase, holder, turn, attempt, fence }: TaskRow): Pick<Answer, 'grant'> {
  return phase === 'open' && holder !== undefined ? { grant: { turn, attempt, fence, holder } } : {};
}
