import type { EntryRow } from '../log/entry.ts';
import { decideAccept } from '../log/rules/accept.ts';
import { decideAppend } from '../log/rules/append.ts';
import type { Decision } from '../log/rules/settle.ts';
import { decideCancel, decideClaim, decideRelease, decideResume, decideSweep } from '../log/rules/settle.ts';
import type {
  AcceptAsk,
  AcceptResult,
  AppendAsk,
  AppendResult,
  CancelAsk,
  CancelResult,
  ClaimAsk,
  EntriesAsk,
  EntriesOfTask,
  ListAsk,
  ListResult,
  ReadAsk,
  ReleaseAsk,
  ReleaseResult,
  ResumeAsk,
  ResumeResult,
  Store,
  StoreParts,
  TaskRow,
  TickAsk,
  TickResult,
} from '../log/store.ts';
import type { Hint } from '../log/wake.ts';
import type { Outcome, Work } from './group.ts';
import { BUSY_MS_MAX, Group } from './group.ts';
import { SqliteFailure, toStoreError } from './sqlite-failure.ts';
import { SqliteFeed } from './sqlite-feed.ts';
import type { SqliteStoreOptions } from './sqlite-file.ts';
import { databasePath, SqliteFile } from './sqlite-file.ts';
import { beat, join, look, SELECT_ORPHANS, SELECT_OVERDUE } from './sqlite-living.ts';
import { purge, purgeLeftover } from './sqlite-purge.ts';
import { listTasks, readEntries, readTask } from './sqlite-reads.ts';
import { SELECT_TASKS } from './sqlite-rows.ts';
import { SqliteSession } from './sqlite-session.ts';

/** A store on one file, with the feed its wake reads. */
export interface SqliteStore extends Store {
  /** What other processes have committed since the last call: hints for the wake. */
  feed(): readonly Hint[];
}

/** A store on one file, not yet opened: `start` does it. */
export function openSqlite(path: string, parts: StoreParts, options: SqliteStoreOptions = {}): SqliteStore {
  return new FileStore(new SqliteFile(databasePath(path), parts, options), parts);
}

const SELECT_QUEUED = `${SELECT_TASKS}
  WHERE agent = ? AND queued_at IS NOT NULL AND due_at > ? ORDER BY queued_at, no LIMIT ?`;

/**
 * The contract over one SQLite file that any number of processes of a machine share. All writers take turns at the file's one write lock,
 * so a row read inside the transaction is the row the rules decide on. Reads wait for nobody.
 */
class FileStore implements SqliteStore {
  readonly #file: SqliteFile;
  readonly #parts: StoreParts;
  readonly #feed = new SqliteFeed();
  #starting: Promise<void> | undefined;
  #group: Group<SqliteSession>;
  /** SQLite's own count of the commits of other connections, as of the last commit here. */
  #dataVersion: unknown;
  #isContended = false;

  constructor(file: SqliteFile, parts: StoreParts) {
    this.#file = file;
    this.#parts = parts;
    this.#group = this.#newGroup();
  }

  start(): Promise<void> {
    this.#starting ??= this.#open();
    return this.#starting;
  }

