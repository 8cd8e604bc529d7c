import type { Clock } from '../ground/clock.ts';
import type { LogFields, Logger } from '../ground/logger.ts';

/**
 * The logger unless another is given: one line of JSON per event on standard error, from `info` up. `console.error` is what every runtime
 * has for that.
 */
export function jsonLogger(clock: Clock): Logger {
  const print =
    (level: string) =>
    (event: string, fields: LogFields = {}): void =>
      console.error(JSON.stringify({ at: new Date(clock.wall()).toISOString(), level, event, ...fields }));
  return { debug() {}, info: print('info'), warn: print('warn'), error: print('error') };
}
