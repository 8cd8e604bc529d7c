import { assert } from '../ground/assert.ts';

/**
 * How much one replica lets callers hold open at once. Beyond it a call is answered UNAVAILABLE with a hint when to try again, before
 * anything of it is stored. The anonymous caller is everybody who gives no name, so only the limits of the replica hold for it.
 */
export interface CallLimits {
  /** Streams open on this replica. 10,000. */
  readonly streamsMax?: number;
  /** Streams of one named caller on this replica. 1,000. */
  readonly streamsPerCallerMax?: number;
  /** Sends that this replica has not answered yet, blocking ones mostly. 10,000. */
  readonly callsMax?: number;
  /** Unanswered sends of one named caller on this replica. 1,000. */
  readonly callsPerCallerMax?: number;
  /** A blocking send that has waited for so long answers with the task as it stands then (AMB-24). Off: it waits for the end of the turn. */
  readonly blockingMs?: number;
}

/** All limits, filled in. `blockingMs` stays absent when off. */
export type CallSettings = Required<Omit<CallLimits, 'blockingMs'>> & Pick<CallLimits, 'blockingMs'>;

/** Fills in the defaults and refuses what cannot work, with the option's name. */
export function callSettings(limits: CallLimits = {}): CallSettings {
  const { streamsMax = 10_000, streamsPerCallerMax = 1_000, callsMax = 10_000, callsPerCallerMax = 1_000, blockingMs } = limits;
  const settings = { streamsMax, streamsPerCallerMax, callsMax, callsPerCallerMax, ...(blockingMs === undefined ? {} : { blockingMs }) };
  for (const [name, value] of Object.entries(settings))
    assert(Number.isFinite(value) && value >= 0, `option limits.${name}: a number of at least 0 was expected, ${value} came`);
  return settings;
}
