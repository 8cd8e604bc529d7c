import type { EntryRow } from '../../src/log/entry.ts';
import { isTerminal } from '../../src/protocol/states.ts';
import { isAtRest, isBodyOf, isMessageOf } from './one-task-store.ts';
import type { Setup, World } from './one-task.ts';

/** The promise that this world breaks. */
export function broken(setup: Setup, world: World): string | undefined {
  if (world.flaw !== '') return world.flaw;
  return ofLog(world) ?? ofRuns(setup, world) ?? ofWords(setup, world) ?? ofClients(setup, world) ?? ofLosses(setup, world);
}

function ofLog({ shelf: { row, log }, twins }: World): string | undefined {
  if (twins > 0) return 'P9: one message has made two tasks';
  if ((row?.seq ?? 0) !== log.length || log.some(({ seq }, index) => seq !== index + 1)) return 'P1: the sequence has a hole or a double';
  const end = log.findIndex(({ state }) => state !== undefined && isTerminal(state));
  if (end >= 0 && end < log.length - 1) return 'P3: an entry stands behind a terminal one';
  if (log.some(({ fence }, index) => fence < (log[index - 1]?.fence ?? 0))) return 'P4: an older fence wrote after a newer one';
  return undefined;
}

function ofRuns({ onLost }: Setup, { runs }: World): string | undefined {
  const last = runs.at(-1);
  if (last === undefined) return undefined;
  for (const other of runs.slice(0, -1)) {
    if (other.fence === last.fence) return 'P4: two runs have one fence';
    if (other.turn === last.turn && other.attempt === last.attempt) return 'P4: two runs have one name';
    if (other.turn === last.turn && (onLost ?? 'fail') === 'fail') return 'P4: a turn that fails when it is lost was run twice';
  }
  return undefined;
}

/** Each word stands once, whole and in order, in the turn it was said in, and under a fence that is its run's alone. */
function ofWords({ programs }: Setup, { shelf: { log }, runs }: World): string | undefined {
  const next = new Map<number, number>();
  for (const entry of log) {
    if (entry.ordinal === undefined) continue;
    const expected = next.get(entry.fence) ?? 1;
    if (entry.ordinal !== expected) return entry.ordinal < expected ? 'P9: a word was applied twice' : 'P7: a word is missing';
    next.set(entry.fence, expected + 1);
    const flaw = ofWord(entry, programs, runs);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function ofWord({ body, fence, turn, ordinal = 0, state }: EntryRow, programs: Setup['programs'], runs: World['runs']): string | undefined {
  if (body === '{}') return undefined; // a turn that left AUTH_REQUIRED and handed over
  const no = Number(body.split(' ', 1)[0]);
  const run = runs[no];
  if (run?.fence !== fence) return 'P4: a run wrote under the fence of another';
  // the status that hands over belongs to the turn it opens
  if (turn !== run.turn && !(state === 'TASK_STATE_SUBMITTED' && turn === run.turn + 1)) return 'P4: a word of one turn stands in another';
  const program = programs[run.turn - 1] ?? ['COMPLETED'];
  const isFree = program.includes('TAKE'); // it may have found nothing to take
  return isFree || isBodyOf(body, no, program[ordinal - 1] ?? '') ? undefined : 'P7: words stand in another order than they were said';
}

function ofClients({ clients }: Setup, { clients: told, shelf: { log, row } }: World): string | undefined {
  for (const [at, script] of clients.entries()) {
    const { does } = script;
    const client = told[at];
    if (does === 'cancel') {
      if (client?.told === 'canceled' && row?.state !== 'TASK_STATE_CANCELED') return 'P8: CANCELED was answered and is not stored';
    } else if (does !== 'resume') {
      const count = log.filter(({ kind, body }) => kind === 'message' && isMessageOf(body, script)).length;
      if (count > 1) return 'P9: a message was recorded twice';
      if (client?.told === 'accepted' && count === 0) return 'P5: a message was accepted and is not in the log';
    }
  }
  return undefined;
}

function ofLosses({ onLost, triesMax, clients }: Setup, { shelf: { log, row }, losses, isStruck }: World): string | undefined {
  const isLost = log.at(-1)?.state === 'TASK_STATE_FAILED' && row?.phase === 'closed' && log.at(-1)?.ordinal === undefined;
  if (!isLost) return undefined;
  if (!isStruck) return 'P6: a turn was failed although nothing befell its holder';
  if (clients[0]?.whenCalm === true) return 'P6: a turn that was begun when all was well again was failed';
  if (onLost === 'retry' && losses < (triesMax ?? 3)) return 'P6: a turn was failed before its tries were used up';
  return undefined;
}

/** It was taken from the inbox, got a turn of its own, or the task ended for all who wait. */
function isAnswered({ log, row }: World['shelf'], seq: number): boolean {
  const endsAll = row !== undefined && isTerminal(row.state) && row.state !== 'TASK_STATE_COMPLETED';
  return endsAll || log.some(({ answers, kind, body }) => answers === seq || (kind === 'taken' && body.endsWith(`TAKE ${seq}`)));
}

/** What is still owed when nothing goes on by itself. */
export function unfinished({ shelf, replicas, clients, calls }: World): string | undefined {
  if (!replicas.some(({ life }) => life === 'up')) return undefined;
  const { row } = shelf;
  if (!isAtRest(shelf)) return `P6: the task is ${row?.state ?? ''} for ever, its turn ${row?.phase ?? ''}`;
  const unanswered = shelf.log.find((entry) => entry.kind === 'message' && entry.turn === 0 && !isAnswered(shelf, entry.seq));
  if (unanswered !== undefined) return 'P5: an accepted message is never answered';
  const isServed = (at: number): boolean => replicas.some(({ life, serves }) => life === 'paused' && serves === at) || calls.length > 0;
  if (clients.some((client, at) => client.at === 'waits' && !isServed(at))) return 'P5: a caller waits for ever';
  return undefined;
}
