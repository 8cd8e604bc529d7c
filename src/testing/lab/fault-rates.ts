import type { Chance } from './chance.ts';

/** What happens to a whole replica, or to the clocks. */
export type Mishap = 'crash' | 'pause' | 'unlink' | 'readOnly' | 'drain' | 'jump' | 'skew' | 'forge';

/** How often what goes wrong while faults are on. Shares are of 1; a run draws its own by its seed unless they are given. */
export interface FaultRates {
  /** What is in order takes a few milliseconds nevertheless. */
  readonly latency: number;
  /** A store call fails, and nothing was done. */
  readonly lostCall: number;
  /** A store call is done, and its answer is lost. */
  readonly lostAnswer: number;
  /** A store call fails, and is done all the same, later: perhaps when its replica is long dead. */
  readonly lateCall: number;
  /** A store call is done late, and its caller waits. */
  readonly slowCall: number;
  /** A hint does not arrive. */
  readonly wakeLost: number;
  readonly wakeDoubled: number;
  readonly wakeLate: number;
  /** A request does not arrive. */
  readonly lostRequest: number;
  /** An answer does not arrive. */
  readonly lostReply: number;
  /** A stream is cut after one of its next events, perhaps in the middle of one. */
  readonly cut: number;
  /** Time between two mishaps, on average. */
  readonly mishapEveryMs: number;
  /** Which of them, by weight. */
  readonly mishaps: Readonly<Record<Mishap, number>>;
}

/** Nothing goes wrong, and nothing takes any time: for tests that move every step by hand. */
export const calm: FaultRates = {
  latency: 0,
  lostCall: 0,
  lostAnswer: 0,
  lateCall: 0,
  slowCall: 0,
  wakeLost: 0,
  wakeDoubled: 0,
  wakeLate: 0,
  lostRequest: 0,
  lostReply: 0,
  cut: 0,
  mishapEveryMs: Infinity,
  mishaps: { crash: 0, pause: 0, unlink: 0, readOnly: 0, drain: 0, jump: 0, skew: 0, forge: 0 },
};

/** Of so many calls each takes its time: enough that answers overtake each other, and rare enough that time is not spent on waiting. */
const LATENCY = 0.25;

/** Nothing goes wrong, and nothing is done in no time. */
export const peace: FaultRates = { ...calm, latency: LATENCY };

/** The faults of one run: some runs have few of a kind and some have many, so that no fault hides behind another. */
export function drawRates(chance: Chance): FaultRates {
  const share = (most: number): number => chance.pick([0, most / 4, most]) ?? 0;
  const weight = (): number => chance.pick([0, 1, 3]) ?? 0;
  return {
    latency: LATENCY,
    lostCall: share(0.08),
    lostAnswer: share(0.12),
    lateCall: share(0.08),
    slowCall: share(0.1),
    wakeLost: share(0.6),
    wakeDoubled: share(0.4),
    wakeLate: share(0.4),
    lostRequest: share(0.1),
    lostReply: share(0.2),
    cut: share(0.2),
    mishapEveryMs: chance.pick([400, 1_000, 2_500]) ?? 1_000,
    mishaps: {
      crash: weight(),
      pause: weight(),
      unlink: weight(),
      readOnly: weight(),
      drain: weight(),
      jump: weight(),
      skew: weight(),
      forge: 1,
    },
  };
}
