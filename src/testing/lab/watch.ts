import type { Clock } from '../../ground/clock.ts';
import type { AcceptAsk, AcceptResult } from '../../log/store.ts';
import type { Hint } from '../../log/wake.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { Turn } from '../../turn/turn.ts';
import { SETTLE_SLACK_MS } from '../checks/settling.ts';
import type { Ledger, Standing } from './ledger.ts';
import type { AnswerOf, Verb } from './link.ts';
import type { Timeline } from './timeline.ts';
import { short } from './trace.ts';
import type { LabViolation } from './violation.ts';

/** What watching needs. */
export interface WatchParts {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly leaseMs: number;
  readonly tickMs: number;
}

/** One run of a turn's code. */
interface RunRecord {
  readonly replica: string;
  readonly taskId: string;
  readonly name: string;
  isOver: boolean;
  /** Since when its signal has to fire. */
  dueSince?: number;
}

/** Within a look of the replica, and this (P8): the hint may be lost, the look finds the moved fence. */
const SIGNAL_SLACK_MS = 250;

/**
 * Holds the replicas to what no client can see: that hints follow commits (P2), that no run happens twice (P4), that turns of holders that
 * are gone are settled in time (P6), that a cancel reaches the code wherever it runs (P8). Times count while those who have to act can.
 */
export class Watch {
  readonly #parts: WatchParts;
  readonly #timelines = new Map<string, Timeline>();
  /** Replica of each incarnation, by the id it joined under. */
  readonly #incarnations = new Map<string, string>();
  /** What each replica knows to be committed. */
  readonly #heard = new Map<string, Map<string, number>>();
  /** Digest of what came under each key, by task and key. */
  readonly #keys = new Map<string, string>();
  readonly #runs = new Map<string, RunRecord>();
  readonly #live = new Map<string, Set<RunRecord>>();
  readonly violations: LabViolation[] = [];

  constructor(parts: WatchParts) {
    this.#parts = parts;
    parts.ledger.listen((before, now) => this.#onRow(before, now));
  }

  enter(replica: string, timeline: Timeline): void {
    this.#timelines.set(replica, timeline);
  }

  /** Names of the replicas that hold a turn. */
  holders(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const { row } of this.#parts.ledger.rows.values()) {
      const name = row.holder === undefined ? undefined : this.#incarnations.get(row.holder);
      if (name !== undefined) names.add(name);
    }
    return names;
  }

  joined(replica: string, id: string): void {
    this.#incarnations.set(id, replica);
  }

  /** The replica has heard the answer to a verb that writes. */
  heard<V extends Verb>(replica: string, answer: AnswerOf<V>): void {
    const known = this.#heard.get(replica) ?? new Map<string, number>();
    this.#heard.set(replica, known);
    const rows = Array.isArray(answer) ? answer : [answer];
    // true: whatever is in the list, it is looked at before it is used
    for (const one of rows as readonly unknown[]) {
      if (typeof one === 'string') known.set(one, Number.MAX_SAFE_INTEGER); // purged
      const row = rowIn(one);
      if (row) known.set(row.id, Math.max(row.seq, known.get(row.id) ?? 0));
    }
  }

  /** P9: a key that is recorded is answered as it was the first time, before every refusal ⚖. */
  accepted({ taskId, key, digest }: AcceptAsk, answer: AcceptResult): void {
    const name = `${taskId} ${key}`;
    const known = this.#keys.get(name);
    if (known === undefined && answer.kind === 'accepted') this.#keys.set(name, digest);
    if (known === undefined) return;
    const due = known === digest ? 'accepted' : 'keyMismatch';
    if (answer.kind !== due)
      this.#blame('P9', taskId, `a message under a key that is recorded was answered ${answer.kind}, ${due} was due`);
    else if (answer.kind === 'accepted' && !answer.isRepeat)
      this.#blame('P9', taskId, 'a message under a key that is recorded was recorded again');
  }

  /** P2: nobody is told of a commit that its writer does not know of yet. */
  notified(replica: string, hints: readonly Hint[]): void {
    for (const hint of hints) {
      if (hint.kind !== 'grew' && hint.kind !== 'moved') continue;
      const known = this.#heard.get(replica)?.get(hint.taskId);
      if (known === undefined || (hint.kind === 'grew' && hint.seq > known)) {
        const what = hint.kind === 'grew' ? `entry ${hint.seq}` : 'a moved fence';
        this.#blame('P2', hint.taskId, `${replica} woke the others for ${what} and knew of ${known ?? 'no'} committed entries`);
      }
    }
  }

  /** An assertion of the core did not hold. */
  broken(replica: string, event: string): void {
    this.violations.push({ promise: 'P7', says: `${replica} broke an assumption of its own code: ${event}` });
  }

