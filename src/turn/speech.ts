import type { Mutable } from '../ground/mutable.ts';
import type { Random } from '../ground/random.ts';
import type { ArtifactBody, NewEntry, StatusBody, TakenBody } from '../log/entry.ts';
import type { TaskRow } from '../log/store.ts';
import { idProblem } from '../protocol/ids.ts';
import { badContent, copyStruct, copyText } from '../protocol/json.ts';
import { toParts } from '../protocol/parts.ts';
import type { Artifact, Message, Part, Struct, TaskState } from '../protocol/types.ts';
import type { EngineFailureCode, Failure } from './failure.ts';
import { engineFailure, failureMetadata } from './failure.ts';
import type { Ending } from './outcome.ts';
import type { ArtifactOptions, Content, SayOptions } from './turn.ts';
import type { Writer } from './writer.ts';

/** How an artifact piece stands to what was sent before. */
export interface PieceOptions {
  readonly isLast?: boolean;
  /** Adds to what is there instead of replacing it. */
  readonly isAppended?: boolean;
}

/**
 * What the verbs of a turn say, as entries. Bodies are JSON text made here, once: what agent code changes afterwards never shows (case 35),
 * and a repeat sends the same bytes. Bad content throws before anything is queued.
 */
export class Speech {
  readonly #grant: TaskRow;
  readonly #random: Random;
  readonly #writer: Writer;
  /** The state that the last queued entry leaves behind; nobody else changes it while the turn is ours. */
  #state: TaskState;
  #opened: Set<string> | undefined;
  #calls = 0;

  constructor({ grant, random, writer }: { readonly grant: TaskRow; readonly random: Random; readonly writer: Writer }) {
    this.#grant = grant;
    this.#random = random;
    this.#writer = writer;
    this.#state = grant.state;
  }

  // -- statuses --

  working(content: Content | undefined, options: SayOptions | undefined): Promise<void> {
    return this.#sayStatus('TASK_STATE_WORKING', this.statusBody(content, options));
  }

  /** Metadata for the task, in the state in which it stands. */
  note(metadata: Struct): Promise<void> {
    return this.#sayStatus(this.#state, this.statusBody(undefined, { metadata }));
  }

  /** Records AUTH_REQUIRED and gives its ordinal once it is on the log; the turn stays open. */
  async askForAuth(body: string): Promise<number> {
    const said = this.#sayStatus('TASK_STATE_AUTH_REQUIRED', body);
    const ordinal = this.#writer.lastOrdinal;
    await said;
    return ordinal;
  }

