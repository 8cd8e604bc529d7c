import { sqlite } from '../../agent/sqlite.ts';
import { assert } from '../../ground/assert.ts';
import { callerClock, sleep } from '../../ground/clock.ts';
import { isA2AError } from '../../protocol/errors.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { Task } from '../../protocol/types.ts';
import { checkHistory } from '../../testing/checker.ts';
import type { Verdict } from '../../testing/checker.ts';
import type { StoredTask } from '../../testing/checks/check.ts';
import { History } from '../../testing/facts.ts';
import { Probe } from '../../testing/probe.ts';
import type { ReplicaProcess } from '../../testing/replica-process.ts';
import type { Rig } from '../../testing/rig.ts';
import { readStored } from '../../testing/stored.ts';
import { Reader } from './reader.ts';
import type { Transcript } from './transcript.ts';

/** Lease of the demo's replicas: short, so that nobody waits long for the take-over. */
export const DEMO_LEASE_MS = 2_000;

/** What the agent is asked. */
export interface Wishes {
  /** Opens the first task. */
  readonly opening: string;
  /** Answers the agent's question, should it ask. */
  readonly answer: string;
}

/**
 * The story of one agent on three replicas: a task started on one, streamed from a second, resumed on another, its holder killed in
 * mid-turn, taken over; and a second task canceled on a replica that does not run it. Everything that is seen is written down and checked.
 */
export class Story {
  readonly #rig: Rig;
  readonly #out: Transcript;
  readonly #history = new History();
  readonly #tasks = new Set<string>();

  constructor(rig: Rig, transcript: Transcript) {
    this.#rig = rig;
    this.#out = transcript;
  }

