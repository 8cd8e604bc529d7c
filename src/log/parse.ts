import { assert } from '../ground/assert.ts';
import type { ArtifactBody, Entry, EntryRow, MessageBody, StatusBody, TakenBody } from './entry.ts';

/** Reads a stored row. The body is JSON that a replica of ours wrote through the same types; a kind of a newer version stays `unknown`. */
export function parseEntry(taskId: string, row: EntryRow): Entry {
  const { seq, turn, fence, ordinal, at } = row;
  const head = { taskId, seq, turn, fence, at, bytes: row.body.length, ...(ordinal === undefined ? {} : { ordinal }) };
  switch (row.kind) {
    case 'message':
      return { ...head, kind: 'message', ...(JSON.parse(row.body) as MessageBody) }; // written as MessageBody by operations
    case 'artifact':
      return { ...head, kind: 'artifact', ...(JSON.parse(row.body) as ArtifactBody) }; // written as ArtifactBody by a turn
    case 'taken':
      return { ...head, kind: 'taken', ...(JSON.parse(row.body) as TakenBody) }; // written as TakenBody by a turn
    case 'closed':
      return { ...head, kind: 'closed' };
    case 'status': {
      assert(row.state !== undefined, 'log: a status entry has a state');
      const body = JSON.parse(row.body) as StatusBody; // written as StatusBody by a turn or by the rules
      return { ...head, kind: 'status', state: row.state, ...(row.answers === undefined ? {} : { answers: row.answers }), ...body };
    }
    default:
      return { ...head, kind: 'unknown' };
  }
}