  /** Body of a status as the agent gave it. */
  statusBody(content: Content | undefined, options: SayOptions | undefined): string {
    const body: StatusBody = {
      ...(content === undefined ? {} : { message: this.#message(toParts(content)) }),
      ...(options?.metadata === undefined ? {} : { metadata: copyStruct(options.metadata, 'metadata') }),
    };
    return JSON.stringify(body);
  }

  #sayStatus(state: TaskState, body: string): Promise<void> {
    if (!this.#writer.isClosed) this.#state = state;
    return this.#writer.say([{ kind: 'status', state, body }]);
  }

  #message(parts: readonly Part[]): Message {
    const { id, contextId } = this.#grant;
    return { messageId: this.#random.uuid(), contextId, taskId: id, role: 'ROLE_AGENT', parts };
  }

  // -- artifacts --

  /**
   * The id an artifact has unless its author gives one: a function of the turn, so that turns never overwrite each other, and of the name
   * or the number of the call, so that a re-run's first chunk replaces what a lost attempt left.
   */
  artifactId({ artifactId, name }: Pick<ArtifactOptions, 'artifactId' | 'name'>): string {
    const id = artifactId ?? (name === undefined ? `${this.#grant.turn}#${++this.#calls}` : `${this.#grant.turn}-${name}`);
    const problem = idProblem(copyText(id, 'artifactId'));
    if (problem !== undefined) throw badContent('artifactId', problem);
    return id;
  }

  /** True when this run has begun the artifact of that id. */
  hasOpened(artifactId: string): boolean {
    return this.#opened?.has(artifactId) ?? false;
  }

  /** One piece of an artifact. */
  artifact(artifact: Artifact, options: PieceOptions = {}): Promise<void> {
    const entry = artifactEntry(artifact, options);
    // code that goes on after its end is refused, and must not fill the memory with what it names (P11)
    if (!this.#writer.isClosed) (this.#opened ??= new Set()).add(artifact.artifactId);
    return this.#writer.say([...this.#thaw(), entry]);
  }

  /** Which waiting messages the turn takes. */
  taken(messages: readonly number[]): Promise<void> {
    const body: TakenBody = { messages };
    return this.#writer.say([...this.#thaw(), { kind: 'taken', taken: messages, body: JSON.stringify(body) }]);
  }

  /** Whoever goes on working no longer waits for credentials: observers hear of it first (case 49). */
  #thaw(): readonly NewEntry[] {
    if (this.#state !== 'TASK_STATE_AUTH_REQUIRED' || this.#writer.isClosed) return [];
    this.#state = 'TASK_STATE_WORKING';
    return [{ kind: 'status', state: 'TASK_STATE_WORKING', body: '{}' }];
  }

  // -- endings --

  /** What closes the turn with an outcome. */
  outcome(ending: Ending): readonly NewEntry[] {
    if (ending.kind === 'status') return [{ kind: 'status', state: ending.state, body: ending.body }];
    const closed: NewEntry = { kind: 'closed', body: '{}' };
    // the code went on after it was told that AUTH_REQUIRED is recorded, and returns that outcome all the same: then it is said again
    const isLastWord = this.#writer.lastOrdinal === ending.ordinal;
    return isLastWord ? [closed] : [{ kind: 'status', state: 'TASK_STATE_AUTH_REQUIRED', body: ending.body }, closed];
  }

  /** Content becomes one artifact and COMPLETED, in one append; nothing becomes COMPLETED. */
  completed(content: Content | undefined): readonly NewEntry[] {
    const done: NewEntry = { kind: 'status', state: 'TASK_STATE_COMPLETED', body: '{}' };
    if (content === undefined) return [done];
    const artifact: Artifact = { artifactId: `${this.#grant.turn}#result`, name: 'result', parts: toParts(content) };
    const result = artifactEntry(artifact, { isLast: true });
    const thawed = this.#thaw();
    return thawed.length === 0 ? [result, done] : [...thawed, result, done];
  }

  /** FAILED, with words a person can read and the code a program can. */
  failed(failure: Failure): NewEntry {
    const body: StatusBody = { message: this.#message([{ text: failure.message }]), metadata: failureMetadata(failure) };
    return { kind: 'status', state: 'TASK_STATE_FAILED', body: JSON.stringify(body) };
  }

  /** The same, for a reason of the engine's own. */
  engineFailed(code: EngineFailureCode): NewEntry {
    return this.failed(engineFailure(code));
  }
}

function artifactEntry(artifact: Artifact, { isLast, isAppended }: PieceOptions): NewEntry {
  const body: Mutable<ArtifactBody> = { artifact };
  if (isAppended) body.append = true;
  if (isLast) body.lastChunk = true;
  return { kind: 'artifact', body: JSON.stringify(body) };
}

/** What an artifact carries beside its id and parts, checked and copied. */
export function artifactDetails({ name, description, metadata, extensions }: ArtifactOptions): Omit<Artifact, 'artifactId' | 'parts'> {
  return {
    ...(name === undefined ? {} : { name: copyText(name, 'name') }),
    ...(description === undefined ? {} : { description: copyText(description, 'description') }),
    ...(metadata === undefined ? {} : { metadata: copyStruct(metadata, 'metadata') }),
    ...(extensions === undefined ? {} : { extensions: extensions.map((uri, index) => copyText(uri, `extensions[${index}]`)) }),
  };
}
