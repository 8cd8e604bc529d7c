import { existsSync } from 'node:fs';
import { dirname, resolve as resolvePath } from 'node:path';
import type { EntryRow } from '../log/entry.ts';
import { decideAccept } from '../log/rules/accept.ts';
import { decideAppend } from '../log/rules/append.ts';
import type { Decision } from '../log/rules/settle.ts';
import { decideCancel, decideClaim, decideRelease, decideResume, decideSweep } from '../log/rules/settle.ts';
import { StoreError } from '../log/store.ts';
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
import { patience } from './patience.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import type { DriverName } from './sqlite-driver.ts';
import { findDriver } from './sqlite-driver.ts';
import { SqliteFailure, toStoreError } from './sqlite-failure.ts';
import { SqliteFeed } from './sqlite-feed.ts';
import { beat, join, look, SELECT_ORPHANS, SELECT_OVERDUE } from './sqlite-living.ts';
import { purge, purgeLeftover } from './sqlite-purge.ts';
import { listTasks, readEntries, readTask } from './sqlite-reads.ts';
import { SELECT_TASKS } from './sqlite-rows.ts';
import type { Migrate } from './sqlite-schema.ts';
import { prepareSchema } from './sqlite-schema.ts';
import { SqliteSession } from './sqlite-session.ts';

/** How a SQLite store is opened. */
export interface SqliteOptions {
  /** `auto` (default) brings the schema up to date at start, `check` only looks and says what is missing. */
  readonly migrate?: Migrate;
  /** Which driver; the first that is there when absent: `node:sqlite` (Node 22.13 or later), `libsql`, `better-sqlite3`. */
  readonly driver?: DriverName;
}

/** A store on one file, with the feed its wake reads. */
export interface SqliteStore extends Store {
  /** What other processes have committed since the last call: hints for the wake. */
  feed(): readonly Hint[];
}

/** The absolute path of a database, if it can be shared by processes. */
export function databasePath(path: string): string {
  if (path === '' || path === ':memory:' || path.startsWith('file:'))
    throw new StoreError(
      'misconfigured',
      `A SQLite store is a file that processes share: give a path, not "${path}". Without one, use memory().`,
    );
  return resolvePath(path);
}

/** What `openSqlite` takes beside the user's options: a test puts a driver in between that fails as disks do. */
export interface SqliteStoreOptions extends SqliteOptions {
  readonly find?: typeof findDriver;
}

/** A store on one file, not yet opened: `start` does it. */
export function openSqlite(path: string, parts: StoreParts, options: SqliteStoreOptions = {}): SqliteStore {
  return new FileStore(databasePath(path), parts, options);
}

const SELECT_QUEUED = `${SELECT_TASKS}
  WHERE agent = ? AND queued_at IS NOT NULL AND due_at > ? ORDER BY queued_at, no LIMIT ?`;

/** Opening may meet other processes that create, recover or close the same file. */
const START_MS_MAX = 15_000;

/**
 * The contract over one SQLite file that any number of processes of a machine share. All writers take turns at the file's one write lock,
 * so a row read inside the transaction is the row the rules decide on. Reads wait for nobody.
 */
class FileStore implements SqliteStore {
  readonly #path: string;
  readonly #parts: StoreParts;
  readonly #options: SqliteStoreOptions;
  #connection: SqliteConnection | undefined;
  #starting: Promise<void> | undefined;
  readonly #feed = new SqliteFeed();
  #group: Group<SqliteSession>;

