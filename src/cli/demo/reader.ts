import { callerClock, sleep } from '../../ground/clock.ts';
import { isA2AError } from '../../protocol/errors.ts';
import { isInterrupted, isTerminal } from '../../protocol/states.ts';
import type { StreamResponse, TaskState } from '../../protocol/types.ts';
import { LostAnswerError } from '../../testing/probe.ts';
import type { Probe, Seen } from '../../testing/probe.ts';
import type { Transcript } from './transcript.ts';

/** An agent that says nothing for so long is not waited for any longer. */
const PATIENCE_MS = 20_000;

/** Follows a task to its end, on one replica after the other when a connection is cut, and lets people read along. */
export class Reader {
  readonly name: string;
  readonly #taskId: string;
  readonly #transcript: Transcript | undefined;
  readonly #waiting: { readonly until: (reader: Reader) => boolean; readonly resolve: () => void }[] = [];
  /** Where it stands. */
  seq = 0;
  state: TaskState | undefined;
  /** Artifact items seen since the last status. */
  chunks = 0;
  /** How often it has seen the agent ask its user for something. */
  questions = 0;

  /** Without a transcript it reads in silence. */
  constructor(name: string, taskId: string, transcript?: Transcript) {
    this.name = name;
    this.#taskId = taskId;
    this.#transcript = transcript;
  }

  /** Reads until the task has ended; `next` gives the probe for each connection. */
  async read(next: () => Probe): Promise<void> {
    while (this.state === undefined || !isTerminal(this.state)) {
      const probe = next();
      const after = this.seq > 0 ? { after: this.seq } : {};
      try {
        for await (const seen of probe.subscribe(this.#taskId, { reader: this.name, ...after })) this.#see(seen, probe.observer);
      } catch (error) {
        if (isA2AError(error) && error.code === 'UNSUPPORTED_OPERATION') {
          await this.#readEnded(probe);
          continue;
        }
        if (!(error instanceof LostAnswerError)) throw error;
        this.#transcript?.tell(this.name, `lost ${probe.observer}, goes on behind entry ${this.seq} elsewhere`);
      }
    }
  }

  /** Resolves as soon as the reader has come so far, or the task has ended, or after `msMax`. */
  async until(condition: (reader: Reader) => boolean, msMax: number = PATIENCE_MS): Promise<void> {
    if (this.#isThere(condition)) return;
    const isThere = new AbortController();
    this.#waiting.push({ until: condition, resolve: () => isThere.abort() });
    await sleep(callerClock, msMax, isThere.signal);
  }

  /** It had ended before anybody could follow it (SUB-03): it is read as it stands. */
  async #readEnded(probe: Probe): Promise<void> {
    const task = await probe.get(this.#taskId);
    this.state = task.status.state;
    this.#transcript?.tell(this.name, `${probe.observer} has it ended: ${wordsOf({ task })}`);
    for (const artifact of task.artifacts ?? []) this.#transcript?.write(textOf(artifact));
    this.#tellWaiting();
  }

  #isThere(condition: (reader: Reader) => boolean): boolean {
    return condition(this) || (this.state !== undefined && isTerminal(this.state));
  }

  #see({ seq, item }: Seen, from: string): void {
    this.seq = seq ?? this.seq;
    const state = stateOf(item);
    if (state) this.chunks = 0;
    if (state && isInterrupted(state)) this.questions += 1;
    this.state = state ?? this.state;
    if ('artifactUpdate' in item) {
      this.chunks += 1;
      this.#transcript?.write(textOf(item.artifactUpdate.artifact));
    } else this.#transcript?.tell(this.name, `${from} shows entry ${this.seq}: ${wordsOf(item)}`);
    this.#tellWaiting();
  }

  #tellWaiting(): void {
    for (const one of this.#waiting.splice(0)) {
      if (this.#isThere(one.until)) one.resolve();
      else this.#waiting.push(one);
    }
  }
}

function stateOf(item: StreamResponse): TaskState | undefined {
  if ('task' in item) return item.task.status.state;
  return 'statusUpdate' in item ? item.statusUpdate.status.state : undefined;
}

function wordsOf(item: StreamResponse): string {
  const status = 'task' in item ? item.task.status : 'statusUpdate' in item ? item.statusUpdate.status : undefined;
  if (!status) return 'a message';
  const words = status.message ? ` "${textOf(status.message)}"` : '';
  return `${status.state.replace('TASK_STATE_', '')}${words}`;
}

function textOf({ parts }: { readonly parts: readonly object[] }): string {
  return parts.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('');
}
