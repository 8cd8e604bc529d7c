import { assert } from '../ground/assert.ts';
import type { Mutable } from '../ground/mutable.ts';
import type { ArtifactBody, Entry, EntryRow, MessageBody, StatusBody, TakenBody } from './entry.ts';

type EntryOf<K extends Entry['kind']> = Mutable<Entry & { readonly kind: K }>;

/**
 * Reads a stored row. The body is JSON that a replica of ours wrote through the same types; a kind of a newer version stays `unknown`.
 * Members are set one by one: measured, spreads of what was just parsed cost four times as much as the parsing.
 */
export function parseEntry(taskId: string, row: EntryRow): Entry {
  const entry = parseKind(taskId, row);
  if (row.ordinal !== undefined) entry.ordinal = row.ordinal;
  return entry;
}

function parseKind(taskId: string, row: EntryRow): Mutable<Entry> {
  const { seq, turn, fence, at } = row;
  const bytes = row.body.length;
  switch (row.kind) {
    case 'message':
      return parseMessage(taskId, row);
    case 'artifact':
      return parseArtifact(taskId, row);
    case 'status':
      return parseStatus(taskId, row);
    case 'taken': {
      const { messages } = JSON.parse(row.body) as TakenBody; // written as TakenBody by a turn
      return { kind: 'taken', taskId, seq, turn, fence, at, bytes, messages };
    }
    case 'closed':
      return { kind: 'closed', taskId, seq, turn, fence, at, bytes };
    default:
      return { kind: 'unknown', taskId, seq, turn, fence, at, bytes };
  }
}

function parseMessage(taskId: string, { seq, turn, fence, at, body }: EntryRow): EntryOf<'message'> {
  const { message, caller, metadata, acceptedOutputModes } = JSON.parse(body) as MessageBody; // written as MessageBody by operations
  const entry: EntryOf<'message'> = { kind: 'message', taskId, seq, turn, fence, at, bytes: body.length, message, caller };
  if (metadata) entry.metadata = metadata;
  if (acceptedOutputModes) entry.acceptedOutputModes = acceptedOutputModes;
  return entry;
}

function parseArtifact(taskId: string, { seq, turn, fence, at, body }: EntryRow): EntryOf<'artifact'> {
  const { artifact, append, lastChunk, metadata } = JSON.parse(body) as ArtifactBody; // written as ArtifactBody by a turn
  const entry: EntryOf<'artifact'> = { kind: 'artifact', taskId, seq, turn, fence, at, bytes: body.length, artifact };
  if (append !== undefined) entry.append = append;
  if (lastChunk !== undefined) entry.lastChunk = lastChunk;
  if (metadata) entry.metadata = metadata;
  return entry;
}

function parseStatus(taskId: string, { seq, turn, fence, at, body, state, answers }: EntryRow): EntryOf<'status'> {
  assert(state !== undefined, 'log: a status entry has a state');
  const { message, metadata } = JSON.parse(body) as StatusBody; // written as StatusBody by a turn or by the rules
  const entry: EntryOf<'status'> = { kind: 'status', taskId, seq, turn, fence, at, bytes: body.length, state };
  if (answers !== undefined) entry.answers = answers;
  if (message) entry.message = message;
  if (metadata) entry.metadata = metadata;
  return entry;
}
