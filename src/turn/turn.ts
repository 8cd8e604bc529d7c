import type { Caller } from '../log/entry.ts';
import type { Message, Part, Struct, Task } from '../protocol/types.ts';

/** What an agent says: a text, one part, or parts. */
export type Content = string | Part | readonly Part[];

/** What a status or message may carry beside its content. */
export interface SayOptions {
  /** Merged key by key into the task's metadata (AMB-34). */
  readonly metadata?: Struct;
}

/** What an artifact carries beside its parts. */
export interface ArtifactOptions {
  /** Defaults to a function of (turn, name or call number), so that a re-run's first chunk replaces what a lost attempt left. */
  readonly artifactId?: string;
  readonly name?: string;
  readonly description?: string;
  readonly metadata?: Struct;
  readonly extensions?: readonly string[];
}

declare const outcomeBrand: unique symbol;

/** How a turn ends, made by `turn.ask`, `turn.askForAuth`, `turn.refuse`, `turn.complete`; it takes effect when `run` returns it. */
export interface Outcome {
  readonly [outcomeBrand]: true;
}

/** What `run` may return: content (an artifact, then COMPLETED), an outcome, or nothing (COMPLETED). */
export type RunResult = Content | Outcome | undefined | void;

/** One artifact being written, piece by piece. Awaiting a verb means: it is on the log. */
export interface ArtifactWriter {
  readonly artifactId: string;
  /** Starts the artifact anew with this content (`append: false`): what stood under the id before is replaced. */
  write(content: Content, options?: { readonly isLast?: boolean }): Promise<void>;
  /** Adds parts; the first one opens the artifact if this turn has not (AMB-09: an unknown id is created). */
  append(content: Content, options?: { readonly isLast?: boolean }): Promise<void>;
}

/** Messages that reached the task while its turn was open. */
export interface Inbox extends AsyncIterable<Message> {
  /** Takes all that wait now, oldest first; none is a fine answer. Taken ones belong to this turn, also if it is run again. */
  take(): Promise<readonly Message[]>;
  /** Waits for the next one and takes it; undefined when the signal fires first. */
  next(): Promise<Message | undefined>;
}

/**
 * One turn of a task, in the hands of agent code: the message to answer and the verbs to answer with. Awaiting a verb means it is on the
 * log. Verbs are applied in call order; after the end of the turn they are refused (UNSUPPORTED_OPERATION), and nothing the code says
 * after `signal` fired counts (but for an interrupt, where the turn may still end by itself within the grace).
 */
export interface Turn {
  /** Stable over re-runs; with `attempt` it names one run only: use both to guard effects outside the log (P4). */
  readonly id: string;
  /** From 1; rises whenever the turn goes to another run. */
  readonly attempt: number;
  /** Opened by `agent.resume`, without a message of its own: `message` is the one the turn before answered. */
  readonly isResumed: boolean;
  /** Id of the replica that runs it (random per start). */
  readonly replica: string;
  /** The message this turn answers. A copy: changing it changes nothing. */
  readonly message: Message;
  /** The texts of `message`, joined. */
  readonly text: string;
  /** Metadata of the request that brought the message. */
  readonly metadata: Struct;
  readonly acceptedOutputModes: readonly string[];
  /** Who sent the message; lives as long as the turn, on any replica (case 29). */
  readonly caller: Caller;
  /** The task as it stood when this run began. */
  readonly task: Task;
  /** What was said before this turn's own message. */
  readonly history: readonly Message[];
  /** The tasks that `message.referenceTaskIds` names, as far as the caller may see them (TURN-20, TURN-21). */
  readonly related: () => Promise<readonly Task[]>;
  /** Fires when the turn is over without the code's doing: cancel, deadline, inactivity, drain, takeover, interrupt. */
  readonly signal: AbortSignal;
  readonly inbox: Inbox;

  /** Status WORKING, with words if given. */
  working(content?: Content, options?: SayOptions): Promise<void>;
  /** One status entry in the present state, to set metadata of the task. */
  note(metadata: Struct): Promise<void>;
  /** A writer for the artifact of that name. */
  artifact(name: string, options?: Omit<ArtifactOptions, 'name'>): ArtifactWriter;
  /** Pipes chunks (a model's token stream) into one artifact; text deltas that wait for the same commit become one entry. */
  stream(chunks: AsyncIterable<string | Part> | Iterable<string | Part>, options?: ArtifactOptions): Promise<void>;
  /** `return turn.ask('…')`: INPUT_REQUIRED. */
  ask(content?: Content, options?: SayOptions): Outcome;
  /** `return turn.askForAuth('…')`: AUTH_REQUIRED, turn closed. `await turn.askForAuth('…')` records it; the turn stays open and held. */
  askForAuth(content?: Content, options?: SayOptions): Outcome & PromiseLike<Outcome>;
  /** `return turn.refuse('…')`: REJECTED. */
  refuse(content?: Content, options?: SayOptions): Outcome;
  /** `return turn.complete('…')`: COMPLETED with these words as the status message, no artifact. */
  complete(content?: Content, options?: SayOptions): Outcome;
}

/** Agent code. */
export type Run = (turn: Turn) => RunResult | Promise<RunResult>;

/** What `reply` gets beside the message. */
export interface ReplyContext {
  readonly text: string;
  readonly caller: Caller;
  readonly metadata: Struct;
  /** Fires after 30 s, or when the caller is gone. */
  readonly signal: AbortSignal;
}

/** Answers small talk with a bare Message: no task, nothing stored. Giving undefined hands the message to `run`. */
export type Reply = (message: Message, context: ReplyContext) => Content | undefined | Promise<Content | undefined>;
