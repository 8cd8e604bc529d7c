import { textOf } from '../../src/protocol/parts.ts';
import type { StoredTask } from '../../src/testing.ts';

/** A verb that told its turn that this is on the log. */
export interface Said {
  readonly taskId: string;
  readonly turn: string;
  readonly text: string;
}

type Stored = ReadonlyMap<string, StoredTask>;
type Entry = StoredTask['entries'][number];

const short = (taskId: string): string => `task ${taskId.slice(0, 8)}`;

/** Awaiting a verb means that it is on the log (P7). */
export function* keptWords(said: readonly Said[], stored: Stored): Generator<string> {
  for (const { taskId, turn, text } of said) {
    const task = stored.get(taskId);
    const number = Number(turn.split('.').at(-1));
    const isKept = task?.entries.some(
      (entry) => entry.kind === 'artifact' && entry.turn === number && textOf(entry.artifact.parts) === text,
    );
    if (task && !isKept) yield `${short(taskId)}: turn ${turn} was told that "${text}" is on the log`;
  }
}

/** What one run says stands in the log in call order, nothing missing and nothing twice (P7, P9). */
export function* spokenInOrder(stored: Stored): Generator<string> {
  for (const [taskId, { entries }] of stored) {
    for (const [artifact, chunks] of chunksOf(entries)) {
      const [attempt] = (chunks[0] ?? '').split(':');
      const wrong = chunks.findIndex((chunk, index) => chunk !== `${attempt}:${index} `);
      if (wrong !== -1) yield `${short(taskId)}: artifact ${artifact} says "${chunks.join('')}"`;
    }
  }
}

/** A run that came to its end by itself has said all that it was told to say (P7). */
export function* spokenWhole(stored: Stored): Generator<string> {
  for (const [taskId, { entries }] of stored) {
    const chunks = chunksOf(entries);
    for (const closing of entries) {
      const text = closing.kind === 'status' && isOwnEnd(closing) ? textAnsweredBy(closing, entries) : undefined;
      for (const [index, command] of (text ?? '').split(';').entries()) {
        const [word, count] = command.split(' ');
        const said = chunks.get(`${closing.fence} out ${index}`)?.length ?? 0;
        if (word === 'emit' && said !== Number(count))
          yield `${short(taskId)}: of "${command}" the log has ${said} under fence ${closing.fence}`;
      }
    }
  }
}

/** The chunks by fence and name of the artifact; only its first chunk names it. */
function chunksOf(entries: readonly Entry[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string>();
  const found = new Map<string, string[]>();
  for (const entry of entries) {
    if (entry.kind !== 'artifact') continue;
    const { artifactId, parts, name = names.get(artifactId) } = entry.artifact;
    if (!name?.startsWith('out ')) continue;
    names.set(artifactId, name);
    const key = `${entry.fence} ${name}`;
    found.set(key, [...(found.get(key) ?? []), textOf(parts)]);
  }
  return found;
}

/** The turn said it itself, and not because it failed. A hand-over to a waiting message stands in the place of such an end. */
function isOwnEnd(entry: Entry & { readonly kind: 'status' }): boolean {
  const { ordinal, state } = entry;
  return (
    ordinal !== undefined && (state === 'TASK_STATE_COMPLETED' || state === 'TASK_STATE_SUBMITTED' || state === 'TASK_STATE_INPUT_REQUIRED')
  );
}

function textAnsweredBy(closing: Entry & { readonly kind: 'status' }, entries: readonly Entry[]): string | undefined {
  const turn = closing.state === 'TASK_STATE_SUBMITTED' ? closing.turn - 1 : closing.turn; // a hand-over names the turn that it opens
  const opening = entries.find((entry) => entry.kind === 'status' && entry.turn === turn && entry.answers !== undefined);
  const message = entries.find((entry) => opening?.kind === 'status' && entry.seq === opening.answers);
  return message?.kind === 'message' ? textOf(message.message) : undefined;
}
