import { assert } from '../ground/assert.ts';
import type { OnLost, TurnLimits, WhileWorking } from '../log/store.ts';

/** How turns are run. Every option has a default; times are milliseconds. */
export interface TurnOptions {
  /** What becomes of a turn whose replica is lost: 'fail' (default), 'retry' on another, or 'ask' the user again (P6). */
  readonly onLost?: OnLost;
  /** A message to a task with a queued or open turn: 'refuse' (default), 'enqueue', or 'interrupt' (AMB-07). */
  readonly whileWorking?: WhileWorking;
  /** A replica silent for so long is dead. 10,000. */
  readonly leaseMs?: number;
  /** Time between two looks at the store. min(600, leaseMs / 4); a lease under 4 ticks is refused. */
  readonly tickMs?: number;
  /** Time between two looks while something is watched or running and no wake is proven. 250. */
  readonly pollMs?: number;
  /** A turn that appends nothing for so long ends FAILED (INACTIVE). 900,000. */
  readonly inactivityMs?: number;
  /** A run longer than this ends FAILED (DEADLINE). Off. */
  readonly deadlineMs?: number;
  /** A turn queued longer than this ends FAILED (QUEUE_TIMEOUT). 3,600,000. */
  readonly queueMs?: number;
  /** Turns this replica runs at once; 0 answers only. 64. */
  readonly concurrency?: number;
  /** Queued turns of all replicas beyond which new tasks get UNAVAILABLE. 10,000. */
  readonly queuedMax?: number;
  /** How long code that ignores its signal keeps its slot, and how long an interrupted turn may take to end. 5,000. */
  readonly cancelGraceMs?: number;
  /** Runaway codes (past their grace, still running) beyond which the replica claims no more. 16. */
  readonly runawayMax?: number;
  /** How long a shutdown may take. 25,000. */
  readonly drainMs?: number;
  /** INPUT_REQUIRED or closed AUTH_REQUIRED for longer: FAILED (EXPIRED). 30 days. */
  readonly pausedTtlMs?: number;
  /** A terminal task older than this is purged; its keys go with it. 7 days. */
  readonly retentionMs?: number;
  /** Time between two purges. 60,000. */
  readonly purgeEveryMs?: number;
  /** Entries of one task; the turn that exceeds it ends FAILED (LIMIT). 100,000. */
  readonly taskEntriesMax?: number;
  /** Bytes of one task's entries, likewise. 64 MiB. */
  readonly taskBytesMax?: number;
  /** Runs of one turn that may be lost with `onLost: 'retry'`. 3. */
  readonly tries?: number;
}

/** All options, filled in. `deadlineMs` stays absent when off. */
export type TurnSettings = Required<Omit<TurnOptions, 'deadlineMs'>> & Pick<TurnOptions, 'deadlineMs'>;

const DAY_MS = 86_400_000;

/** Fills in the defaults and refuses what cannot work, with the option's name. */
export function turnSettings(options: TurnOptions): TurnSettings {
  const leaseMs = options.leaseMs ?? 10_000;
  const settings: TurnSettings = {
    onLost: 'fail',
    whileWorking: 'refuse',
    tickMs: Math.min(600, leaseMs / 4),
    pollMs: 250,
    inactivityMs: 900_000,
    queueMs: 3_600_000,
    concurrency: 64,
    queuedMax: 10_000,
    cancelGraceMs: 5_000,
    runawayMax: 16,
    drainMs: 25_000,
    pausedTtlMs: 30 * DAY_MS,
    retentionMs: 7 * DAY_MS,
    purgeEveryMs: 60_000,
    taskEntriesMax: 100_000,
    taskBytesMax: 64 * 1_048_576,
    tries: 3,
    ...withoutUndefined(options),
    leaseMs,
  };
  check(settings);
  return settings;
}

/** The limits that a turn is accepted under. */
export function turnLimits(settings: TurnSettings): TurnLimits {
  return {
    onLost: settings.onLost,
    triesMax: settings.tries,
    queueMs: settings.queueMs,
    pausedTtlMs: settings.pausedTtlMs,
    retentionMs: settings.retentionMs,
    entriesMax: settings.taskEntriesMax,
    bytesMax: settings.taskBytesMax,
  };
}

function withoutUndefined(options: TurnOptions): TurnOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)); // the same keys, fewer of them
}

const MAY_BE_ZERO: ReadonlySet<string> = new Set(['concurrency', 'cancelGraceMs', 'runawayMax', 'queuedMax', 'drainMs', 'retentionMs']);

function check(settings: TurnSettings): void {
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value !== 'number') continue;
    const least = MAY_BE_ZERO.has(name) ? 0 : 1;
    assert(Number.isFinite(value) && value >= least, `option ${name}: a number of at least ${least} was expected, ${value} came`);
  }
  const { leaseMs, tickMs } = settings;
  assert(leaseMs >= 4 * tickMs, `option leaseMs: at least 4 ticks (${4 * tickMs} ms) were expected, ${leaseMs} came`);
}
