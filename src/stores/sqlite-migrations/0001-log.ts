import type { Migration } from './migration.ts';

/**
 * The log and its rows. Entries are appended to one table in the order of their commits, found by (task_no, seq) through a second, small
 * index: three to four times the write rate of a table clustered by task, and `no > last` is the feed of what is new in the file.
 * Numbers are never used twice (AUTOINCREMENT), so a task's number never means another task's entries.
 */
export const log: Migration = {
  version: 1,
  readableFrom: 1,
  writableFrom: 1,
  sql: `
CREATE TABLE chorus_task (
  no             INTEGER PRIMARY KEY AUTOINCREMENT,
  id             TEXT    NOT NULL UNIQUE,
  agent          TEXT    NOT NULL,
  tenant         TEXT    NOT NULL,
  owner          TEXT    NOT NULL,
  context_id     TEXT    NOT NULL,
  state          TEXT    NOT NULL,
  is_terminal    INTEGER NOT NULL,
  status_at      INTEGER NOT NULL,
  status_seq     INTEGER NOT NULL,
  seq            INTEGER NOT NULL,
  bytes          INTEGER NOT NULL,
  turn           INTEGER NOT NULL,
  phase          TEXT    NOT NULL,
  answers        INTEGER NOT NULL,
  is_resumed     INTEGER NOT NULL,
  fence          INTEGER NOT NULL,
  attempt        INTEGER NOT NULL,
  tries          INTEGER NOT NULL,
  holder         TEXT,
  ordinal        INTEGER NOT NULL,
  waiting        TEXT    NOT NULL,
  is_interrupted INTEGER NOT NULL,
  queued_at      INTEGER,
  due_at         INTEGER,
  limits         TEXT    NOT NULL
);
CREATE INDEX chorus_task_queue   ON chorus_task (agent, queued_at, no) WHERE queued_at IS NOT NULL;
CREATE INDEX chorus_task_holder  ON chorus_task (holder) WHERE holder IS NOT NULL;
CREATE INDEX chorus_task_due     ON chorus_task (is_terminal, due_at, no) WHERE due_at IS NOT NULL;
CREATE INDEX chorus_task_list    ON chorus_task (agent, tenant, owner, status_at DESC, id DESC, state);
CREATE INDEX chorus_task_context ON chorus_task (context_id);

CREATE TABLE chorus_entry (
  no      INTEGER PRIMARY KEY AUTOINCREMENT,
  task_no INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  kind    TEXT    NOT NULL,
  turn    INTEGER NOT NULL,
  fence   INTEGER NOT NULL,
  ordinal INTEGER,
  state   TEXT,
  answers INTEGER,
  at      INTEGER NOT NULL,
  hint    INTEGER NOT NULL,
  body    TEXT    NOT NULL,
  UNIQUE (task_no, seq)
);
-- the last entry of each task in a commit: whoever looks for what is new passes over the chunks before it
CREATE INDEX chorus_entry_news ON chorus_entry (no) WHERE hint > 0;

CREATE TABLE chorus_message_key (
  task_no     INTEGER NOT NULL,
  key         TEXT    NOT NULL,
  digest      TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  message_seq INTEGER NOT NULL,
  turn        INTEGER,
  PRIMARY KEY (task_no, key)
) WITHOUT ROWID;

CREATE TABLE chorus_replica (
  id      TEXT    PRIMARY KEY,
  beat    INTEGER NOT NULL,
  died_at INTEGER
) WITHOUT ROWID;

CREATE TABLE chorus_leftover (
  task_no INTEGER PRIMARY KEY
);
`,
};
