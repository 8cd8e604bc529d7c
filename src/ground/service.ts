/** What every background part is: starting twice is fine, stopping before the start is fine, `stop` resolves when all is still. */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}
