import type { Clock } from '../../ground/clock.ts';
import type { TaskRow } from '../../log/store.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { AnswerOf, AskOf, Verb } from './link.ts';
import type { Reached } from './reached.ts';
import type { Trace } from './trace.ts';
import { short } from './trace.ts';
import type { WritingVerb } from './transitions.ts';
import { judgeFence, judgeStep } from './transitions.ts';
import type { LabViolation } from './violation.ts';

/** A task's row as the store has it, and since when its turn is as it is. */
export interface Standing {
  readonly row: TaskRow;
  /** Lab time of the last change of fence or phase. */
  readonly since: number;
}

/** Who is told of every change of a row, at the moment of its commit. */
export type RowListener = (before: Standing | undefined, now: Standing) => void;

/** Every row as the store has it now: each verb that the store carries out passes here, whether or not anybody hears of its answer. */
export class Ledger {
  readonly #clock: Clock;
  readonly #reached: Reached;
  readonly #trace: Trace;
  readonly #rows = new Map<string, Standing>();
  readonly #listeners: RowListener[] = [];
  /** Steps that no rule allows. */
  readonly violations: LabViolation[] = [];

  constructor(parts: { readonly clock: Clock; readonly reached: Reached; readonly trace: Trace }) {
    this.#clock = parts.clock;
    this.#reached = parts.reached;
    this.#trace = parts.trace;
  }

  listen(listener: RowListener): void {
    this.#listeners.push(listener);
  }

  get rows(): ReadonlyMap<string, Standing> {
    return this.#rows;
  }

  row(taskId: string): TaskRow | undefined {
    return this.#rows.get(taskId)?.row;
  }

  /** A verb was carried out for a replica. */
  ran<V extends Verb>(who: string, verb: V, ask: AskOf<V>, answer: AnswerOf<V>): void {
    // true for each branch: the name of the verb says what its ask and its answer are
    switch (verb) {
      case 'accept':
        return this.#accepted(who, answer as AnswerOf<'accept'>); // as above
      case 'append':
        return this.#appended(who, ask as AskOf<'append'>, answer as AnswerOf<'append'>); // as above
      case 'cancel':
        return this.#canceled(who, ask as AskOf<'cancel'>, answer as AnswerOf<'cancel'>); // as above
      case 'release':
        return this.#released(who, ask as AskOf<'release'>, answer as AnswerOf<'release'>); // as above
      case 'resume':
        return this.#resumed(who, answer as AnswerOf<'resume'>); // as above
      case 'claim':
        for (const row of answer as AnswerOf<'claim'>) this.#claimed(who, row); // as above
        return;
      case 'sweep':
        for (const row of answer as AnswerOf<'sweep'>) this.#swept(who, row); // as above
        return;
      default:
    }
  }

  #accepted(who: string, answer: AnswerOf<'accept'>): void {
    if (answer.kind !== 'accepted') return this.#reached.count('refused');
    if (answer.isRepeat) this.#reached.count('repeatedKey');
    else this.#note(who, 'accept', answer.row);
    if (answer.row.phase === 'queued') this.#reached.count('queued');
    if (answer.row.isInterrupted) this.#reached.count('interrupt');
    this.#stand(answer.row, 'accept');
  }

  #appended(who: string, ask: AskOf<'append'>, answer: AnswerOf<'append'>): void {
    const before = this.row(ask.taskId);
    switch (answer.kind) {
      case 'gap':
        return this.#reached.count('gap');
      case 'limit':
        return;
      case 'terminal':
        this.#reached.count(answer.row.state === 'TASK_STATE_CANCELED' ? 'cancelRace' : 'terminal');
        this.#trace.note(who, `append ${short(ask.taskId)} fence ${ask.fence}: terminal`);
        return;
      case 'fenced':
        this.#reached.count('fencing');
        this.#trace.note(who, `append ${short(ask.taskId)} fence ${ask.fence}: fenced`);
        return;
      case 'applied':
        if (before !== undefined && answer.row.turn > before.turn) this.#reached.count('handover');
        if (ask.entries.some(({ taken }) => taken !== undefined)) this.#reached.count('taken');
        this.#note(who, 'append', answer.row);
        this.#blame(answer.row.id, judgeFence('append', before, { fence: ask.fence, row: answer.row }));
        this.#stand(answer.row, 'append');
        return;
      default:
    }
  }

  #canceled(who: string, ask: AskOf<'cancel'>, answer: AnswerOf<'cancel'>): void {
    if (answer.kind === 'settled') this.#reached.count('cancelRace');
    if (answer.kind !== 'canceled') return this.#trace.note(who, `cancel ${short(ask.taskId)}: ${answer.kind}`);
    this.#note(who, 'cancel', answer.row);
    this.#stand(answer.row, 'cancel');
  }

  #released(who: string, ask: AskOf<'release'>, answer: AnswerOf<'release'>): void {
    if (answer.kind !== 'released') return;
    this.#reached.count('released');
    this.#note(who, `release (${ask.why})`, answer.row);
    this.#blame(answer.row.id, judgeFence('release', this.row(ask.taskId), { fence: ask.fence, row: answer.row }));
    this.#stand(answer.row, 'release');
  }

  #resumed(who: string, answer: AnswerOf<'resume'>): void {
    if (answer.kind !== 'resumed') return;
    this.#reached.count('resume');
    this.#note(who, 'resume', answer.row);
    this.#stand(answer.row, 'resume');
  }

  #claimed(who: string, row: TaskRow): void {
    if (row.attempt > 1) this.#reached.count('retry');
    this.#note(who, 'claim', row);
    this.#stand(row, 'claim');
  }

  #swept(who: string, row: TaskRow): void {
    const before = this.row(row.id);
    if (before?.phase === 'open') this.#reached.count('takeover');
    if (before?.phase === 'closed' && isTerminal(row.state)) this.#reached.count('expiry');
    this.#note(who, 'sweep', row);
    this.#stand(row, 'sweep');
  }

  #note(who: string, verb: string, row: TaskRow): void {
    const { id, state, phase, seq, turn, attempt, fence, waiting } = row;
    const queue = waiting.length === 0 ? '' : `, ${waiting.length} wait`;
    const name = state.slice('TASK_STATE_'.length);
    this.#trace.note(who, `${verb} ${short(id)}: ${name} ${phase}, seq ${seq}, turn ${turn}/${attempt}, fence ${fence}${queue}`);
  }

  #blame(taskId: string, findings: ReturnType<typeof judgeStep>): void {
    for (const [promise, says] of findings) this.violations.push({ promise, taskId, says: `task ${short(taskId)}: ${says}` });
  }

  #stand(row: TaskRow, verb: WritingVerb): void {
    const before = this.#rows.get(row.id);
    // answers of one moment may be seen in another order than they were committed
    if (before !== undefined && (row.seq < before.row.seq || row.fence < before.row.fence)) return;
    const isSame = before !== undefined && before.row.fence === row.fence && before.row.phase === row.phase;
    this.#blame(row.id, judgeStep(verb, before?.row, row));
    const now: Standing = { row, since: isSame ? before.since : this.#clock.monotonic() };
    this.#rows.set(row.id, now);
    for (const listener of this.#listeners) listener(before, now);
  }
}
