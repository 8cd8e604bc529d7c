import type { Clock } from '../../ground/clock.ts';
import { settled } from '../../ground/settled.ts';
import type { Hint, Wake } from '../../log/wake.ts';
import type { Chance } from './chance.ts';
import type { FaultRates } from './fault-rates.ts';
import type { Gate } from './gate.ts';

/** What the hub is made of. */
export interface HubParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly rates: () => FaultRates;
  /** Whether replicas believe that hints arrive. One that believes it and loses them anyway is the worst case. */
  readonly isProven: boolean;
  /** A hint on its way to a replica was lost or held up. */
  readonly onFault: (receiver: string, how: 'wakeLost' | 'wakeDoubled' | 'wakeLate') => void;
}

/** A replica that listens. */
interface Member {
  readonly name: string;
  readonly gate: Gate;
  listener?: (hints: readonly Hint[]) => void;
}

const LATE_MS_MAX = 2_000;
const LATENCY_MS = 3;

/** Carries hints between the replicas of a lab: late, twice, or not at all, as the faults say, and sometimes what nobody has sent. */
export class Hub {
  readonly #parts: HubParts;
  readonly #members = new Set<Member>();

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /** A wake for one replica; `onNotify` sees what it sends. */
  open(name: string, gate: Gate, onNotify: (hints: readonly Hint[]) => void): Wake {
    const member: Member = { name, gate };
    return {
      reach: 'process',
      isProven: this.#parts.isProven,
      start: async () => void this.#members.add(member),
      stop: async () => void this.#members.delete(member),
      listen: (listener) => void (member.listener = listener),
      notify: (hints) => {
        if (hints.length === 0 || gate.isDead) return;
        onNotify(hints);
        for (const other of this.#members) if (other !== member) this.#send(other, hints);
      },
    };
  }

  /** A crashed replica hears nothing more. */
  drop(gate: Gate): void {
    for (const member of this.#members) if (member.gate === gate) this.#members.delete(member);
  }

  /** Tells everybody what nobody has sent: hints about tasks there are and tasks there are not, with cursors far off. */
  forge(taskIds: readonly string[]): void {
    const { chance } = this.#parts;
    const taskId = chance.pick(taskIds) ?? chance.uuid();
    const forged: readonly Hint[] = [
      { kind: 'grew', taskId, seq: chance.pick([0, 3, 1_000_000]) ?? 0 },
      { kind: 'moved', taskId },
      { kind: 'queued' },
      { kind: 'any' },
    ];
    for (const member of this.#members) this.#deliver(member, [chance.pick(forged) ?? { kind: 'any' }], 0);
  }

  #send(member: Member, hints: readonly Hint[]): void {
    const { chance, rates, onFault } = this.#parts;
    const { wakeLost, wakeDoubled, wakeLate, latency } = rates();
    if (chance.happens(wakeLost)) return onFault(member.name, 'wakeLost');
    const latencyMs = chance.happens(latency) ? chance.between(1, LATENCY_MS) : 0;
    if (chance.happens(wakeLate)) {
      onFault(member.name, 'wakeLate');
      return this.#deliver(member, hints, chance.between(1, LATE_MS_MAX));
    }
    this.#deliver(member, hints, latencyMs);
    if (!chance.happens(wakeDoubled)) return;
    onFault(member.name, 'wakeDoubled');
    this.#deliver(member, hints, chance.between(1, LATE_MS_MAX));
  }

  /** Never inside `notify`: whoever writes is not held up by what the listeners do. */
  #deliver(member: Member, hints: readonly Hint[], ms: number): void {
    const hear = (): void => {
      if (this.#members.has(member)) member.gate.pass(() => member.listener?.(hints));
    };
    if (ms === 0) void settled.then(hear);
    else this.#parts.clock.after(ms, hear);
  }
}
