import type { Clock, Timer } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { TaskLog } from '../log/task-log.ts';
import type { TurnSettings } from './options.ts';

/** Tasks one sweep or purge takes: one short commit each, repeated until nothing is left. */
export const GROUP_MAX = 100;

/** What keeping house needs. */
export interface UpkeepParts {
  readonly log: TaskLog;
  readonly settings: TurnSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** What any replica does for all: settles what nobody else settles, removes what is past its time. Doing it twice is harmless. */
export class Upkeep {
  readonly #parts: UpkeepParts;
  #sweeping: Promise<void> | undefined;
  #isAskedAgain = false;
  #purging: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#timer || this.#isStopped) return;
    // replicas that started together do not purge together
    this.#purgeAfter(this.#parts.settings.purgeEveryMs * this.#parts.random.fraction());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await Promise.all([this.#sweeping, this.#purging]);
  }

  /** Settles turns of dead replicas and turns past their time (P6). */
  sweep(): void {
    if (this.#isStopped) return;
    this.#isAskedAgain = true;
    this.#sweeping ??= this.#sweepAll().finally(() => (this.#sweeping = undefined));
  }

  async #sweepAll(): Promise<void> {
    const { log, logger } = this.#parts;
    while (this.#isAskedAgain && !this.#isStopped) {
      this.#isAskedAgain = false;
      const count = await this.#repeat('sweep', async () => (await log.sweep(GROUP_MAX)).length);
      if (count > 0) logger.info('turn: settled turns that were lost or past their time', { count });
    }
  }

  #purgeAfter(ms: number): void {
    this.#timer = this.#parts.clock.after(ms, () => {
      this.#purging = this.#purge().finally(() => this.#isStopped || this.#purgeAfter(this.#parts.settings.purgeEveryMs));
    });
  }

  async #purge(): Promise<void> {
    const { log, logger } = this.#parts;
    const count = await this.#repeat('purge', async () => (await log.purge(GROUP_MAX)).length);
    if (count > 0) logger.info('task: purged', { count });
  }

  /** Until a group is not full any more. A failure is no reason to repeat at once: the next look or round finds the rest. */
  async #repeat(what: string, group: () => Promise<number>): Promise<number> {
    let sum = 0;
    try {
      for (let count = GROUP_MAX; count === GROUP_MAX && !this.#isStopped; sum += count) count = await group();
    } catch (error) {
      this.#parts.logger.warn(`turn: a ${what} failed`, { error: error instanceof Error ? error.message : String(error) });
    }
    return sum;
  }
}
