import type { ReplicaRow } from '../../src/log/rules/living.ts';
import { declareDead, isDead, ownBeat } from '../../src/log/rules/living.ts';
import type { ReplicaBeat } from '../../src/log/store.ts';
import { Liveness } from '../../src/turn/liveness.ts';
import type { Model, Step } from './explore.ts';

// Who lives: A watches B, and has to renew itself. Time goes in steps; in each of them everybody who can ticks once, in any order. A lease is
// four ticks, the least that is allowed, so every tick renews.

const TICK = 1;
const LEASE = 4 * TICK;
const END = 10;
/** B's last beat may be a tick old when it crashes; a lease later a look suspects it, and the next tick declares it dead. */
const FOUND_WITHIN = LEASE + 3 * TICK;

/** What judges a neighbour's beats. */
export type Judge = Pick<Liveness, 'look' | 'reset'>;

/** The rules of living, those of production. */
export interface LivingRules {
  readonly judge: () => Judge;
  readonly declareDead: typeof declareDead;
  /** B is dead when the time in its row is a lease old by the database's clock. */
  readonly goesByTimestamp: boolean;
}

/** With all rules. */
export const livingRules: LivingRules = {
  judge: () => new Liveness({ leaseMs: LEASE, tickMs: TICK }),
  declareDead,
  goesByTimestamp: false,
};

/** Production's judge, for looks that may be further apart than two ticks. */
export const gaplessJudge = (): Judge => new Liveness({ leaseMs: LEASE, tickMs: END });

/** What may happen to whom. */
export type Trouble =
  /** Nobody reaches the store. */
  | 'outage'
  /** The store answers looks and writes nothing. Today's stores fail the whole tick then; the rule is for those that do not. */
  | 'readOnly'
  /** Both processes stand still for a lease: their machine was suspended. */
  | 'suspend'
  /** The database's clock steps ahead by a lease. */
  | 'clock'
  /** B crashes. */
  | 'crash'
  /** B alone is stopped, for any time. */
  | 'stop';

/** What A's judge was asked. A judge keeps its state to itself, so it is asked all of it again for each step. */
type Asked = { readonly at: number; readonly beat?: number };

/** A state of this model. */
export interface Lives {
  /** A's own time. */
  readonly now: number;
  readonly asked: readonly Asked[];
  readonly suspects: readonly ReplicaBeat[];
  readonly b: ReplicaRow;
  readonly life: 'up' | 'stopped' | 'crashed';
  /** B was stopped, by itself: then it may be taken for dead. */
  readonly wasStopped: boolean;
  readonly store: 'well' | 'away' | 'readOnly';
  /** What may still happen: each trouble comes once, and lasts as long as it likes. */
  readonly left: readonly Trouble[];
  /** Since when B is crashed and everything else is well. */
  readonly findableSince: number;
  readonly clockAhead: number;
  readonly renewedAtClock: number;
  readonly hasATicked: boolean;
  readonly hasBTicked: boolean;
  readonly flaw: string;
}

const first: Omit<Lives, 'left'> = {
  now: 0,
  asked: [],
  suspects: [],
  b: { replica: 'B', beat: 0 },
  life: 'up',
  wasStopped: false,
  store: 'well',
  findableSince: END,
  clockAhead: 0,
  renewedAtClock: 0,
  hasATicked: false,
  hasBTicked: false,
  flaw: '',
};

/** The model of one observer and the one it watches. */
export function livesModel(rules: LivingRules, troubles: readonly Trouble[]): Model<Lives> {
  return {
    first: { ...first, left: troubles },
    steps: (lives) => stepsOf(rules, lives),
    broken: ({ flaw }) => (flaw === '' ? undefined : flaw),
    unfinished: () => undefined,
  };
}

function* stepsOf(rules: LivingRules, lives: Lives): Generator<Step<Lives>> {
  if (lives.flaw !== '' || lives.now >= END) return;
  if (!lives.hasATicked) yield tickOfA(rules, lives);
  if (!lives.hasBTicked && lives.life === 'up') yield tickOfB(lives);
  if (lives.hasATicked && (lives.hasBTicked || lives.life !== 'up')) yield { label: 'time: passes', to: passed(lives, TICK) };
  for (const trouble of lives.left) {
    const to = struck(trouble, { ...lives, left: lives.left.filter((other) => other !== trouble) });
    if (to !== undefined) yield { label: labels[trouble], isFault: true, to };
  }
  if (lives.store !== 'well' && isBetween(lives))
    yield {
      label: 'STORE is well again',
      isFault: true,
      to: { ...lives, store: 'well', findableSince: lives.life === 'crashed' ? lives.now : END },
    };
  if (lives.life === 'stopped') yield { label: 'GOES ON B', isFault: true, to: { ...lives, life: 'up' } };
}

