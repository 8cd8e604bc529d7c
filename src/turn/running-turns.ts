import type { Signal } from '../ground/signal.ts';
import type { Clock } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { ReleaseAsk, TaskRow, TickResult } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';
import { Grants } from './grants.ts';
import type { TurnSettings } from './options.ts';
import type { LossReason, RunParts } from './running-turn.ts';
import { RunningTurn } from './running-turn.ts';
import type { Run } from './turn.ts';

/** What running turns needs. */
export interface RunningTurnsParts {
  readonly log: TaskLog;
  readonly run: Run;
  readonly settings: TurnSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Number of the last look that was sent. */
  readonly look: () => number;
  /** A slot is free. */
  readonly onRoom: () => void;
}

/** Rows of turns that are read one by one at the same time, because of hints; for more than these a look at all is cheaper. */
const RECHECKS_MAX = 16;

/** The turns of this process and their slots: each grant is started at most once, and no more codes run at once than there are slots. */
export class RunningTurns {
  readonly #parts: RunningTurnsParts;
  readonly #runParts: RunParts;
  readonly #grants = new Grants();
  /** Turns that are ours as far as is known, by task; some may wait for a slot. */
  readonly #held = new Map<string, RunningTurn>();
  /** Those of them whose code has not begun, in the order in which they came. */
  readonly #unbegun = new Set<RunningTurn>();
  /** Over, but their code has not ended yet: they keep their slot for their grace. */
  readonly #leaving = new Set<RunningTurn>();
  readonly #runaways = new Set<RunningTurn>();
  readonly #releasing = new Set<string>();
  #reserved = 0;
  #rechecks = 0;
  #emptied: (() => void)[] = [];

