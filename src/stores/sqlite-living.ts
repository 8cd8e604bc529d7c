import type { ReplicaRow } from '../log/rules/living.ts';
import { declareDead, isDead, ownBeat } from '../log/rules/living.ts';
import type { TickAsk, TickResult } from '../log/store.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { number, optionalNumber, SELECT_TASKS, text, toReplica, toTask } from './sqlite-rows.ts';

const SELECT_REPLICA = 'SELECT id, beat, died_at FROM chorus_replica WHERE id = ?';
const JOIN = 'INSERT INTO chorus_replica (id, beat) VALUES (?, 0) ON CONFLICT DO NOTHING';
const UPDATE_REPLICA = 'UPDATE chorus_replica SET beat = ?, died_at = ? WHERE id = ?';
const SELECT_OTHERS = 'SELECT id, beat, died_at FROM chorus_replica WHERE died_at IS NULL AND id <> ?';
const SELECT_HELD = `${SELECT_TASKS} WHERE holder = ? ORDER BY no`;
const SELECT_QUEUE = 'SELECT count(*) AS queued, min(queued_at) AS oldest FROM chorus_task WHERE agent = ? AND queued_at IS NOT NULL';
/** Compared in SQL: thousands of quiet tasks are watched, and a row that comes back from here costs more than all else of its look. */
const SELECT_WATCHED = `SELECT watched.key AS id, task.seq FROM json_each(?) AS watched LEFT JOIN chorus_task AS task ON task.id = watched.key
  WHERE task.seq IS NULL OR task.seq > watched.value`;

/**
 * Open turns whose holder does not live: one that was purged or never joined will not come back either. The index is named because the
 * planner would rather walk through all tasks than sort the few that are held.
 */
export const SELECT_ORPHANS: string = `${SELECT_TASKS} INDEXED BY chorus_task_holder
  WHERE holder IS NOT NULL AND holder NOT IN (SELECT id FROM chorus_replica WHERE died_at IS NULL) ORDER BY no LIMIT ?`;

/** Queued and paused turns past their time. */
export const SELECT_OVERDUE: string = `${SELECT_TASKS}
  WHERE is_terminal = 0 AND due_at <= ? ORDER BY due_at, no LIMIT ?`;

/** Enters a new incarnation. */
export function join(connection: SqliteConnection, replica: string): void {
  connection.run(JOIN, [replica]);
}

/** The writing half of a tick. First the own beat: a replica that is told it is dead has no say about others. */
export function beat(connection: SqliteConnection, { replica, own, suspects }: TickAsk, now: number): void {
  write(connection, ownBeat(replicaOf(connection, replica), own, now));
  if (isDead(replicaOf(connection, replica))) return;
  for (const seen of suspects) write(connection, declareDead(replicaOf(connection, seen.replica), seen, now));
}

/** The reading half of a tick. */
export function look(connection: SqliteConnection, { agent, replica, watched }: TickAsk, now: number): TickResult {
  const queue = connection.first(SELECT_QUEUE, [agent]) ?? {};
  const oldestQueuedAt = optionalNumber(queue, 'oldest');
  return {
    isAlive: !isDead(replicaOf(connection, replica)),
    beats: connection.all(SELECT_OTHERS, [replica]).map((columns) => ({ replica: text(columns, 'id'), beat: number(columns, 'beat') })),
    held: connection.all(SELECT_HELD, [replica]).map((columns) => toTask(columns).row),
    queued: number(queue, 'queued'),
    ...(oldestQueuedAt === undefined ? {} : { oldestQueuedAt }),
    hasSweepable: connection.all(SELECT_OVERDUE, [now, 1]).length + connection.all(SELECT_ORPHANS, [1]).length > 0,
    ...compare(connection, watched),
  };
}

function compare(connection: SqliteConnection, watched: TickAsk['watched']): Pick<TickResult, 'grown' | 'gone'> {
  if (watched.length === 0) return { grown: [], gone: [] };
  const known = JSON.stringify(Object.fromEntries(watched.map(({ taskId, seq }) => [taskId, seq])));
  const grown: { taskId: string; seq: number }[] = [];
  const gone: string[] = [];
  for (const columns of connection.all(SELECT_WATCHED, [known])) {
    const seq = optionalNumber(columns, 'seq');
    if (seq === undefined) gone.push(text(columns, 'id'));
    else grown.push({ taskId: text(columns, 'id'), seq });
  }
  return { grown, gone };
}

function replicaOf(connection: SqliteConnection, replica: string): ReplicaRow | undefined {
  const columns = connection.first(SELECT_REPLICA, [replica]);
  return columns === undefined ? undefined : toReplica(columns);
}

function write(connection: SqliteConnection, row: ReplicaRow | undefined): void {
  if (row !== undefined) connection.run(UPDATE_REPLICA, [row.beat, row.diedAt ?? null, row.replica]);
}
