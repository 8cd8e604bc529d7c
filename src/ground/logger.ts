/** Values that may stand in a log line: identities, counts and reasons, never payloads. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Prints for operators. `event` is a short fixed sentence; what varies goes into the fields. */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Prints nothing. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
