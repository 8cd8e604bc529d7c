/** A broken assumption of our own code: logged in full, reaches the wire only as INTERNAL. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** States what must be true here. A failure is a programmer's error, never a caller's. */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new AssertionError(claim);
}

/** The end of a `switch` over a union: a new member stops the build here. */
export function assertNever(value: never): never {
  throw new AssertionError(`unexpected member of a union: ${JSON.stringify(value)}`);
}
