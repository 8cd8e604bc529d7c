/** What is done to replicas, each in a sentence. */
const faults = {
  kill: 'kill -9 of a replica that holds turns',
  stop: 'SIGSTOP past the lease, then SIGCONT',
  drain: 'SIGTERM: the process ends with 0 in time',
  stoppedCommit: 'SIGSTOP inside a commit: nobody can write until SIGCONT',
  deadAck: 'a process that dies between a commit and its answer (case 5)',
  full: 'a full disk, a kill on it, and room again',
} as const;

/** What must have happened, each in a sentence: a run that never came to one of these proves nothing about it. */
const rules = {
  takeoverFail: 'a turn of a dead replica was settled FAILED',
  takeoverRetry: 'one was queued anew',
  takeoverAsk: 'one was given back to its user',
  fencedVerb: 'a run that stood still past its lease spoke again and was refused',
  drainSettled: 'turns of a replica that left were settled',
  repeatedKey: 'an answered message was sent again under its key',
  repeatAfterLoss: 'a message without an answer was sent again under its key',
  keyWithOtherContent: 'another message under a used key was refused',
  cancelWon: 'a cancel came before the end',
  cancelLost: 'a cancel came after it',
  resumed: 'a question was answered',
  resumeRace: 'a question was answered twice at once',
  refusedWhileWorking: 'a message to a working task was refused',
  handOver: 'a message that waited got a turn of its own',
  inboxTaken: 'a turn took messages from its inbox',
  interrupt: 'a message interrupted a silent turn',
  heldForAuth: 'a turn that waits for credentials got them',
  claimedFromQueue: 'a queued turn was claimed',
  cut: 'a reader left in the middle of a stream',
  reconnectWithCursor: 'a reader went on behind its cursor, anywhere',
  lateSubscriber: 'a reader came to a task that was under way',
  throughFront: 'a send went through the round-robin front',
  unavailable: 'a call was answered UNAVAILABLE, and repeated',
  readWhileStopped: 'a read was answered while a writer stood still inside its commit',
  readWhileFull: 'reads were answered while the disk was full',
  wholeAfterFull: 'a turn that met the full disk ended whole',
} as const;

/** A kind of fault. */
export type FaultName = keyof typeof faults;

/** A rule of the design that a run has to come to. */
export type RuleName = keyof typeof rules;

// the keys of the tables above are what their types say: nobody adds any
export const FAULTS: readonly FaultName[] = Object.keys(faults) as FaultName[];
export const RULES: readonly RuleName[] = Object.keys(rules) as RuleName[];

const sentences: Readonly<Record<FaultName | RuleName, string>> = { ...faults, ...rules };

/** What a name stands for. */
export function sentenceOf(name: FaultName | RuleName): string {
  return sentences[name];
}

const ALL: readonly (FaultName | RuleName)[] = [...FAULTS, ...RULES];

/** How often each fault and each rule was reached. */
export class Reached {
  readonly #counts = new Map<FaultName | RuleName, number>(ALL.map((name) => [name, 0]));

  add(name: FaultName | RuleName, count = 1): void {
    this.#counts.set(name, this.of(name) + count);
  }

  of(name: FaultName | RuleName): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Those that were never reached. */
  get missing(): readonly (FaultName | RuleName)[] {
    return ALL.filter((name) => this.of(name) === 0);
  }

  /** By name, in the order above. */
  counts(names: readonly (FaultName | RuleName)[]): Readonly<Record<string, number>> {
    return Object.fromEntries(names.map((name) => [name, this.of(name)]));
  }
}
