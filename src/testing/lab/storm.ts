import type { Clock } from '../../ground/clock.ts';
import type { History } from '../facts.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import type { Chance } from './chance.ts';
import type { FaultRates, Mishap } from './fault-rates.ts';
import type { Hub } from './hub.ts';
import type { Reached } from './reached.ts';
import type { LabReplica } from './replica.ts';
import type { Trace } from './trace.ts';

/** What a storm can reach. */
export interface StormParts {
  readonly chance: Chance;
  readonly clock: VirtualClock;
  readonly hub: Hub;
  readonly reached: Reached;
  readonly trace: Trace;
  readonly leaseMs: number;
  readonly history: History;
  readonly replicas: readonly LabReplica[];
  readonly taskIds: () => readonly string[];
  /** Names of the replicas that hold turns. */
  readonly holders: () => ReadonlySet<string>;
  readonly restart: (place: number) => Promise<void>;
}

/** What is to be put right again, and when. */
interface Repair {
  readonly at: number;
  readonly work: () => Promise<void> | void;
}

const JUMP_MS_MAX = 3_600_000;

/** Mishaps one after another: replicas crash, stand still, lose the store or are shut down, clocks jump, and most of it is mended again. */
export class Storm {
  readonly #parts: StormParts;
  #repairs: Repair[] = [];

  constructor(parts: StormParts) {
    this.#parts = parts;
  }

  /** Moves time on by `ms`. */
  async blow(ms: number, rates: FaultRates): Promise<void> {
    const { clock, chance } = this.#parts;
    const end = clock.monotonic() + ms;
    const pauseMs = (): number => Math.min(rates.mishapEveryMs * 2 * chance.fraction(), ms);
    for (let next = clock.monotonic() + pauseMs(); clock.monotonic() < end;) {
      const repair = this.#nextRepair();
      const at = Math.min(next, repair?.at ?? Infinity, end);
      await clock.advance(Math.max(0, at - clock.monotonic()));
      if (repair && repair.at <= at) {
        this.#repairs = this.#repairs.filter((one) => one !== repair);
        await repair.work();
      } else if (at === next) {
        next = at + Math.max(1, pauseMs());
        this.#strike(rates);
      }
    }
  }

  /** Puts everything right that is still to be put right. */
  async end(): Promise<void> {
    for (const { work } of this.#repairs.splice(0)) await work();
  }

  #nextRepair(): Repair | undefined {
    return this.#repairs.reduce<Repair | undefined>((first, one) => (first && first.at <= one.at ? first : one), undefined);
  }

  #strike({ mishaps }: FaultRates): void {
    const { chance, replicas, reached } = this.#parts;
    const kind = chance.weighted(mishaps);
    const place = this.#victim();
    const replica = replicas[place];
    if (!replica || replica.isGone) return;
    reached.count(kind === 'drain' ? 'drain' : kind, kind === 'drain' ? 0 : 1); // a drain counts when it is done
    this.#mishap(kind, replica, place);
  }

  /** Mostly one that holds a turn: what happens to an idle replica shows little. */
  #victim(): number {
    const { chance, replicas, holders } = this.#parts;
    const holding = holders();
    const held = replicas.flatMap(({ name }, place) => (holding.has(name) ? [place] : []));
    return (chance.happens(0.7) ? chance.pick(held) : undefined) ?? chance.below(replicas.length);
  }

  #mishap(kind: Mishap, replica: LabReplica, place: number): void {
    const { chance, clock, hub, leaseMs, trace, history, taskIds, restart } = this.#parts;
    switch (kind) {
      case 'crash':
        replica.crash();
        return this.#later(chance.pick([200, leaseMs, 2.5 * leaseMs]), () => restart(place));
      case 'pause':
        replica.pause();
        return this.#later(chance.pick([300, 1.6 * leaseMs, 2.5 * leaseMs]), () => replica.goOn());
      case 'unlink':
        replica.unlink(chance.happens(0.5) ? 'cut' : 'hang');
        return this.#later(chance.pick([300, leaseMs, 2 * leaseMs]), () => replica.mend());
      case 'readOnly':
        replica.unlink('readOnly');
        return this.#later(chance.pick([300, leaseMs, 2 * leaseMs]), () => replica.mend());
      case 'drain':
        if (replica.isPaused) return;
        history.record({ kind: 'leave', at: clock.monotonic(), observer: 'lab', replica: replica.name });
        void replica.drain().then(() => this.#later(chance.pick([200, leaseMs]), () => restart(place)));
        return;
      case 'jump': {
        const ms = chance.between(-JUMP_MS_MAX, JUMP_MS_MAX);
        trace.note('lab', `the store's clock jumps by ${ms} ms`);
        return clock.jump(ms);
      }
      case 'skew':
        return replica.clock.jump(chance.between(-JUMP_MS_MAX, JUMP_MS_MAX));
      case 'forge':
        return hub.forge(taskIds());
      default:
    }
  }

  #later(ms: number | undefined, work: Repair['work']): void {
    const clock: Clock = this.#parts.clock;
    this.#repairs.push({ at: clock.monotonic() + (ms ?? 0), work });
  }
}