  constructor(path: string, parts: StoreParts, options: SqliteStoreOptions) {
    this.#path = path;
    this.#parts = parts;
    this.#options = options;
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
    this.#connection?.close();
    this.#connection = undefined;
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
    if (ask.own === 'look' && ask.suspects.length === 0) return this.#read((connection) => look(connection, ask, now()));
    return this.#write({
      run: (session) => {
        session.flush();
        beat(session.connection, ask, session.now);
        return look(session.connection, ask, session.now);
      },
    });
  }

  read(ask: ReadAsk): Promise<{ readonly row: TaskRow; readonly rows: readonly EntryRow[] } | undefined> {
    return this.#read((connection) => readTask(connection, ask));
  }

  entries(ask: EntriesAsk): Promise<readonly EntriesOfTask[]> {
    return this.#read((connection) => readEntries(connection, ask));
  }

  list(ask: ListAsk): Promise<ListResult> {
    return this.#read((connection) => listTasks(connection, ask));
  }

  async purge({ limit }: { readonly limit: number }): Promise<readonly string[]> {
    const ids = await this.#write({ run: (session) => purge(session, limit) });
    while (await this.#write({ run: purgeLeftover })); // a transaction each, so that other verbs get in between
    return ids;
  }

  feed(): readonly Hint[] {
    return this.#connection === undefined ? [] : this.#feed.read(this.#connection);
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
      toStoreError: (error) => toStoreError(error, this.#path),
      busyMessage: `The database ${this.#path} is locked by another process; gave up after ${BUSY_MS_MAX} ms.`,
    });
  }

  #commit(members: readonly Work<SqliteSession, unknown>[]): readonly Outcome[] {
    const connection = this.#opened();
    let session: SqliteSession | undefined;
    const outcomes = connection.write(() => {
      const open = new SqliteSession(connection, this.#parts.clock.wall());
      session = open;
      const results = members.map((member) => runMember(open, member));
      open.flush();
      return results;
    });
    this.#feed.noteOwn(session?.appended);
    return outcomes;
  }

  async #read<Result>(work: (connection: SqliteConnection) => Result): Promise<Result> {
    try {
      // readers meet a lock only while another process recovers the log after a crash, or closes the file as the last one
      return await this.#retry(BUSY_MS_MAX, () => this.#opened().read(() => work(this.#opened())));
    } catch (error) {
      throw toStoreError(error, this.#path);
    }
  }

  /** Tries again while the file is locked, without holding up the loop. */
  async #retry<Result>(msMax: number, work: () => Result): Promise<Result> {
    const { clock } = this.#parts;
    const since = clock.monotonic();
    for (;;) {
      try {
        return work();
      } catch (error) {
        const isBusy = error instanceof SqliteFailure && error.kind === 'busy';
        if (!isBusy || clock.monotonic() - since >= msMax) throw error;
      }
      await patience(this.#parts);
    }
  }

  #opened(): SqliteConnection {
    if (this.#connection === undefined)
      throw new StoreError('unavailable', `The database ${this.#path} is not open: start the store first.`);
    return this.#connection;
  }

  async #open(): Promise<void> {
    try {
      this.#checkPlace();
      const { find = findDriver, driver: wanted } = this.#options;
      const driver = await find(wanted);
      const connection = await this.#retry(START_MS_MAX, () => this.#connect(() => driver.open(this.#path)));
      this.#connection = connection;
      this.#feed.begin(connection);
      this.#parts.logger.debug('sqlite: opened', { path: this.#path, driver: driver.name });
    } catch (error) {
      this.#starting = undefined;
      throw toStoreError(error, this.#path);
    }
  }

  #checkPlace(): void {
    const folder = dirname(this.#path);
    if (!existsSync(folder))
      throw new StoreError('misconfigured', `There is no folder ${folder} for the database ${this.#path}: make it first.`);
    if (this.#options.migrate === 'check' && !existsSync(this.#path))
      throw new StoreError('misconfigured', `There is no database ${this.#path}: start once with migrate: 'auto'.`);
  }

  /** One try from the beginning: half a connection is of no use to the next one. */
  #connect(open: () => ConstructorParameters<typeof SqliteConnection>[0]): SqliteConnection {
    const connection = new SqliteConnection(open());
    try {
      connection.exec('PRAGMA busy_timeout = 0'); // a wait inside SQLite would hold up the loop
      const mode = connection.first('PRAGMA journal_mode = WAL');
      if (mode?.['journal_mode'] !== 'wal')
        throw new StoreError('misconfigured', `The file system under ${this.#path} cannot share a database: put it on a local disk.`);
      connection.exec('PRAGMA synchronous = FULL'); // an answer means that the disk has it (P5)
      prepareSchema(connection, this.#options.migrate ?? 'auto', this.#path);
      return connection;
    } catch (error) {
      connection.close();
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