  async stop(): Promise<void> {
    if (this.#starting === undefined) return;
    await this.#starting.catch(() => {}); // whoever started it has been told
    this.#starting = undefined;
    await this.#group.stop();
    this.#group = this.#newGroup();
    this.#file.close();
  }

  async join({ replica }: { readonly replica: string }): Promise<void> {
    await this.#write({ run: ({ connection }) => join(connection, replica) });
  }

  accept(ask: AcceptAsk): Promise<AcceptResult> {
    return this.#write({
      entries: 2,
      bytes: ask.body.length,
      run: (session) => {
        const { result, change } = decideAccept(session.row(ask.taskId), session.key(ask.taskId, ask.key), ask, session.now);
        if (change !== undefined) session.write(change, { name: ask.key, record: change.key });
        return result;
      },
    });
  }

  append(ask: AppendAsk): Promise<AppendResult> {
    const bytes = ask.entries.reduce((sum, { body }) => sum + body.length, 0);
    return this.#decide(({ now, row }) => decideAppend(row, ask, now), { taskId: ask.taskId, entries: ask.entries.length, bytes });
  }

  cancel(ask: CancelAsk): Promise<CancelResult> {
    return this.#decide(({ now, row }) => decideCancel(row, ask, now), ask);
  }

  release(ask: ReleaseAsk): Promise<ReleaseResult> {
    return this.#decide(({ now, row }) => decideRelease(row, ask, now), ask);
  }

  resume(ask: ResumeAsk): Promise<ResumeResult> {
    return this.#decide(({ now, row }) => decideResume(row, ask, now), ask);
  }

  claim(ask: ClaimAsk): Promise<readonly TaskRow[]> {
    return this.#write({
      entries: ask.limit,
      run: (session) => {
        const queued = session.rows(SELECT_QUEUED, [ask.agent, session.now, ask.limit]);
        return queued.flatMap((row) => this.#carryOut(session, decideClaim(row, ask.replica, session.now)));
      },
    });
  }

  sweep({ limit }: { readonly limit: number }): Promise<readonly TaskRow[]> {
    return this.#write({
      entries: limit,
      run: (session) => {
        const orphans = session.rows(SELECT_ORPHANS, [limit]);
        const overdue = session.rows(SELECT_OVERDUE, [session.now, limit - orphans.length]);
        return [
          ...orphans.flatMap((row) => this.#carryOut(session, decideSweep(row, true, session.now))),
          ...overdue.flatMap((row) => this.#carryOut(session, decideSweep(row, false, session.now))),
        ];
      },
    });
  }

  tick(ask: TickAsk): Promise<TickResult> {
    const now = (): number => this.#parts.clock.wall();
    if (ask.own === 'look' && ask.suspects.length === 0) return this.#file.read((connection) => look(connection, ask, now()));
    return this.#write({
      run: (session) => {
        session.flush();
        beat(session.connection, ask, session.now);
        return look(session.connection, ask, session.now);
      },
    });
  }

  read(ask: ReadAsk): Promise<{ readonly row: TaskRow; readonly rows: readonly EntryRow[] } | undefined> {
    return this.#file.read((connection) => readTask(connection, ask));
  }

  entries(ask: EntriesAsk): Promise<readonly EntriesOfTask[]> {
    return this.#file.read((connection) => readEntries(connection, ask));
  }

  list(ask: ListAsk): Promise<ListResult> {
    return this.#file.read((connection) => listTasks(connection, ask));
  }

  async purge({ limit }: { readonly limit: number }): Promise<readonly string[]> {
    const ids = await this.#write({ run: (session) => purge(session, limit) });
    while (await this.#write({ run: purgeLeftover })); // a transaction each, so that other verbs get in between
    return ids;
  }

  feed(): readonly Hint[] {
    const hints = this.#file.isOpen ? this.#feed.read(this.#file.connection) : [];
    if (hints.length > 0) this.#group.nudge();
    return hints;
  }

  #decide<Result>(
    decide: (known: { readonly now: number; readonly row: TaskRow | undefined }) => Decision<Result>,
    { taskId, entries = 1, bytes = 0 }: { readonly taskId: string; readonly entries?: number; readonly bytes?: number },
  ): Promise<Result> {
    return this.#write({
      entries,
      bytes,
      run: (session) => {
        const { result, change } = decide({ now: session.now, row: session.row(taskId) });
        if (change !== undefined) session.write(change);
        return result;
      },
    });
  }

  #carryOut(session: SqliteSession, change: ReturnType<typeof decideSweep>): readonly TaskRow[] {
    if (change === undefined) return [];
    session.write(change);
    return [change.row];
  }

  #write<Result>({
    entries = 1,
    bytes = 0,
    run,
  }: Partial<Work<SqliteSession, Result>> & Pick<Work<SqliteSession, Result>, 'run'>): Promise<Result> {
    return this.#group.add({ entries, bytes, run });
  }

  #newGroup(): Group<SqliteSession> {
    return new Group<SqliteSession>({
      clock: this.#parts.clock,
      random: this.#parts.random,
      commit: (members) => this.#commit(members),
      judge: (error) => {
        if (!(error instanceof SqliteFailure)) return 'failed';
        return error.kind === 'busy' || error.kind === 'content' ? error.kind : 'failed';
      },
      toStoreError: (error) => toStoreError(error, this.#file.path),
      isContended: () => this.#isContended,
      busyMessage: `The database ${this.#file.path} is locked by another process; gave up after ${BUSY_MS_MAX} ms.`,
    });
  }

  #commit(members: readonly Work<SqliteSession, unknown>[]): readonly Outcome[] {
    const { connection } = this.#file;
    let session: SqliteSession | undefined;
    const outcomes = connection.write(() => {
      const version = connection.first('PRAGMA data_version')?.['data_version'];
      this.#isContended = version !== this.#dataVersion;
      this.#dataVersion = version;
      const open = new SqliteSession(connection, this.#parts.clock.wall());
      session = open;
      const results = members.map((member) => runMember(open, member));
      open.flush();
      return results;
    });
    this.#feed.noteOwn(session?.appended);
    return outcomes;
  }

  async #open(): Promise<void> {
    try {
      await this.#file.open();
      this.#feed.begin(this.#file.connection);
    } catch (error) {
      this.#starting = undefined; // the next start tries again
      throw error;
    }
  }
}

/** Rules refuse content before they write anything, so their errors are the member's own. An error of SQLite concerns the transaction. */
function runMember(session: SqliteSession, member: Work<SqliteSession, unknown>): Outcome {
  try {
    return { kind: 'done', result: member.run(session) };
  } catch (error) {
    if (error instanceof SqliteFailure) throw error;
    return { kind: 'failed', error };
  }
}
