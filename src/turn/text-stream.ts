import type { Signal } from '../ground/signal.ts';
import type { Clock, Timer } from '../ground/clock.ts';
import { textProblem } from '../protocol/text.ts';
import { badContent } from '../protocol/json.ts';
import { toParts } from '../protocol/parts.ts';
import type { Part } from '../protocol/types.ts';
import { turnIsOver, wellFormed } from './failure.ts';
import type { Speech } from './speech.ts';
import { artifactDetails } from './speech.ts';
import type { ArtifactOptions } from './turn.ts';
import { verb } from './verb.ts';
import type { Writer } from './writer.ts';

/** What `turn.stream` takes. */
export type Chunks = AsyncIterable<string | Part> | Iterable<string | Part>;

/** How long the newest piece is kept back, so that the end, which often follows at once, can be marked on it (`lastChunk`, case 57). */
const HOLD_MS = 20;

/** Text that may wait for a commit, in UTF-16 units; then the source waits too. */
export const HELD_TEXT_MAX = 65_536;

/** What a stream needs of its turn. */
export interface StreamParts {
  readonly speech: Speech;
  readonly writer: Writer;
  readonly clock: Clock;
  /** Fires when the code shall stop; for a turn that goes on after an interrupt, when the turn is over. */
  readonly signal: Signal;
  /** What the stream throws when it was stopped. */
  readonly reason: () => unknown;
}

type Step =
  | { readonly kind: 'item'; readonly result: IteratorResult<string | Part, unknown> }
  | { readonly kind: 'due' | 'free' | 'aborted' };

/**
 * Pipes a model's deltas into one artifact. Text that would wait for a commit anyway is joined into one entry; a piece that need not wait is
 * an entry of its own. Half of a surrogate pair at the end of a delta is kept until the other half comes.
 */
export class TextStream {
  readonly #parts: StreamParts;
  readonly #artifactId: string;
  readonly #details: ReturnType<typeof artifactDetails>;
  /** The newest piece, not yet said. Text, unless a part of another kind came. */
  #held: string | Part | undefined;
  /** Half a surrogate pair that was cut off the piece said last. */
  #half = '';
  #isDue = false;
  #hasOpened = false;
  /** Whom to tell when the writer is free again. */
  #onFree: (() => void) | undefined;
  #said: Promise<void> = Promise.resolve();

  constructor(parts: StreamParts, options: ArtifactOptions) {
    this.#parts = parts;
    this.#artifactId = parts.speech.artifactId(options);
    this.#details = artifactDetails(options);
  }

  /** Resolves when the source has ended and all of it is on the log. */
  async pipe(chunks: Chunks): Promise<void> {
    const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
    let isDone = false;
    try {
      await this.#pull(iterator);
      isDone = true;
    } catch (error) {
      this.#flush(); // what the source gave before it failed was said (P7)
      await this.#said;
      throw error;
    } finally {
      // not awaited: a source that hangs would hold the turn, and what it still has to say is of no interest
      if (!isDone) verb(async () => iterator.return?.()).catch(() => {});
    }
    await this.#said;
  }

