import type { Signal } from '../ground/signal.ts';
import type { Clock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import type { TaskLog } from '../log/task-log.ts';
import { cloneJson } from '../protocol/json.ts';
import type { Message } from '../protocol/types.ts';
import { turnIsOver } from './failure.ts';
import type { PlacedMessage } from './opening.ts';
import { persist } from './patience.ts';
import type { Speech } from './speech.ts';
import type { Inbox } from './turn.ts';
import { verb } from './verb.ts';

/** What an inbox needs of its turn. */
export interface InboxParts {
  readonly log: TaskLog;
  readonly taskId: string;
  readonly speech: Speech;
  /** What earlier attempts took. */
  readonly taken: readonly PlacedMessage[];
  readonly clock: Clock;
  readonly random: Random;
  /** Fires when the code shall stop. */
  readonly signal: Signal;
  /** Fires when the turn is over: after an interrupt what waits can still be taken. */
  readonly over: Signal;
}

/** Opens the inbox of a turn. Taking appends under the fence: a message belongs to one turn only, whatever crashes (P5). */
export function openInbox(parts: InboxParts): Inbox {
  const taking = new Taking(parts);
  const inbox: Inbox = {
    take: () => verb(() => taking.take(Number.POSITIVE_INFINITY)),
    next: () => verb(() => taking.next()),
    async *[Symbol.asyncIterator]() {
      for (let message = await taking.next(); message; message = await taking.next()) yield message;
    },
  };
  return Object.freeze(inbox);
}

class Taking {
  readonly #parts: InboxParts;
  readonly #again: PlacedMessage[];
  /** Two takes at once would read the same waiting list: they go one after the other. */
  #turnstile: Promise<unknown> = Promise.resolve();
  /** Up to where the log is known: what wakes a waiting `next` stands above. */
  #seq = 0;

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.#again = [...parts.taken];
  }

  take(limit: number): Promise<readonly Message[]> {
    const taken = this.#turnstile.then(() => this.#take(limit));
    this.#turnstile = taken.catch(() => {}); // the failure is its caller's, the next one tries for itself
    return taken;
  }

  async next(): Promise<Message | undefined> {
    const { signal } = this.#parts;
    for (;;) {
      const [message] = await this.take(1).catch((error: unknown) => {
        if (signal.aborted) return []; // the turn was ended from outside: nothing more will come
        throw error;
      });
      if (message || signal.aborted) return message;
      await this.#grown();
    }
  }

  async #take(limit: number): Promise<readonly Message[]> {
    const { log, taskId, speech, over } = this.#parts;
    if (over.aborted) throw turnIsOver();
    const again = this.#again.slice(0, limit);
    const found = again.length < limit ? await this.#patiently(() => log.row(taskId)) : undefined;
    const waiting = found ? found.waiting.slice(0, limit - again.length) : [];
    const messages = await Promise.all(waiting.map((seq) => this.#patiently(() => this.#messageAt(seq))));
    if (waiting.length > 0) await speech.taken(waiting);
    this.#again.splice(0, again.length);
    if (found) this.#seq = found.seq;
    return [...again.map(({ message }) => message), ...messages].map((message) => cloneJson(message));
  }

  async #messageAt(seq: number): Promise<Message> {
    const { log, taskId } = this.#parts;
    const [entry] = await log.entriesAfter(taskId, seq - 1);
    if (entry?.kind !== 'message') throw turnIsOver(); // the task was purged: nothing of it is left to take
    return entry.message;
  }

  /** Waits until the log has another message, by the same latches as every follower. */
  async #grown(): Promise<void> {
    const { log, taskId, clock, random, signal } = this.#parts;
    await persist(
      async () => {
        for await (const item of log.follow({ taskId, after: this.#seq }, signal)) {
          if (item.kind === 'gone') return;
          this.#seq = item.entries.at(-1)?.seq ?? this.#seq;
          if (item.entries.some((entry) => entry.kind === 'message')) return;
        }
      },
      { clock, random, signal },
    );
  }

  async #patiently<T>(call: () => Promise<T>): Promise<T> {
    const { clock, random, over } = this.#parts;
    const result = await persist(call, { clock, random, signal: over });
    if (over.aborted) throw turnIsOver();
    return result as T; // undefined stands for "the signal fired first" only, and that was just ruled out
  }
}
