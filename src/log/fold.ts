import { assert, assertNever } from '../ground/assert.ts';
import type { Mutable } from '../ground/mutable.ts';
import { isTerminal } from '../protocol/states.ts';
import type { Artifact, Message, Part, StreamResponse, Struct, Task, TaskArtifactUpdateEvent, TaskStatus } from '../protocol/types.ts';
import type { Entry } from './entry.ts';

interface OpenArtifact {
  /** Everything but the parts: those that came with it are in `parts`. */
  details: Artifact;
  /** Grows in place: one more chunk costs one push, never a copy of what is there. */
  parts: Part[];
}

/**
 * Task = fold(entries): the one place that says what a log means, for server, client, tests and console. Merge rules: a repeated status is
 * legal and its metadata is merged key by key into the task's (AMB-34); artifacts by AMB-09; the message of the present status is not in
 * the history, it moves there, to the place where it was said, when the next status comes (AMB-14).
 *
 * It grows with `apply` (entries) or `see` (stream items) at O(entry) and gives frozen snapshots with `task`.
 */
export class TaskFold {
  readonly id: string;
  /** Entries up to this seq are in; 0 for a fold of stream items. */
  seq = 0;
  /** Sum of the folded bodies' lengths: what the fold roughly costs in memory. */
  bytes = 0;
  #contextId: string | undefined;
  #status: TaskStatus | undefined;
  #metadata: Struct | undefined;
  #history: Message[] = [];
  /** Where in the history the present status's message will stand once it is retired: before the answer that came after it. */
  #statusPlace = 0;
  #artifacts = new Map<string, OpenArtifact>();
  #snapshot: Task | undefined;

  constructor(id: string, contextId?: string) {
    this.id = id;
    this.#contextId = contextId;
  }

  /** Adds the next entry. */
  apply(entry: Entry): void {
    assert(entry.seq === this.seq + 1, `fold: entries are dense (${entry.seq} after ${this.seq})`);
    this.seq = entry.seq;
    this.fold(entry);
  }

  /** As `apply`, for readers that left out kinds they do not need (lists read no artifacts). */
  fold(entry: Entry): void {
    this.bytes += entry.bytes;
    this.#snapshot = undefined;
    switch (entry.kind) {
      case 'message':
        this.#history.push(placed(entry.message, this.id, this.#contextId));
        return;
      case 'status': {
        const status: Mutable<TaskStatus> = { state: entry.state, timestamp: new Date(entry.at).toISOString() };
        if (entry.message) status.message = entry.message;
        this.#setStatus(status, entry.metadata);
        return;
      }
      case 'artifact':
        this.#addArtifact(entry);
        return;
      case 'taken':
      case 'closed':
      case 'unknown':
        return;
      default:
        assertNever(entry);
    }
  }

  /** Adds one item of a stream; a `task` replaces everything (design section 7), a `message` says nothing of a task. */
  see(item: StreamResponse): void {
    this.#snapshot = undefined;
    if ('task' in item) this.#replace(item.task);
    else if ('statusUpdate' in item) {
      this.#contextId ??= item.statusUpdate.contextId;
      this.#setStatus(item.statusUpdate.status, item.statusUpdate.metadata);
    } else if ('artifactUpdate' in item) {
      this.#contextId ??= item.artifactUpdate.contextId;
      this.#addArtifact(item.artifactUpdate);
    }
  }

  /** Its last status is the end of the task. */
  get isEnded(): boolean {
    return this.#status !== undefined && isTerminal(this.#status.state);
  }

  /** The task as of now; undefined before the first status. The same object until something is added. */
  task(): Task | undefined {
    this.#snapshot ??= this.#status && this.#makeTask(this.#status);
    return this.#snapshot;
  }

  #makeTask(status: TaskStatus): Task {
    const { id } = this;
    const contextId = this.#contextId;
    const task: Mutable<Task> = contextId === undefined ? { id, status } : { id, contextId, status };
    if (this.#artifacts.size > 0) task.artifacts = [...this.#artifacts.values()].map(closeArtifact);
    if (this.#history.length > 0) task.history = this.#history.slice();
    if (this.#metadata) task.metadata = this.#metadata;
    return Object.freeze(task);
  }

  #replace(task: Task): void {
    this.#contextId = task.contextId;
    this.#status = task.status;
    this.#metadata = task.metadata;
    this.#history = [...(task.history ?? [])];
    this.#statusPlace = this.#history.length;
    this.#artifacts = new Map((task.artifacts ?? []).map((artifact) => [artifact.artifactId, openArtifact(artifact)]));
  }

  #setStatus(status: TaskStatus, metadata: Struct | undefined): void {
    const retired = this.#status?.message;
    if (retired) this.#history.splice(this.#statusPlace, 0, retired);
    this.#status = status;
    this.#statusPlace = this.#history.length;
    if (metadata) this.#metadata = { ...this.#metadata, ...metadata };
  }

  #addArtifact({ artifact, append }: Pick<TaskArtifactUpdateEvent, 'artifact' | 'append'>): void {
    const known = append ? this.#artifacts.get(artifact.artifactId) : undefined;
    if (!known) {
      this.#artifacts.set(artifact.artifactId, openArtifact(artifact)); // first piece, or a whole new version
      return;
    }
    for (const part of artifact.parts) known.parts.push(part);
    known.details = mergeDetails(known.details, artifact);
  }
}

/** A message with the ids of its task, whichever it named itself. Written out: measured, by spread it takes ten times as long. */
function placed(said: Message, taskId: string, contextId: string | undefined): Message {
  const { messageId, role, parts, metadata, extensions, referenceTaskIds } = said;
  const message: Mutable<Message> = { messageId, taskId, role, parts };
  const context = contextId ?? said.contextId;
  if (context !== undefined) message.contextId = context;
  if (metadata) message.metadata = metadata;
  if (extensions) message.extensions = extensions;
  if (referenceTaskIds) message.referenceTaskIds = referenceTaskIds;
  return message;
}

function openArtifact(artifact: Artifact): OpenArtifact {
  return { details: artifact, parts: artifact.parts.slice() };
}

function closeArtifact({ details, parts }: OpenArtifact): Artifact {
  return { ...details, parts: parts.slice() };
}

/** AMB-09: last non-empty name and description win, metadata is merged key by key, extensions are joined. */
function mergeDetails(before: Artifact, now: Artifact): Artifact {
  if (!now.name && !now.description && !now.metadata && !now.extensions) return before; // the hot path: one more chunk
  const extensions = [...new Set([...(before.extensions ?? []), ...(now.extensions ?? [])])];
  return {
    ...before,
    ...(now.name ? { name: now.name } : {}),
    ...(now.description ? { description: now.description } : {}),
    ...(now.metadata ? { metadata: { ...before.metadata, ...now.metadata } } : {}),
    ...(extensions.length > 0 ? { extensions } : {}),
  };
}
