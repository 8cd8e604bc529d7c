import type { Signal } from '../ground/signal.ts';
import type { Clock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import type { TaskRow } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';
import { cloneJson } from '../protocol/json.ts';
import { textOf } from '../protocol/parts.ts';
import type { Message, Task } from '../protocol/types.ts';
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
import type { Content, Outcome, SayOptions, Turn } from './turn.ts';
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

/** The turn as agent code holds it. Everything in it is a copy: whatever the code does to it, the log and other readers never see (case 35). */
export function authorTurn(parts: AuthorParts): Turn {
  const { grant, replica, opening, signal } = parts;
  const { message, caller, metadata = {}, acceptedOutputModes = [] } = cloneJson(opening.said);
  const task = once(() => cloneJson(opening.task));
  const history = once(() => cloneJson(opening.task.history?.slice(0, opening.historyLength) ?? []));
  return Object.freeze<Turn>({
    id: `${grant.id}.${grant.turn}`,
    attempt: grant.attempt,
    isResumed: grant.isResumed,
    replica,
    message,
    text: textOf(message),
    metadata,
    acceptedOutputModes,
    caller,
    get task() {
      return task();
    },
    get history() {
      return history();
    },
    related: () => verb(() => related(parts, message)),
    get signal() {
      return signal.signal;
    },
    inbox: openInbox({ ...parts, taskId: grant.id, taken: opening.taken }),
    ...verbsOf(parts),
  });
}

type Verbs = Pick<Turn, 'working' | 'note' | 'artifact' | 'stream' | 'ask' | 'askForAuth' | 'refuse' | 'complete'>;

function verbsOf({ speech, writer, outcomes, opening, clock, signal, over }: AuthorParts): Verbs {
  const knownArtifacts = once(() => new Set(opening.task.artifacts?.map(({ artifactId }) => artifactId)));
  const ending =
    (state: 'TASK_STATE_INPUT_REQUIRED' | 'TASK_STATE_REJECTED' | 'TASK_STATE_COMPLETED') =>
    (content?: Content, options?: SayOptions): Outcome =>
      outcomes.make({ kind: 'status', state, body: speech.statusBody(content, options) });
  return {
    working: (content, options) => verb(() => speech.working(content, options)),
    note: (metadata) => verb(() => speech.note(metadata)),
    artifact: (name, options = {}) => artifactWriter(speech, { ...options, name }, (id) => knownArtifacts().has(id)),
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
async function related({ log, grant, clock, random, over }: AuthorParts, message: Message): Promise<readonly Task[]> {
  const { agent, tenant, owner } = grant;
  const ids = [...new Set(message.referenceTaskIds ?? [])];
  const tasks: Task[] = [];
  for (const id of ids) {
    const found = await persist(() => log.read(id, { agent, tenant, owner }), { clock, random, signal: over });
    if (over.aborted) throw turnIsOver();
    if (found) tasks.push(cloneJson(found.task));
  }
  return tasks;
}

/** A long task is copied only for code that looks at it. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
