import { DEAD_KEPT_MS } from '../log/rules/living.ts';
import { number, text } from './sqlite-rows.ts';
import type { SqliteSession } from './sqlite-session.ts';

const SELECT_EXPIRED = 'SELECT no, id FROM chorus_task WHERE is_terminal = 1 AND due_at <= ? ORDER BY due_at, no LIMIT ?';
const SELECT_LEFTOVER = 'SELECT task_no FROM chorus_leftover LIMIT 1';
const COUNT_ENTRIES = 'SELECT count(*) AS entries FROM (SELECT 1 FROM chorus_entry WHERE task_no = ? LIMIT ?)';
const DELETE_ENTRIES = 'DELETE FROM chorus_entry WHERE no IN (SELECT no FROM chorus_entry WHERE task_no = ? LIMIT ?)';
const DELETE_REPLICAS = `DELETE FROM chorus_replica
  WHERE died_at <= ? AND id NOT IN (SELECT holder FROM chorus_task WHERE holder IS NOT NULL)`;

/** Entries removed by one transaction: some milliseconds, so that a purge of long logs never holds up the loop or other writers. */
const ENTRIES_AT_ONCE = 1_000;

/** Removes the rows of ended tasks past their retention. Nobody sees their entries any more; `purgeLeftover` takes those away in steps. */
export function purge(session: SqliteSession, limit: number): readonly string[] {
  session.flush();
  const { connection, now } = session;
  const expired = connection.all(SELECT_EXPIRED, [now, limit]);
  for (const columns of expired) {
    const no = number(columns, 'no');
    connection.run('INSERT INTO chorus_leftover (task_no) VALUES (?)', [no]);
    connection.run('DELETE FROM chorus_message_key WHERE task_no = ?', [no]);
    connection.run('DELETE FROM chorus_task WHERE no = ?', [no]);
    session.forget(text(columns, 'id'));
  }
  connection.run(DELETE_REPLICAS, [now - DEAD_KEPT_MS]);
  return expired.map((columns) => text(columns, 'id'));
}

/** Removes some entries of a purged task. False when none are left, also none of a purge that did not end because its process did. */
export function purgeLeftover({ connection }: SqliteSession): boolean {
  const leftover = connection.first(SELECT_LEFTOVER);
  if (leftover === undefined) return false;
  const no = number(leftover, 'task_no');
  const entries = number(connection.first(COUNT_ENTRIES, [no, ENTRIES_AT_ONCE]) ?? {}, 'entries');
  connection.run(DELETE_ENTRIES, [no, ENTRIES_AT_ONCE]);
  if (entries < ENTRIES_AT_ONCE) connection.run('DELETE FROM chorus_leftover WHERE task_no = ?', [no]);
  return true;
}
