/** What is done to replicas. */
export const FAULTS = ['kill', 'stop', 'drain', 'stoppedCommit', 'deadAck', 'full'] as const;

/** What must have happened: a run that never came to one of these proves nothing about it. */
export const RULES = [
  'takeoverFail',
  'takeoverRetry',
  'takeoverAsk',
  'fencedVerb',
  'drainSettled',
  'repeatedKey',
  'repeatAfterLoss',
  'keyWithOtherContent',
  'cancelWon',
  'cancelLost',
  'resumed',
  'resumeRace',
  'refusedWhileWorking',
  'handOver',
  'inboxTaken',
  'interrupt',
  'heldForAuth',
  'claimedFromQueue',
  'cut',
  'reconnectWithCursor',
  'lateSubscriber',
  'throughFront',
  'unavailable',
  'readWhileStopped',
  'readWhileFull',
  'wholeAfterFull',
] as const;

/** A kind of fault. */
export type FaultName = (typeof FAULTS)[number];

/** A rule of the design that a run has to come to. */
export type RuleName = (typeof RULES)[number];

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
