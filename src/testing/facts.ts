import type { A2AError, ErrorCode } from '../protocol/errors.ts';
import type { StreamResponse, Task } from '../protocol/types.ts';

/** How a call ended for its caller. `lost`: no answer came, so what it did is unknown. */
export type Outcome =
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'message' }
  | { readonly kind: 'error'; readonly code: ErrorCode; readonly metadata: Readonly<Record<string, string>> }
  | { readonly kind: 'lost'; readonly why: string };

/** What every fact tells. */
export interface FactHead {
  /** Epoch milliseconds at which the observer learned it. */
  readonly at: number;
  /** Who saw it; one that follows a task over several connections keeps its name. */
  readonly observer: string;
  /** Which replica said it, where that is known. */
  readonly replica?: string;
}

/** A message was sent; for a streaming send the outcome is its first item. */
export interface SendFact extends FactHead {
  readonly kind: 'send';
  readonly messageId: string;
  /** The task the message named; absent for one that opens a task. */
  readonly taskId?: string;
  /** How much of the history was asked for; all of it if absent. */
  readonly historyLength?: number;
  readonly outcome: Outcome;
}

/** A stream was opened; items of the observer that follow are its items. */
export interface OpenFact extends FactHead {
  readonly kind: 'open';
  readonly how: 'send' | 'subscribe';
  readonly taskId?: string;
  /** The cursor it was opened with: what follows is a continuation, without a snapshot. */
  readonly after?: number;
}

/** One item of a stream. */
export interface ItemFact extends FactHead {
  readonly kind: 'item';
  readonly taskId: string;
  /** Its id on the wire. */
  readonly seq?: number;
  readonly item: StreamResponse;
  /** How much of the history was asked for; all of it if absent. */
  readonly historyLength?: number;
}

/** A stream is over: `ended` by the server, `cut` by anybody, or refused or broken off with an error. */
export interface CloseFact extends FactHead {
  readonly kind: 'close';
  readonly taskId?: string;
  readonly how: 'ended' | 'cut' | 'error';
  readonly code?: ErrorCode;
}

/** A cancel was asked for. */
export interface CancelFact extends FactHead {
  readonly kind: 'cancel';
  readonly taskId: string;
  readonly outcome: Outcome;
}

/** A task was read; `isFinal` once nothing moves any more. */
export interface ReadFact extends FactHead {
  readonly kind: 'read';
  readonly taskId: string;
  readonly historyLength?: number;
  readonly outcome: Outcome;
  readonly isFinal: boolean;
}

/** A replica was killed, or stopped for longer than its lease, while it held turns of these tasks. */
export interface KillFact extends FactHead {
  readonly kind: 'kill';
  readonly signal: 'SIGKILL' | 'SIGSTOP';
  readonly holding: readonly string[];
}

/** A replica was told to leave (SIGTERM): it may end streams without an end event. */
export interface LeaveFact extends FactHead {
  readonly kind: 'leave';
  /** When another process took its name: what that one does is judged again. Never, if absent. */
  readonly until?: number;
}

/** Something that a client, or the hand that kills, knows for certain. */
export type Fact = SendFact | OpenFact | ItemFact | CloseFact | CancelFact | ReadFact | KillFact | LeaveFact;

/** Everything that was seen, in the order in which it was seen. */
export class History {
  readonly #facts: Fact[] = [];
  #readers = 0;

  get facts(): readonly Fact[] {
    return this.#facts;
  }

  /** A name for a reader that nobody else has. */
  nextReader(observer: string): string {
    return `${observer}#${++this.#readers}`;
  }

  record(fact: Fact): void {
    this.#facts.push(fact);
  }
}

/** An error as an outcome. */
export function errorOutcome({ code, metadata }: A2AError): Outcome {
  return { kind: 'error', code, metadata };
}

/** Every task that anybody saw or was told of: what the checker needs of the store. */
export function taskIdsIn(facts: readonly Fact[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const fact of facts) {
    if (fact.kind === 'item') found.add(fact.taskId);
    if (fact.kind !== 'send' && fact.kind !== 'cancel' && fact.kind !== 'read') continue;
    if (fact.outcome.kind === 'task') found.add(fact.outcome.task.id);
    // the error of a task that failed before its agent had said anything (P7)
    if (fact.kind === 'send' && fact.taskId === undefined && fact.outcome.kind === 'error') {
      const { taskId } = fact.outcome.metadata;
      if (taskId !== undefined) found.add(taskId);
    }
  }
  return found;
}
