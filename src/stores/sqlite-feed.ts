import type { Hint } from '../log/wake.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { SqlRow } from './sqlite-driver.ts';
import { number, text } from './sqlite-rows.ts';
import type { Appended } from './sqlite-session.ts';
import { HINT_MOVED, HINT_QUEUED } from './sqlite-session.ts';

const SELECT_LAST = 'SELECT coalesce(max(no), 0) AS last FROM chorus_entry';
const SELECT_NEW = `SELECT e.no, t.id, e.seq, e.hint FROM chorus_entry AS e INDEXED BY chorus_entry_news
  JOIN chorus_task AS t ON t.no = e.task_no WHERE e.no > ? AND e.hint > 0 ORDER BY e.no LIMIT ?`;

/** Rows told one by one; who is further behind than this looks at everything at once. */
const FEED_ROWS_MAX = 2_000;

/** What is new in the file since the last look, read from the order of its entries. */
export class SqliteFeed {
  #last = 0;

  /** Everything up to now is known. */
  begin(connection: SqliteConnection): void {
    this.#last = this.#newest(connection);
  }

  /** This process's own commit is news only to others. Where others have written before it, the next look passes over it again. */
  noteOwn(appended: Appended | undefined): void {
    if (appended !== undefined && appended.first === this.#last + 1) this.#last = appended.last;
  }

  read(connection: SqliteConnection): readonly Hint[] {
    const rows = connection.all(SELECT_NEW, [this.#last, FEED_ROWS_MAX]).map(toFeedRow);
    if (rows.length < FEED_ROWS_MAX) {
      this.#last = rows.at(-1)?.no ?? this.#last;
      return toHints(rows);
    }
    this.#last = this.#newest(connection);
    return [{ kind: 'any' }];
  }

  #newest(connection: SqliteConnection): number {
    return number(connection.first(SELECT_LAST) ?? {}, 'last');
  }
}

interface FeedRow {
  readonly no: number;
  readonly taskId: string;
  readonly seq: number;
  readonly hint: number;
}

function toFeedRow(columns: SqlRow): FeedRow {
  return { no: number(columns, 'no'), taskId: text(columns, 'id'), seq: number(columns, 'seq'), hint: number(columns, 'hint') };
}

function toHints(rows: readonly FeedRow[]): readonly Hint[] {
  const grown = new Map<string, number>();
  const moved = new Set<string>();
  let isQueued = false;
  for (const { taskId, seq, hint } of rows) {
    grown.set(taskId, seq);
    if ((hint & HINT_MOVED) !== 0) moved.add(taskId);
    isQueued ||= (hint & HINT_QUEUED) !== 0;
  }
  const hints: Hint[] = Array.from(grown, ([taskId, seq]) => ({ kind: 'grew', taskId, seq }));
  for (const taskId of moved) hints.push({ kind: 'moved', taskId });
  if (isQueued) hints.push({ kind: 'queued' });
  return hints;
}