  /** Runs agent code, and looks on. */
  async run<T>(replica: string, turn: Turn, code: () => T | Promise<T>): Promise<T> {
    const record = this.#begin(replica, turn);
    const fire = (): void => this.#end(record);
    if (turn.signal.aborted) fire();
    else turn.signal.addEventListener('abort', fire, { once: true });
    try {
      return await code();
    } finally {
      this.#end(record);
    }
  }

  /** Judges what is still open at the end. */
  finish(): void {
    for (const standing of this.#parts.ledger.rows.values()) this.#judgeHolder(standing);
    for (const records of this.#live.values()) for (const record of records) this.#judgeSignal(record);
  }

  /** Agent code that runs on a replica now. */
  running(taskId: string): number {
    return this.#live.get(taskId)?.size ?? 0;
  }

  #begin(replica: string, turn: Turn): RunRecord {
    const name = `${turn.id}/${turn.attempt}`;
    const taskId = turn.task.id;
    const known = this.#runs.get(name);
    if (known) this.#blame('P4', taskId, `run ${name} was started on ${known.replica} and on ${replica}`);
    const record: RunRecord = { replica, taskId, name, isOver: false };
    const row = this.#parts.ledger.row(taskId);
    if (row && isTerminal(row.state)) record.dueSince = this.#parts.clock.monotonic();
    this.#runs.set(name, record);
    this.#live.set(taskId, (this.#live.get(taskId) ?? new Set()).add(record));
    return record;
  }

  #end(record: RunRecord): void {
    if (record.isOver) return;
    record.isOver = true;
    const records = this.#live.get(record.taskId);
    records?.delete(record);
    if (records?.size === 0) this.#live.delete(record.taskId);
    this.#judgeSignal(record);
  }

  #onRow(before: Standing | undefined, now: Standing): void {
    if (before && before.row.fence !== now.row.fence) this.#judgeHolder(before);
    else if (before?.row.phase === 'open' && now.row.phase !== 'open') this.#judgeHolder(before);
    if (now.row.state !== 'TASK_STATE_CANCELED') return;
    for (const record of this.#live.get(now.row.id) ?? []) record.dueSince ??= this.#parts.clock.monotonic();
  }

  /** P8: the signal fires within a look, while the replica can look. */
  #judgeSignal({ replica, taskId, name, dueSince }: RunRecord): void {
    if (dueSince === undefined) return;
    const mayTakeMs = this.#parts.tickMs + SIGNAL_SLACK_MS;
    const tookMs = this.#timelines.get(replica)?.longestGood(dueSince, this.#parts.clock.monotonic()) ?? 0;
    if (tookMs > mayTakeMs)
      this.#blame('P8', taskId, `run ${name} on ${replica} was canceled, and had no signal for ${Math.round(tookMs)} ms in which it could`);
  }

  /** P6: while a holder is gone, its turn stays as it is for no longer than the others need who are in order. */
  #judgeHolder({ row, since }: Standing): void {
    if (row.phase !== 'open' || row.holder === undefined) return;
    const holder = this.#incarnations.get(row.holder);
    const timeline = holder === undefined ? undefined : this.#timelines.get(holder);
    if (holder === undefined || timeline === undefined) return;
    const limitMs = this.#parts.leaseMs + SETTLE_SLACK_MS;
    for (const { from, to, how } of timeline.downBetween(since, this.#parts.clock.monotonic())) {
      const [name, ms] = this.#bestOfOthers(holder, from, to);
      if (ms <= limitMs) continue;
      this.#blame(
        'P6',
        row.id,
        `its holder ${holder} was gone (${how}), and ${name} left it so for ${Math.round(ms)} ms in which it could act`,
      );
    }
  }

  #bestOfOthers(holder: string, from: number, to: number): readonly [string, number] {
    let best: readonly [string, number] = ['nobody', 0];
    if (to - from <= this.#parts.leaseMs) return best;
    for (const [name, timeline] of this.#timelines) {
      const ms = name === holder ? 0 : timeline.longestGood(from, to);
      if (ms > best[1]) best = [name, ms];
    }
    return best;
  }

  #blame(promise: LabViolation['promise'], taskId: string, says: string): void {
    this.violations.push({ promise, taskId, says: `task ${short(taskId)}: ${says}` });
  }
}

/** The row in an answer, whichever verb gave it. */
function rowIn(answer: unknown): { readonly id: string; readonly seq: number } | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const row: unknown = 'row' in answer ? answer.row : answer;
  const isRow = typeof row === 'object' && row !== null && 'id' in row && 'seq' in row;
  if (!isRow || typeof row.id !== 'string' || typeof row.seq !== 'number') return undefined;
  return { id: row.id, seq: row.seq };
}
