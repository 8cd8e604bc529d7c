import { StoreError } from '../log/store.ts';

/** What went wrong, told apart by what to do about it. */
export type SqliteFailureKind = 'busy' | 'full' | 'readOnly' | 'noRights' | 'noDatabase' | 'damaged' | 'disk' | 'content' | 'other';

/** An error of a driver, whichever it is. Its text may hold SQL and values: it is a cause, never shown. */
export class SqliteFailure extends Error {
  override readonly name = 'SqliteFailure';
  readonly kind: SqliteFailureKind;

  constructor(cause: unknown) {
    super('SQLite refused', { cause });
    this.kind = kindOf(cause);
  }
}

/** SQLite's primary result codes, by number and by name: node:sqlite tells the number, the others the name. */
const kinds: readonly (readonly [code: number, name: string, kind: SqliteFailureKind])[] = [
  [3, 'SQLITE_PERM', 'noRights'],
  [5, 'SQLITE_BUSY', 'busy'],
  [6, 'SQLITE_LOCKED', 'busy'],
  [8, 'SQLITE_READONLY', 'readOnly'],
  [10, 'SQLITE_IOERR', 'disk'],
  [11, 'SQLITE_CORRUPT', 'damaged'],
  [13, 'SQLITE_FULL', 'full'],
  [14, 'SQLITE_CANTOPEN', 'noRights'],
  // two processes that open or recover the write-ahead log at the same moment: passes like a lock
  [15, 'SQLITE_PROTOCOL', 'busy'],
  [18, 'SQLITE_TOOBIG', 'content'],
  [19, 'SQLITE_CONSTRAINT', 'content'],
  [20, 'SQLITE_MISMATCH', 'content'],
  [23, 'SQLITE_AUTH', 'noRights'],
  [25, 'SQLITE_RANGE', 'content'],
  [26, 'SQLITE_NOTADB', 'noDatabase'],
];

function kindOf(cause: unknown): SqliteFailureKind {
  // no driver's own mistake: a value that cannot be bound
  if (cause instanceof TypeError || cause instanceof RangeError) return 'content';
  if (typeof cause !== 'object' || cause === null) return 'other';
  const { errcode, rawCode, code, message } = cause as Readonly<Record<string, unknown>>; // any object; each is checked below
  const number = [errcode, rawCode, connectCode(message)].find((one) => typeof one === 'number');
  const name = typeof code === 'string' ? code : '';
  // extended codes carry the primary one in their low byte, extended names begin with it
  return kinds.find(([known, prefix]) => (number === undefined ? name.startsWith(prefix) : (number & 0xff) === known))?.[2] ?? 'other';
}

/** libsql tells why it could not connect in its message alone: `ConnectionFailed("Unable to open …: 14")`. */
function connectCode(message: unknown): number | undefined {
  const found = typeof message === 'string' ? /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(message) : null;
  return found === null ? undefined : Number(found[1]);
}

const sentences: Readonly<Record<SqliteFailureKind, (path: string) => readonly [StoreError['kind'], string]>> = {
  busy: (path) => ['unavailable', `The database ${path} is locked by another process.`],
  full: (path) => ['unavailable', `The database ${path} cannot grow: the disk is full, or its own limit is reached.`],
  readOnly: (path) => ['misconfigured', `The database ${path} cannot be written: the file or its folder is read-only for this process.`],
  noRights: (path) => [
    'misconfigured',
    `The database ${path} cannot be opened: it is no file, or this process has no rights on it or its folder.`,
  ],
  noDatabase: (path) => ['misconfigured', `The file ${path} is not a SQLite database.`],
  damaged: (path) => ['misconfigured', `The database ${path} is damaged: run "PRAGMA integrity_check" and restore it from a backup.`],
  disk: (path) => ['unavailable', `The disk under the database ${path} failed to read or write.`],
  content: () => ['unstorable', 'The database refuses the content of this call.'],
  other: (path) => ['unavailable', `The database ${path} failed.`],
};

/** The one clear error that leaves the store; what the driver said stays its cause. */
export function toStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  if (!(error instanceof SqliteFailure)) return new StoreError('unavailable', `The database ${path} failed.`, { cause: error });
  const [kind, message] = sentences[error.kind](path);
  // a commit that the disk failed under may still be found by the next recovery of the log
  return new StoreError(kind, message, { cause: error.cause, isUnknown: error.kind === 'disk' });
}
