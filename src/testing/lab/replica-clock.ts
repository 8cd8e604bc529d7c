import type { Clock, Timer } from '../../ground/clock.ts';
import type { Gate } from './gate.ts';

/** The lab's time as one replica sees it: its timers pass its gate, and the clock on its own wall may be wrong. */
export class ReplicaClock implements Clock {
  readonly #clock: Clock;
  readonly #gate: Gate;
  #offMs = 0;

  constructor(clock: Clock, gate: Gate) {
    this.#clock = clock;
    this.#gate = gate;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  wall(): number {
    return this.#clock.wall() + this.#offMs;
  }

  after(ms: number, task: () => void): Timer {
    let isOff = false;
    const timer = this.#clock.after(ms, () => this.#gate.pass(() => isOff || task()));
    return {
      cancel: () => {
        isOff = true; // it may have gone off already and wait behind the gate
        timer.cancel();
      },
    };
  }

  /** Sets this replica's wall clock wrong by so much more. */
  jump(ms: number): void {
    this.#offMs += ms;
  }
}