  async #pull(iterator: AsyncIterator<string | Part> | Iterator<string | Part>): Promise<void> {
    const { writer, signal } = this.#parts;
    let next: Promise<IteratorResult<string | Part, unknown>> | undefined;
    for (;;) {
      if (writer.isClosed) throw turnIsOver();
      if (this.#isDue && this.#held !== undefined && !writer.isBusy) this.#flush();
      if (!this.#isFull()) next ??= Promise.resolve(iterator.next());
      const step = await this.#nextStep(next);
      if (writer.isClosed) throw turnIsOver();
      if (signal.aborted) throw this.#parts.reason();
      if (step.kind === 'due') this.#isDue = true;
      if (step.kind !== 'item') continue;
      next = undefined;
      if (step.result.done) return this.#end();
      this.#take(step.result.value);
    }
  }

  /** True when nothing more may be held: the source waits for a commit. */
  #isFull(): boolean {
    if (this.#held === undefined || !this.#parts.writer.isBusy) return false;
    return typeof this.#held !== 'string' || this.#held.length >= HELD_TEXT_MAX;
  }

  /** Waits for the source, the end of the hold, or a free place, whichever there is something to wait for. */
  #nextStep(next: Promise<IteratorResult<string | Part, unknown>> | undefined): Promise<Step> {
    const { clock, signal } = this.#parts;
    return new Promise<Step>((resolve, reject) => {
      let timer: Timer | undefined;
      const clear = (): void => {
        timer?.cancel();
        signal.removeEventListener('abort', onAbort);
      };
      const settle = (step: Step): void => {
        clear();
        resolve(step);
      };
      const onAbort = (): void => settle({ kind: 'aborted' });
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      next?.then(
        (result) => settle({ kind: 'item', result }),
        (error: unknown) => {
          clear();
          reject(error);
        },
      );
      if (this.#held === undefined) return;
      if (this.#isDue || !next) this.#whenFree(() => settle({ kind: 'free' }));
      else timer = clock.after(HOLD_MS, () => settle({ kind: 'due' }));
    });
  }

  /** One wait at a time: while the store is away pieces go on coming, and each would leave one more waiter (P11). */
  #whenFree(tell: () => void): void {
    const isWaiting = this.#onFree !== undefined;
    this.#onFree = tell;
    if (isWaiting) return;
    void this.#parts.writer.whenFree().then(() => {
      const onFree = this.#onFree;
      this.#onFree = undefined;
      onFree?.();
    });
  }

  #take(chunk: string | Part): void {
    const text = deltaOf(chunk);
    if (text === '') return;
    if (text !== undefined && typeof this.#held === 'string' && this.#parts.writer.isBusy) {
      this.#held += text; // it waits for the same commit
      return;
    }
    this.#flush();
    this.#isDue = false;
    this.#held = text === undefined ? checkedPart(chunk) : this.#half + text;
    if (text !== undefined) this.#half = '';
  }

  /** Says what is held, but for half a surrogate pair at its end. */
  #flush(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return;
    if (typeof held !== 'string') {
      this.#sayHalf();
      this.#say(held);
      return;
    }
    this.#half = endsInHalf(held) ? held.slice(-1) : '';
    const text = this.#half === '' ? held : held.slice(0, -1);
    if (text !== '') this.#say({ text: wellFormed(text) });
  }

  /** A part of another kind, or the end, follows on half a pair: the other half will not come. */
  #sayHalf(): void {
    if (this.#half === '') return;
    this.#half = '';
    this.#say({ text: '\uFFFD' });
  }

  #end(): void {
    if (typeof this.#held === 'string') this.#held = wellFormed(this.#held);
    else if (this.#held === undefined && this.#half !== '') {
      this.#half = '';
      this.#held = '\uFFFD';
    } else if (this.#held !== undefined) this.#sayHalf();
    // an artifact has at least one part (ART-01): an empty stream is an empty text, and so is the mark of an end that came late
    const held = this.#held ?? '';
    this.#held = undefined;
    this.#say(typeof held === 'string' ? { text: held } : held, true);
  }

  #say(part: Part, isLast = false): void {
    const isAppended = this.#hasOpened;
    this.#hasOpened = true;
    const artifact = { artifactId: this.#artifactId, ...(isAppended ? {} : this.#details), parts: [part] };
    this.#said = this.#parts.speech.artifact(artifact, { isLast, isAppended });
    this.#said.catch(() => {}); // a later piece is refused for the same reason, and that one is awaited
  }
}

/** The text of a delta; undefined for a part that is more than a text. */
function deltaOf(chunk: string | Part): string | undefined {
  const text = typeof chunk === 'string' ? chunk : isBareText(chunk) ? chunk.text : undefined;
  if (text !== undefined && text.includes('\0')) throw badContent('chunk', textProblem('\0') ?? '');
  return text;
}

function isBareText(chunk: Part): chunk is { readonly text: string } {
  return (
    typeof chunk === 'object' && chunk !== null && 'text' in chunk && typeof chunk.text === 'string' && Object.keys(chunk).length === 1
  );
}

function checkedPart(chunk: unknown): Part {
  const [part] = toParts(chunk as Part, 'chunk'); // whatever it is, toParts looks at it and throws unless it is a part
  if (part === undefined) throw badContent('chunk', 'must be a part');
  return part;
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
