/** Chance, handed in, so that a lab can replay it. */
export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** A random (version 4) UUID. */
  uuid(): string;
}

/** The platform's own randomness. */
export const systemRandom: Random = {
  fraction: () => Math.random(),
  uuid: () => crypto.randomUUID(),
};
