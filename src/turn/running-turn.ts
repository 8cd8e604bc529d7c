import type { Clock, Timer } from '../ground/clock.ts';
import { sleep } from '../ground/clock.ts';
import type { Signal } from '../ground/signal.ts';
import { eitherOf, Stopper } from '../ground/signal.ts';
import type { LogFields, Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { NewEntry } from '../log/entry.ts';
import type { ReleaseAsk, TaskRow } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';
import type { Content } from '../protocol/parts.ts';
import { AuthorSignal } from './author-signal.ts';
import { AuthorTurn } from './author-turn.ts';
import type { EngineFailureCode } from './failure.ts';
import { abortReason, failureOf } from './failure.ts';
import type { Opening } from './opening.ts';
import { readOpening } from './opening.ts';
import type { TurnSettings } from './options.ts';
import { Outcomes } from './outcome.ts';
import { persist } from './patience.ts';
import { Speech } from './speech.ts';
import type { Run, RunResult } from './turn.ts';
import type { WriterEnd, WriterRun } from './writer.ts';
import { Writer } from './writer.ts';

/** Why a turn is no longer this run's, told to the code by its signal. */
export type LossReason = 'canceled' | 'superseded' | 'interrupted' | 'silence' | 'dead' | 'drain' | 'stuck';

type EndReason = LossReason | EngineFailureCode | 'closed';

const endSentences: Readonly<Record<EndReason, string>> = {
  closed: 'The turn has ended.',
  INACTIVE: 'The turn was ended: nothing happened in it for too long.',
  DEADLINE: 'The turn was ended: it took too long.',
  LIMIT: 'The turn was ended: the task has reached the most it may hold.',
  UNSTORABLE: 'The turn was ended: something said in it could not be stored.',
  canceled: 'The task was canceled.',
  superseded: 'The turn is no longer run by this replica.',
  interrupted: 'The turn was interrupted by a newer message.',
  silence: 'The replica has had no contact with the store for too long.',
  dead: 'The replica was taken for dead.',
  drain: 'The replica shuts down.',
  stuck: 'The turn could not be recorded.',
};

/** How long the words of a turn that is just ending may take before it is given away all the same. */
const SETTLE_MS = 200;

/** How often code whose grace is over may put off its end by saying one thing more. */
const LAST_WORDS_MAX = 3;

/** What the runs of a replica share, and whom they tell. */
export interface RunParts {
  readonly log: TaskLog;
  readonly run: Run;
  readonly settings: TurnSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The turn's end is known, or it counts as lost. `giveBack` tells how, if the store may still show it as held. */
  readonly onOver: (turn: RunningTurn, giveBack: ReleaseAsk['why']) => void;
  /** The code has ended, after `onOver`. */
  readonly onLeft: (turn: RunningTurn) => void;
  /** The code ignores its signal for longer than its grace. */
  readonly onRunaway: (turn: RunningTurn) => void;
}

/**
 * One run of a turn: it holds one grant, runs the agent's code once and ends on a known outcome only. Two things end apart from each other:
 * the turn (its closing entry is on the log, or the fence moved) and the code (it returned or threw).
 */
export class RunningTurn implements WriterRun {
  readonly taskId: string;
  readonly fence: number;
  readonly #parts: RunParts;
  readonly #grant: TaskRow;
  readonly #replica: string;
  readonly #outcomes = new Outcomes();
  readonly #writer: Writer;
  readonly #speech: Speech;
  /** The author's signal. */
  readonly #signal = new AuthorSignal();
  readonly #over = new Stopper();
  #row: TaskRow;
  #hasBegun = false;
  #isCodeRunning = false;
  #isReleasing = false;
  #lastWordAt = 0;
  #silence: Timer | undefined;
  #deadline: Timer | undefined;
  #interrupt: Timer | undefined;

  constructor(parts: RunParts, grant: TaskRow, replica: string) {
    const { log, clock, random, logger } = parts;
    this.#parts = parts;
    this.#grant = grant;
    this.#replica = replica;
    this.taskId = grant.id;
    this.fence = grant.fence;
    this.#row = grant;
    this.#writer = new Writer({ log, grant, clock, random, logger, run: this });
    this.#speech = new Speech({ grant, random, writer: this.#writer });
  }

  get onLost(): TaskRow['limits']['onLost'] {
    return this.#grant.limits.onLost;
  }

  /** Identity of the run, for log lines. */
  get names(): LogFields {
    return { task: this.taskId, turn: this.#grant.turn, attempt: this.#grant.attempt, replica: this.#replica };
  }

  /** The turn's end is known here. */
  get isOver(): boolean {
    return this.#over.aborted;
  }

  /** The code has said its last word, or the engine has; its commit may still be under way. */
  get isEnding(): boolean {
    return this.#writer.isClosed;
  }

  /** It is being given away: what moves its fence is its own doing. */
  get isReleasing(): boolean {
    return this.#isReleasing;
  }

  /** The code is running, whatever became of its turn. */
  get isCodeRunning(): boolean {
    return this.#isCodeRunning;
  }

  /** Runs the code; once. */
  begin(): void {
    if (this.#hasBegun || this.isOver) return;
    this.#hasBegun = true;
    this.#perform().catch((error: unknown) => this.#break('turn: a run ended in an error of the engine', error));
  }

  /** A look or an answer showed the row while it was held under this fence. */
  see(row: TaskRow): void {
    if (this.isOver || row.fence !== this.fence || row.seq < this.#row.seq) return;
    this.#row = row;
    if (row.isInterrupted && !this.#interrupt) this.#beginInterrupt();
    if (!row.isInterrupted && this.#interrupt) this.#endInterrupt();
  }

  /** The fence has moved, or counts as moved: nothing the code says or returns counts from here on. */
  lose(reason: LossReason, graceMs: number = this.#parts.settings.cancelGraceMs): void {
    if (this.isOver) return;
    this.#writer.stop();
    this.#finish(reason, graceMs);
  }

  /** Gives the turn away under its own fence; resolves when the store has answered. A turn that is just ending may end first. */
  async release(why: ReleaseAsk['why'], signal: Signal): Promise<void> {
    const { log, clock, random, settings } = this.#parts;
    const patience = { clock, random, signal: eitherOf(signal, this.#over) };
    if (this.isEnding) await sleep(clock, SETTLE_MS, patience.signal);
    if (this.isOver) return;
    this.#isReleasing = true;
    const result = await persist(() => log.release({ taskId: this.taskId, fence: this.fence, why }), patience).finally(
      () => (this.#isReleasing = false),
    );
    if (!result) return;
    // an interrupt's grace has passed before its release
    if (why === 'interrupt') this.lose('interrupted', 0);
    else this.lose(why, settings.cancelGraceMs);
  }

  // -- the run --

  async #perform(): Promise<void> {
    try {
      const { log, clock, random } = this.#parts;
      const opening = await persist(() => readOpening(log, this.#grant), { clock, random, signal: this.#over });
      if (this.isOver) return;
      if (!opening) return this.lose('superseded');
      this.#conclude(await this.#runCode(opening));
    } catch (error) {
      await this.#onThrown(error);
    }
  }

  async #runCode(opening: Opening): Promise<RunResult> {
    const turn = this.#authorTurn(opening);
    this.#startTimers();
    this.#parts.logger.debug('turn: begins', this.names);
    this.#isCodeRunning = true;
    try {
      return await this.#parts.run(turn);
    } finally {
      this.#isCodeRunning = false;
      if (this.isOver) this.#parts.onLeft(this);
    }
  }

  #authorTurn(opening: Opening): AuthorTurn {
    const { log, clock, random } = this.#parts;
    return new AuthorTurn({
      log,
      grant: this.#grant,
      replica: this.#replica,
      opening,
      clock,
      random,
      speech: this.#speech,
      writer: this.#writer,
      outcomes: this.#outcomes,
      signal: this.#signal,
      over: this.#over,
    });
  }

  /** Whatever comes after the end, or after the engine's own last word, does not count. */
  #conclude(result: RunResult): void {
    if (this.#writer.isClosed) return;
    const ending = this.#outcomes.endingOf(result);
    // returning ends the code, not the turn: that is the writer's to tell, and a refusal of these words is no failure of the code
    this.#writer.end(
      ending ? this.#speech.outcome(ending) : this.#speech.completed(result as Content | undefined), // toParts looks at what it really is
    );
  }

  async #onThrown(error: unknown): Promise<void> {
    if (this.#writer.isClosed) return;
    if (this.#interrupt && isAbort(error, this.#signal)) {
      await this.#giveWay();
      if (this.isOver) return;
    }
    const { logger, random } = this.#parts;
    const referenceId = random.uuid();
    const failure = failureOf(error, referenceId);
    const fields = { ...this.names, reference: referenceId, code: failure.code };
    if (failure.code === 'INTERNAL') logger.error('turn: the agent threw', { ...fields, error: textOf(error), stack: stackOf(error) });
    else logger.info('turn: the agent failed the turn', fields);
    this.#writer.end([this.#speech.failed(failure)]);
  }

  /** What ends the turn for a reason of the engine's own. */
  failureEntry(code: EngineFailureCode): NewEntry {
    return this.#speech.engineFailed(code);
  }

  // -- limits in time --

  #startTimers(): void {
    const { clock, settings } = this.#parts;
    this.#lastWordAt = clock.monotonic();
    this.#watchSilence(settings.inactivityMs);
    if (settings.deadlineMs !== undefined) this.#deadline = clock.after(settings.deadlineMs, () => this.#expire('DEADLINE'));
  }

  /** One timer per stretch of silence, not one per entry: it looks when the last word was, and goes on from there. */
  #watchSilence(ms: number): void {
    const { clock, settings } = this.#parts;
    this.#silence = clock.after(ms, () => {
      const leftMs = this.#lastWordAt + settings.inactivityMs - clock.monotonic();
      if (leftMs > 0) this.#watchSilence(leftMs);
      else this.#expire('INACTIVE');
    });
  }

  /** The commit comes first, the signal follows it: until then the code still holds the turn. */
  #expire(code: EngineFailureCode): void {
    if (this.isOver || this.#writer.isClosed) return;
    this.#parts.logger.warn('turn: the engine ends it', { ...this.names, code });
    this.#writer.fail(code);
  }

  // -- interrupt: the one signal that comes before the fence moves --

  #beginInterrupt(): void {
    const giveWay = (): void => {
      this.#giveWay().catch((error: unknown) => this.#break('turn: an interrupted turn could not be handed over', error));
    };
    this.#interrupt = this.#parts.clock.after(this.#parts.settings.cancelGraceMs, giveWay);
    this.#signal.abort(() => abortReason(endSentences.interrupted));
    if (!this.#hasBegun) giveWay();
  }

  /** The code took the message that interrupted it, and goes on. */
  #endInterrupt(): void {
    this.#interrupt?.cancel();
    this.#interrupt = undefined;
  }

  /** Hands the turn over to the message that waits. One that the code is just taking does not wait any more: its last words come first. */
  async #giveWay(): Promise<void> {
    for (let round = 0, said = -1; round < LAST_WORDS_MAX && said !== this.#writer.lastOrdinal; round++) {
      said = this.#writer.lastOrdinal;
      await this.#writer.whenSaid();
    }
    if (this.isOver || !this.#row.isInterrupted) return;
    await this.release('interrupt', this.#over);
  }

  // -- the end --

  /** The run's words are on the log, and the row shows it. */
  onRow(row: TaskRow): void {
    this.#lastWordAt = this.#parts.clock.monotonic();
    this.see(row);
  }

  /** The writer knows how the turn ended. */
  onEnd(end: WriterEnd): void {
    const { cancelGraceMs } = this.#parts.settings;
    switch (end.kind) {
      case 'closed':
        return this.#finish(end.failed ?? 'closed', cancelGraceMs);
      case 'lost':
        return this.#finish(end.row?.state === 'TASK_STATE_CANCELED' ? 'canceled' : 'superseded', cancelGraceMs);
      case 'stuck':
        return this.#finish('stuck', cancelGraceMs);
    }
  }

  #finish(reason: EndReason, graceMs: number): void {
    if (this.isOver) return;
    this.#over.abort();
    this.#silence?.cancel();
    this.#deadline?.cancel();
    this.#interrupt?.cancel();
    const { turn, attempt } = this.#grant;
    this.#parts.logger.debug('turn: over', { task: this.taskId, turn, attempt, replica: this.#replica, reason });
    this.#parts.onOver(this, reason === 'silence' ? 'silence' : 'drain');
    if (!this.#isCodeRunning) return;
    this.#signal.abort(() => abortReason(endSentences[reason]));
    this.#parts.clock.after(graceMs, () => {
      if (!this.#isCodeRunning) return;
      this.#parts.logger.warn('turn: the code ignores its signal', this.names);
      this.#parts.onRunaway(this);
    });
  }

  /** A bug of ours, or a store that refuses for good: the next look finds the turn held and not running, and gives it back. */
  #break(event: string, error: unknown): void {
    this.#parts.logger.error(event, { ...this.names, error: textOf(error), stack: stackOf(error) });
    this.lose('stuck');
  }
}

/** The code stopped because it was told to. */
function isAbort(error: unknown, signal: AuthorSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