const labels: Readonly<Record<Trouble, string>> = {
  outage: 'STORE is away',
  readOnly: 'STORE can only be read',
  suspend: 'SUSPENDED, both, for a lease',
  clock: 'CLOCK of the database steps ahead by a lease',
  crash: 'CRASH B',
  stop: 'STOP B',
};

/** The store changes between two steps of time only: what hits one tick hits the other's as well. */
const isBetween = ({ hasATicked, hasBTicked }: Lives): boolean => !hasATicked && !hasBTicked;

function struck(trouble: Trouble, lives: Lives): Lives | undefined {
  const { life, store, now } = lives;
  switch (trouble) {
    case 'outage':
    case 'readOnly':
      return isBetween(lives) && store === 'well'
        ? { ...lives, store: trouble === 'outage' ? 'away' : 'readOnly', findableSince: END }
        : undefined;
    case 'suspend':
      return isBetween(lives) && life === 'up' ? passed(lives, LEASE) : undefined;
    case 'clock':
      return { ...lives, clockAhead: LEASE };
    case 'crash':
      return life === 'up' ? { ...lives, life: 'crashed', findableSince: store === 'well' ? now : END } : undefined;
    case 'stop':
      return life === 'up' ? { ...lives, life: 'stopped', wasStopped: true } : undefined;
  }
}

function passed(lives: Lives, time: number): Lives {
  const now = lives.now + time;
  const isUnfound = now - lives.findableSince > FOUND_WITHIN && !isDead(lives.b);
  return {
    ...lives,
    now,
    hasATicked: false,
    hasBTicked: false,
    flaw: isUnfound ? 'P6: a crash is not found within a lease and its ticks' : '',
  };
}

function tickOfB(lives: Lives): Step<Lives> {
  const { b, now, store, clockAhead } = lives;
  const renewed = store === 'well' ? ownBeat(b, 'renew', now) : undefined;
  const to = { ...lives, hasBTicked: true };
  if (renewed === undefined) return { label: 'B: cannot renew', to };
  return { label: `B: renews to ${renewed.beat}`, to: { ...to, b: renewed, renewedAtClock: now + clockAhead } };
}

/** Renews, declares dead whom the look before made suspect, and looks. */
function tickOfA(rules: LivingRules, lives: Lives): Step<Lives> {
  const { store, now } = lives;
  const ticked: Lives = { ...lives, hasATicked: true };
  const failed: Asked = { at: now };
  if (store === 'away') return { label: 'A: its tick fails', to: { ...ticked, asked: recent([...lives.asked, failed], now) } };
  const to = store === 'well' ? declared(rules, ticked) : ticked;
  if (isDead(to.b)) return { label: 'A: declares B dead', to };
  const { b } = to;
  const asked = [...lives.asked, ...(store === 'readOnly' ? [failed] : []), { at: now, beat: b.beat }];
  const suspects = judged(rules, asked);
  // a death that is first suspected is declared at once, not with the next tick
  const isHurried = suspects.length > 0 && lives.suspects.length === 0;
  const silent = suspects.length > 0 ? ', which stood still for a lease' : '';
  return {
    label: `A: sees the beat ${b.beat}${silent}${store === 'readOnly' ? ', cannot renew' : ''}`,
    to: { ...to, asked: recent(asked, now), suspects, hasATicked: !isHurried },
  };
}

/** What the judge says at last, of all it was asked: looks, and own renewals that failed. */
function judged(rules: LivingRules, asked: readonly Asked[]): readonly ReplicaBeat[] {
  const judge = rules.judge();
  let suspects: readonly ReplicaBeat[] = [];
  for (const { at, beat } of asked) {
    if (beat === undefined) judge.reset();
    else suspects = judge.look([{ replica: 'B', beat }], { sentAt: at, receivedAt: at });
  }
  return suspects;
}

/** What is older than a lease cannot change the judgement: a count that began before is a lease old either way. */
const recent = (asked: readonly Asked[], now: number): readonly Asked[] => asked.filter(({ at }) => at >= now - LEASE);

function declared(rules: LivingRules, lives: Lives): Lives {
  let { b, flaw } = lives;
  const isLate = lives.now + lives.clockAhead - lives.renewedAtClock >= LEASE;
  const suspects = rules.goesByTimestamp ? (isLate ? [{ replica: 'B', beat: b.beat }] : []) : lives.suspects;
  for (const seen of suspects) {
    const dead = rules.declareDead(b, seen, lives.now);
    if (dead === undefined) continue;
    if (b.beat !== seen.beat) flaw = 'P6: a replica is declared dead that has renewed since it was seen silent';
    else if (lives.life === 'up' && !lives.wasStopped) flaw = 'P6: a living replica is declared dead';
    b = dead;
  }
  return { ...lives, b, flaw, suspects: [] };
}
