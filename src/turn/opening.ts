import { assert } from '../ground/assert.ts';
import type { Entry, MessageBody } from '../log/entry.ts';
import type { TaskRow } from '../log/store.ts';
import type { TaskLog } from '../log/task-log.ts';
import type { Message, Task } from '../protocol/types.ts';

/** A message of the log, with its place. */
export interface PlacedMessage {
  readonly seq: number;
  readonly message: Message;
}

/** What a run begins with, as the log tells it. */
export interface Opening {
  /** The message the turn answers, with its caller and the request's metadata. */
  readonly said: MessageBody;
  /** The task as of the row that granted the turn. */
  readonly task: Task;
  /** How many messages of the task's history stand before the turn's own. */
  readonly historyLength: number;
  /** What earlier attempts of the turn took from the inbox: this one gets them again ⚖. */
  readonly taken: readonly PlacedMessage[];
}

/** Reads what a run begins with; undefined when the task is no longer there. */
export async function readOpening(log: TaskLog, row: TaskRow): Promise<Opening | undefined> {
  const task = await log.foldTo(row, row.seq);
  const messages = task && (await readMessages(log, row));
  if (!messages) return undefined;
  const { own, later, takenSeqs } = messages;
  const taken = takenSeqs.flatMap((seq) => later.find((message) => message.seq === seq) ?? []);
  return { said: own, task, historyLength: placeOf(task.history ?? [], later.length), taken };
}

interface Messages {
  readonly own: MessageBody;
  /** What users said after it. */
  readonly later: readonly PlacedMessage[];
  readonly takenSeqs: readonly number[];
}

async function readMessages(log: TaskLog, row: TaskRow): Promise<Messages | undefined> {
  let own: MessageBody | undefined;
  const later: PlacedMessage[] = [];
  const takenSeqs = new Set<number>();
  for (let after = row.answers - 1; after < row.seq;) {
    const entries = await log.entriesAfter(row.id, after);
    const last = entries.at(-1);
    if (!last) return undefined; // purged meanwhile
    for (const entry of entries) {
      if (entry.seq > row.seq) break;
      if (entry.seq === row.answers) own = messageOf(entry);
      else if (entry.kind === 'message') later.push({ seq: entry.seq, message: entry.message });
      else if (entry.kind === 'taken' && entry.turn === row.turn) for (const seq of entry.messages) takenSeqs.add(seq);
    }
    after = last.seq;
  }
  assert(own, 'turn: the message it answers stands in the log');
  return { own, later, takenSeqs: [...takenSeqs].toSorted((a, b) => a - b) };
}

function messageOf(entry: Entry): MessageBody {
  assert(entry.kind === 'message', 'turn: a turn answers a message');
  const { message, caller, metadata, acceptedOutputModes } = entry;
  return { message, caller, ...(metadata ? { metadata } : {}), ...(acceptedOutputModes ? { acceptedOutputModes } : {}) };
}

/** Index of the turn's own message: `later` counts the users' messages that follow it. Ids do not tell, a client may repeat one (AMB-05). */
function placeOf(history: readonly Message[], later: number): number {
  let left = later;
  for (let i = history.length - 1; i >= 0; i--) {
    if (history[i]?.role !== 'ROLE_USER') continue;
    if (left === 0) return i;
    left -= 1;
  }
  return 0;
}