  /** Started on A, streamed from B, canceled on C. */
  async canceledFromAfar({ answer }: Wishes): Promise<void> {
    this.#out.chapter('1  Started on A, streamed from B, canceled on C');
    const task = await this.#start(0, answer);
    const reader = new Reader('reader', task.id, this.#out);
    const reading = reader.read(() => this.#probe(this.#rig.replica(1)));
    await reader.until(({ questions, chunks }) => questions > 0 || chunks >= CHUNKS_BEFORE_END, SILENCE_BEFORE_KILL_MS);
    this.#out.tell('you', 'cancel on C');
    const asked = callerClock.monotonic();
    try {
      const { status } = await this.#probe(this.#rig.replica(2)).cancel(task.id);
      this.#out.tell('C', `answers ${status.state.replace('TASK_STATE_', '')}`);
    } catch (error) {
      if (!isA2AError(error)) throw error;
      this.#out.tell('C', `answers ${error.code}: the task had ended before`);
    }
    await reading;
    this.#out.tell('reader', `saw the end ${Math.round(callerClock.monotonic() - asked)} ms after you asked`);
    await this.#tellLog(task.id);
  }

  /** Started on A, streamed from B, resumed on C; C is killed with the word in its mouth, another goes on. */
  async lostAndTakenOver({ opening, answer }: Wishes): Promise<void> {
    this.#out.chapter('2  Started on A, streamed from B, resumed on C; whoever holds it is killed');
    const task = await this.#start(0, opening);
    const reader = new Reader('reader', task.id, this.#out);
    const reading = reader.read(() => this.#probe(this.#rig.living[reader.seq === 0 ? 1 : 0]));
    await reader.until(({ questions, chunks }) => questions > 0 || chunks > 0);
    if (reader.questions > 0) await this.#resume(2, task, answer);
    await reader.until(({ questions, chunks }) => questions > 1 || chunks >= CHUNKS_BEFORE_END, SILENCE_BEFORE_KILL_MS);
    if (reader.state && isTerminal(reader.state)) this.#out.tell('you', 'have no turn left to kill: it was over too soon');
    else if (reader.questions < 2) await this.#killHolder(task.id, reader);
    await reader.until(({ questions }) => questions > 1, STORY_MS_MAX);
    if (reader.state && !isTerminal(reader.state)) await this.#giveUp(task.id);
    await reading;
    await this.#tellLog(task.id);
  }

  /** Reads every task on every living replica and holds all that was seen against the store. */
  async verdict(): Promise<Verdict> {
    for (const replica of this.#rig.living) {
      for (const taskId of this.#tasks) await this.#probe(replica, `${replica.name} at the end`).get(taskId, { isFinal: true });
    }
    const stored = await readStored(sqlite(this.#rig.store), this.#tasks);
    const fairMs = (from: number, to: number): number => this.#rig.lag.fairMs(from, to);
    return checkHistory({ facts: this.#history.facts, stored }, { leaseMs: DEMO_LEASE_MS, fairMs });
  }

  #probe(replica: ReplicaProcess | undefined, observer = replica?.name ?? ''): Probe {
    assert(replica, 'demo: a replica is left');
    return new Probe({ url: replica.url, replica: replica.name, observer, history: this.#history });
  }

  async #start(index: number, text: string): Promise<Task> {
    const replica = this.#rig.replica(index);
    this.#out.tell('you', `send "${text}" to ${replica.name}`);
    const task = await this.#probe(replica).sendForTask(text, { returnImmediately: true });
    this.#tasks.add(task.id);
    this.#out.tell(replica.name, `answers with task ${task.id}`);
    return task;
  }

  async #resume(index: number, task: Task, text: string): Promise<void> {
    const replica = this.#rig.replica(index);
    this.#out.tell('you', `send "${text}" to ${replica.name}`);
    await this.#probe(replica).sendForTask(text, { taskId: task.id, returnImmediately: true });
  }

  /** The agent asks once more, or has said nothing for too long, and this story has no further answer. */
  async #giveUp(taskId: string): Promise<void> {
    this.#out.tell('you', 'have no other answer and cancel');
    await this.#probe(this.#rig.living[0]).cancel(taskId);
  }

  async #killHolder(taskId: string, reader: Reader): Promise<void> {
    const holder = await this.#holderOf(taskId);
    const index = holder ? this.#rig.replicas.indexOf(holder) : -1;
    if (!holder || index === -1) {
      this.#out.tell('you', 'find no replica that holds the turn any more');
      return;
    }
    const at = await this.#rig.kill(index);
    this.#history.record({ kind: 'kill', signal: 'SIGKILL', at, observer: 'demo', replica: holder.name, holding: [taskId] });
    this.#out.tell('you', this.#out.red(`kill -9 ${holder.pid}: ${holder.name}, in the middle of the turn`));
    await reader.until(({ chunks, state }) => chunks === 0 && state !== undefined); // the next status: queued anew, or settled
    await reader.until(({ chunks }) => chunks > 0);
    const successor = await this.#holderOf(taskId);
    const tookMs = Math.round(callerClock.wall() - at);
    if (successor) this.#out.tell(successor.name, this.#out.green(`has taken over, ${tookMs} ms after the kill`));
  }

  /** Who holds the open turn, as the store has it; it may take a moment until somebody does. */
  async #holderOf(taskId: string): Promise<ReplicaProcess | undefined> {
    for (const end = callerClock.monotonic() + HOLDER_MS_MAX; callerClock.monotonic() < end;) {
      const row = (await this.#stored(taskId)).row;
      const holder = this.#rig.replicas.find((replica) => replica.ready.replica === row.holder);
      if (holder || row.phase === 'closed') return holder;
      await sleep(callerClock, 50);
    }
    return undefined;
  }

  async #stored(taskId: string): Promise<StoredTask> {
    const task = (await readStored(sqlite(this.#rig.store), [taskId])).get(taskId);
    assert(task, 'demo: the task is in the store');
    return task;
  }

  async #tellLog(taskId: string): Promise<void> {
    const { entries } = await this.#stored(taskId);
    this.#out.say();
    this.#out.say(`  the log of task ${taskId}: ${entries.length} entries, one list for all`);
    for (const line of summary(entries)) this.#out.say(this.#out.dim(`    ${line}`));
  }
}

/** Pieces that people have read before the holder is killed, or the task is canceled. */
const CHUNKS_BEFORE_END = 12;

/** An agent that works in silence is interrupted after that time. */
const SILENCE_BEFORE_KILL_MS = 2_000;

const HOLDER_MS_MAX = 5_000;

/** What an agent may take for one turn before the story gives it up. */
const STORY_MS_MAX = 600_000;

/** A log in few lines: neighbours of one kind are counted. */
function summary(entries: StoredTask['entries']): readonly string[] {
  const lines: { from: number; to: number; what: string; fence: number }[] = [];
  for (const { seq, fence, ...entry } of entries) {
    const what = entry.kind === 'status' ? entry.state.replace('TASK_STATE_', '') : entry.kind;
    const last = lines.at(-1);
    if (last?.what === what && last.fence === fence && entry.kind === 'artifact') last.to = seq;
    else lines.push({ from: seq, to: seq, what, fence });
  }
  return lines.map(
    ({ from, to, what, fence }) => `${(from === to ? `${from}` : `${from}–${to}`).padEnd(8)} ${what.padEnd(16)} fence ${fence}`,
  );
}