  constructor(parts: RunningTurnsParts) {
    this.#parts = parts;
    this.#runParts = {
      ...parts,
      onOver: (turn, giveBack) => this.#onOver(turn, giveBack),
      onLeft: (turn) => this.#onLeft(turn),
      onRunaway: (turn) => this.#onRunaway(turn),
    };
  }

  /** Slots that nobody has or is promised. */
  get room(): number {
    return Math.max(0, this.#parts.settings.concurrency - this.#held.size - this.#leaving.size - this.#reserved);
  }

  /** Codes that ignore their signal, past their grace: each slows the process down, so there is a limit to them. */
  get isOverrun(): boolean {
    return this.#runaways.size > this.#parts.settings.runawayMax;
  }

  /** True while any turn is held here: a moved fence has somebody to tell. */
  get isRunning(): boolean {
    return this.#held.size > 0;
  }

  holds(taskId: string): boolean {
    return this.#held.has(taskId);
  }

  /** What is held now; a look that is sent after this proves for each of these whether its fence has moved. */
  held(): readonly RunningTurn[] {
    return [...this.#held.values()];
  }

  /** Keeps a slot for a grant that is being asked for. */
  reserve(): Disposable {
    this.#reserved += 1;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#reserved -= 1;
        this.#parts.onRoom();
      },
    };
  }

  /** Starts a grant unless it was started before. */
  offer(row: TaskRow, replica: string): void {
    if (row.phase !== 'open' || row.holder !== replica || !this.#grants.take(row)) return;
    this.#held.get(row.id)?.lose('superseded'); // the row's fence is higher than its own
    const turn = new RunningTurn(this.#runParts, row, replica);
    this.#held.set(row.id, turn);
    this.#unbegun.add(turn);
    this.#beginNext();
  }

  /** Grants that nobody started are given to the caller; turns whose fence has moved are ended; turns that ended here only are given back. */
  reconcile({ held }: TickResult, asked: readonly RunningTurn[], look: number): readonly TaskRow[] {
    const rows = new Map(held.map((row) => [row.id, row]));
    for (const turn of asked) {
      const row = rows.get(turn.taskId);
      if (row?.fence === turn.fence) turn.see(row);
      // a turn that says its last word may be closed by that very word: its writer will know
      else if (!turn.isEnding) turn.lose('superseded');
    }
    const fresh: TaskRow[] = [];
    for (const row of held) {
      const why = this.#grants.strayOf(row, look);
      if (why) this.#giveBack(row, why);
      else if (this.#held.get(row.id)?.fence !== row.fence) fresh.push(row);
    }
    return fresh;
  }

  /**
   * The fence of a turn is said to have moved, or an interrupt to be asked for: its row tells, and what a look would do is done. One row costs
   * the same however many turns run here. False when too many are asked for at once: then a look has to do it.
   */
  async recheck(taskId: string): Promise<boolean> {
    const turn = this.#held.get(taskId);
    if (!turn || turn.isReleasing) return true;
    if (this.#rechecks >= RECHECKS_MAX) return false;
    this.#rechecks += 1;
    try {
      const row = await this.#parts.log.row(taskId);
      if (row?.fence === turn.fence && row.phase === 'open') turn.see(row);
      // a turn that says its last word may be closed by that very word, and one that is given away knows why: they will tell
      else if (!turn.isEnding && !turn.isReleasing) turn.lose(row?.state === 'TASK_STATE_CANCELED' ? 'canceled' : 'superseded');
      return true;
    } finally {
      this.#rechecks -= 1;
    }
  }

  /** Gives a turn back that nobody runs here: its code was called off, or never started. */
  giveBack(row: TaskRow, why: ReleaseAsk['why']): void {
    if (!this.#grants.take(row)) return;
    this.#grants.end(row, { look: this.#parts.look(), why });
    this.#giveBack(row, why);
  }

  /** Ends turns for a reason that counts as a moved fence. */
  loseAll(reason: LossReason, which: (turn: RunningTurn) => boolean = () => true): void {
    for (const turn of this.held()) if (which(turn)) turn.lose(reason);
  }

  /** Resolves when no code runs here, or the signal fires. Runaway code is not waited for: its turn is over, and it may never end. */
  async whenEmpty(signal: Signal): Promise<void> {
    while (this.#held.size + this.#leaving.size > 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#emptied.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  #giveBack(row: TaskRow, why: ReleaseAsk['why']): void {
    const name = `${row.fence}:${row.id}`;
    if (this.#releasing.has(name)) return;
    this.#releasing.add(name);
    const { log, logger } = this.#parts;
    log
      .release({ taskId: row.id, fence: row.fence, why })
      // the next look finds the turn again if it is still held
      .catch((error: unknown) =>
        logger.warn('turn: a turn could not be given back yet', { task: row.id, turn: row.turn, error: String(error) }),
      )
      .finally(() => this.#releasing.delete(name));
  }

  /** Turns in the order in which they came, as long as there are slots; a burst of accepts may have brought more than that. */
  #beginNext(): void {
    for (const turn of this.#unbegun) {
      const begun = this.#held.size - this.#unbegun.size;
      if (begun + this.#leaving.size >= this.#parts.settings.concurrency) return;
      this.#unbegun.delete(turn);
      turn.begin();
    }
  }

  #onOver(turn: RunningTurn, giveBack: ReleaseAsk['why']): void {
    this.#grants.end({ id: turn.taskId, fence: turn.fence }, { look: this.#parts.look(), why: giveBack });
    if (this.#held.get(turn.taskId) === turn) this.#held.delete(turn.taskId);
    this.#unbegun.delete(turn);
    if (turn.isCodeRunning) this.#leaving.add(turn);
    this.#onFree();
  }

  #onLeft(turn: RunningTurn): void {
    this.#leaving.delete(turn);
    if (this.#runaways.delete(turn)) this.#parts.logger.info('turn: runaway code has ended', { task: turn.taskId });
    this.#onFree();
  }

  #onRunaway(turn: RunningTurn): void {
    this.#leaving.delete(turn);
    this.#runaways.add(turn);
    this.#onFree();
  }

  #onFree(): void {
    this.#beginNext();
    if (this.#held.size + this.#leaving.size === 0) for (const resolve of this.#emptied.splice(0)) resolve();
    this.#parts.onRoom();
  }
}
