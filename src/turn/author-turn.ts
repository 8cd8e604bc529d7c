import type { Signal } from '../ground/signal.ts';
import type { Clock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import type { Caller, MessageBody } from '../log/entry.ts';
import type { TaskRow } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';
import { cloneJson } from '../protocol/json.ts';
import { textOf } from '../protocol/parts.ts';
import type { Message, Struct, Task } from '../protocol/types.ts';
import { turnIsOver } from './failure.ts';
import type { AuthorSignal } from './author-signal.ts';
import { artifactWriter } from './artifact.ts';
import { openInbox } from './inbox.ts';
import type { Opening } from './opening.ts';
import type { Outcomes } from './outcome.ts';
import { whenAsked } from './outcome.ts';
import { persist } from './patience.ts';
import type { Speech } from './speech.ts';
import type { StreamParts } from './text-stream.ts';
import { TextStream } from './text-stream.ts';
import type { Content, Inbox, Outcome, SayOptions, Turn } from './turn.ts';
import { verb } from './verb.ts';
import type { Writer } from './writer.ts';

/** What the author's view of a turn is made of. */
export interface AuthorParts {
  readonly log: TaskLog;
  readonly grant: TaskRow;
  readonly replica: string;
  readonly opening: Opening;
  readonly speech: Speech;
  readonly writer: Writer;
  readonly outcomes: Outcomes;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AuthorSignal;
  readonly over: Signal;
}

type Verbs = Pick<Turn, 'working' | 'note' | 'artifact' | 'stream' | 'ask' | 'askForAuth' | 'refuse' | 'complete' | 'related'>;

/**
 * The turn as agent code holds it. Everything in it is a copy: whatever the code does to it, the log and other readers never see (case 35).
 * What most codes look at seldom is made when it is looked at; in a short turn making all of it cost as much as its writes. The verbs are
 * getters of functions that need no `this`: code may take a turn apart.
 */
export class AuthorTurn implements Turn {
  readonly #parts: AuthorParts;
  #said: Required<MessageBody> | undefined;
  #task: Task | undefined;
  #history: readonly Message[] | undefined;
  #inbox: Inbox | undefined;
  #verbs: Verbs | undefined;

  constructor(parts: AuthorParts) {
    this.#parts = parts;
  }

  get id(): string {
    const { grant } = this.#parts;
    return `${grant.id}.${grant.turn}`;
  }

  get attempt(): number {
    return this.#parts.grant.attempt;
  }

  get isResumed(): boolean {
    return this.#parts.grant.isResumed;
  }

  get replica(): string {
    return this.#parts.replica;
  }

  get text(): string {
    return textOf(this.#parts.opening.said.message);
  }

  get message(): Message {
    return this.#copyOfSaid().message;
  }

  get metadata(): Struct {
    return this.#copyOfSaid().metadata;
  }

  get acceptedOutputModes(): readonly string[] {
    return this.#copyOfSaid().acceptedOutputModes;
  }

  get caller(): Caller {
    return this.#copyOfSaid().caller;
  }

  get task(): Task {
    return (this.#task ??= cloneJson(this.#parts.opening.task));
  }

  get history(): readonly Message[] {
    const { task, historyLength } = this.#parts.opening;
    return (this.#history ??= cloneJson(task.history?.slice(0, historyLength) ?? []));
  }

  get signal(): AbortSignal {
    return this.#parts.signal.signal;
  }

  get inbox(): Inbox {
    const { grant, opening } = this.#parts;
    return (this.#inbox ??= openInbox({ ...this.#parts, taskId: grant.id, taken: opening.taken }));
  }

  get working(): Turn['working'] {
    return this.#allVerbs().working;
  }

  get note(): Turn['note'] {
    return this.#allVerbs().note;
  }

  get artifact(): Turn['artifact'] {
    return this.#allVerbs().artifact;
  }

  get stream(): Turn['stream'] {
    return this.#allVerbs().stream;
  }

  get ask(): Turn['ask'] {
    return this.#allVerbs().ask;
  }

  get askForAuth(): Turn['askForAuth'] {
    return this.#allVerbs().askForAuth;
  }

  get refuse(): Turn['refuse'] {
    return this.#allVerbs().refuse;
  }

  get complete(): Turn['complete'] {
    return this.#allVerbs().complete;
  }

  get related(): Turn['related'] {
    return this.#allVerbs().related;
  }

  #copyOfSaid(): Required<MessageBody> {
    return (this.#said ??= { metadata: {}, acceptedOutputModes: [], ...cloneJson(this.#parts.opening.said) });
  }

  #allVerbs(): Verbs {
    return (this.#verbs ??= verbsOf(this.#parts));
  }
}

function verbsOf(parts: AuthorParts): Verbs {
  const { speech, writer, outcomes, opening, clock, signal, over } = parts;
  const isInTask = (id: string): boolean => opening.task.artifacts?.some(({ artifactId }) => artifactId === id) ?? false;
  const ending =
    (state: 'TASK_STATE_INPUT_REQUIRED' | 'TASK_STATE_REJECTED' | 'TASK_STATE_COMPLETED') =>
    (content?: Content, options?: SayOptions): Outcome =>
      outcomes.make({ kind: 'status', state, body: speech.statusBody(content, options) });
  return {
    related: () => verb(() => related(parts)),
    working: (content, options) => verb(() => speech.working(content, options)),
    note: (metadata) => verb(() => speech.note(metadata)),
    artifact: (name, options = {}) => artifactWriter(speech, { ...options, name }, isInTask),
    stream: (chunks, options = {}) => verb(() => new TextStream({ speech, writer, clock, ...stopOf(signal, over) }, options).pipe(chunks)),
    ask: ending('TASK_STATE_INPUT_REQUIRED'),
    refuse: ending('TASK_STATE_REJECTED'),
    complete: ending('TASK_STATE_COMPLETED'),
    askForAuth(content, options) {
      const body = speech.statusBody(content, options);
      return whenAsked(() => verb(async () => outcomes.make({ kind: 'auth', ordinal: await speech.askForAuth(body), body })));
    },
  };
}

/** What stops a stream. Code that took the message which interrupted it goes on although its signal has fired. */
function stopOf(signal: AuthorSignal, over: Signal): Pick<StreamParts, 'signal' | 'reason'> {
  return signal.aborted ? { signal: over, reason: turnIsOver } : { signal, reason: () => signal.reason };
}

/** The tasks a message refers to, as its caller may see them: strangers' tasks look like unknown ones (P10). */
async function related({ log, grant, opening, clock, random, over }: AuthorParts): Promise<readonly Task[]> {
  const { agent, tenant, owner } = grant;
  const ids = [...new Set(opening.said.message.referenceTaskIds ?? [])];
  const tasks: Task[] = [];
  for (const id of ids) {
    const found = await persist(() => log.read(id, { agent, tenant, owner }), { clock, random, signal: over });
    if (over.aborted) throw turnIsOver();
    if (found) tasks.push(cloneJson(found.task));
  }
  return tasks;
}
