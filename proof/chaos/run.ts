import { callerClock } from '../../src/ground/clock.ts';
import type { Complaint } from './complaint.ts';
import { seeded } from '../chance.ts';
import { Effects, startedOnce } from './effects.ts';
import { countTraces, keepEvidence } from './evidence.ts';
import type { Traces } from './evidence.ts';
import { DRAIN_MS, Hand } from './hand.ts';
import type { HandParts } from './hand.ts';
import { Load } from './load.ts';
import type { ChaosOptions } from './options.ts';
import { anyKill, Plan } from './plan.ts';
import type { Deed } from './plan.ts';
import { Policies } from './policies.ts';
import { Reached } from './reached.ts';
import { Report } from './report.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { pause } from './waits.ts';
import { Yard } from './yard.ts';

/** After so long what was seen is judged and forgotten: a history of half an hour would not fit into memory. */
const EPOCH_MS = 60_000;

const USERS = 6;

/** One hand for so many replicas: what it has in its grip is away, and the others are to go on. */
const REPLICAS_PER_HAND = 2;

/** How much longer than asked for a run may go on for what it has not reached yet. */
const GRACE_MS = 180_000;
const CYCLE_MS_MAX = 20_000;

/** Ended tasks are removed under the replicas' feet, long after they were judged. */
const RETENTION_MS = 300_000;

/** Runs until the time is up or the kills are done, and everything was reached. Tells a line about each stretch. */
export async function runChaos(options: ChaosOptions, tell: (line: string) => void = () => undefined): Promise<Report> {
  const policies = new Policies();
  const flags = ['--drain-ms', String(DRAIN_MS), '--retention-ms', String(RETENTION_MS), '--purge-every-ms', '10000'];
  const { store, replicas } = options;
  await using stage = await openStage({
    replicas,
    source: (place) => store.source(place),
    flags: (index) => [...flags, ...policies.flags(index)],
    ...(store.place === undefined ? {} : { store: store.place }),
  });
  stage.rig.recordLag();
  return await new Run(options, { stage, policies, tell }).toEnd(); // awaited here: the stage lives until then
}

interface RunParts {
  readonly stage: Stage;
  readonly policies: Policies;
  readonly tell: (line: string) => void;
}

class Run {
  readonly #options: ChaosOptions;
  readonly #parts: RunParts;
  readonly #random: () => number;
  readonly #reached = new Reached();
  readonly #plan: Plan;
  readonly #yard = new Yard();
  readonly #report: Report;
  readonly #effects: Effects;
  readonly #startedAt = callerClock.monotonic();
  readonly #seen: Complaint[] = [];
  /** Faults on replicas of their own that are under way. */
  readonly #aside: Promise<void>[] = [];

  constructor(options: ChaosOptions, parts: RunParts) {
    this.#options = options;
    this.#parts = parts;
    this.#random = seeded(options.seed);
    this.#plan = new Plan(this.#random, this.#reached);
    this.#report = new Report(options, this.#reached);
    this.#effects = new Effects(parts.stage.rig.effectsFile);
  }

  async toEnd(): Promise<Report> {
    try {
      do await this.#epoch();
      while (!this.#isOver);
    } catch (error) {
      const said = this.#parts.stage.troubles.slice(-20).join('\n');
      throw new Error(`the run with seed ${this.#options.seed} broke off; replicas say:\n${said}`, { cause: error });
    }
    this.#report.seconds = this.#elapsedMs / 1_000;
    return this.#report;
  }

  get #elapsedMs(): number {
    return callerClock.monotonic() - this.#startedAt;
  }

  get #isTimeUp(): boolean {
    const { minutes, cycles } = this.#options;
    return cycles === undefined ? this.#elapsedMs >= (minutes ?? 0) * 60_000 : this.#reached.of('kill') >= cycles;
  }

  get #isOver(): boolean {
    if (this.#report.violations.length > 0) return true; // what was broken is to be looked at, not to be buried under more
    const { minutes, cycles = 0 } = this.#options;
    const limitMs = GRACE_MS + (minutes ?? 0) * 60_000 + cycles * CYCLE_MS_MAX;
    return this.#elapsedMs >= limitMs || (this.#isTimeUp && this.#reached.missing.length === 0);
  }

  /** One stretch: load and faults, then quiet, then judgement. */
  async #epoch(): Promise<void> {
    const { stage, tell } = this.#parts;
    stage.forget();
    const shared = {
      ...this.#parts,
      random: this.#random,
      reached: this.#reached,
      complain: (one: Complaint) => void this.#seen.push(one),
    };
    const load = new Load(shared);
    load.start(USERS);
    try {
      await Promise.race([this.#faults(shared), load.failed()]);
    } finally {
      load.leave();
    }
    await load.end();
    const { verdict, stored } = await stage.judge({ readers: 2 });
    const effects = await this.#effects.news();
    const traces: Traces = { stored, kills: verdict.kills, facts: stage.history.facts, effects };
    countTraces(traces, this.#reached);
    const complaints = [...this.#seen.splice(0), ...startedOnce(effects)];
    this.#report.add(verdict, complaints);
    if (this.#report.violations.length > 0) {
      const file = await keepEvidence(traces, [...verdict.violations, ...complaints], this.#options.seed);
      tell(`what was seen of the tasks in question is in ${file}`);
    }
    tell(this.#report.line(this.#elapsedMs / 1_000));
  }

  /** All hands, until the stretch is over. */
  async #faults(shared: Omit<HandParts, 'taken' | 'disk' | 'judged'>): Promise<void> {
    const since = callerClock.monotonic();
    const isLast = this.#isTimeUp; // only what is missing brings a run here
    const isOver = (): boolean => {
      if (this.#seen.length > 0) return true;
      if (isLast) return callerClock.monotonic() - since >= EPOCH_MS / 4;
      return !this.#plan.isCovering && (this.#isTimeUp || callerClock.monotonic() - since >= EPOCH_MS);
    };
    const taken = new Set<number>();
    const parts: HandParts = { ...shared, taken, disk: this.#options.disk, judged: (verdict) => this.#report.add(verdict) };
    const hands = Array.from({ length: Math.floor(this.#options.replicas / REPLICAS_PER_HAND) }, () => new Hand(parts));
    const working = hands.map(async (hand, number) => {
      while (!isOver()) await this.#do(hand, isLast ? await this.#plan.nextMissing() : number === 0 ? this.#plan.next() : anyKill);
    });
    await Promise.all(working);
    await Promise.all(this.#aside.splice(0));
    for (const hand of hands) await hand.cleanUp();
  }

  async #do(hand: Hand, deed: Deed | undefined): Promise<void> {
    if (!deed) return;
    const run = async (): Promise<void> => {
      try {
        await deed.run(hand);
      } catch (error) {
        throw new Error(`the fault "${deed.fault}" could not be carried out`, { cause: error });
      }
    };
    if (deed.beside === 'others') return this.#yard.together(run);
    if (deed.beside === 'nobody') return this.#yard.alone(run);
    if (this.#aside.length > 0) return pause(1_000); // one is enough
    const aside = run();
    aside.catch(() => undefined); // told at the end of the stretch
    this.#aside.push(aside);
  }
}
