import { open } from 'node:fs/promises';
import type { Violation } from '../../src/testing/checks/check.ts';
import type { EffectLine } from '../../src/testing/rig.ts';

const PIECE_BYTES = 1_048_576;

/** Reads what runs did outside the log, each line once. */
export class Effects {
  readonly #file: string;
  #offset = 0;
  #rest = '';

  constructor(file: string) {
    this.#file = file;
  }

  /** What has happened since the last call. */
  async news(): Promise<readonly EffectLine[]> {
    const file = await open(this.#file).catch(() => undefined); // nothing happened yet: there is no file
    if (!file) return [];
    try {
      const piece = Buffer.alloc(PIECE_BYTES);
      for (;;) {
        const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, this.#offset);
        if (bytesRead === 0) break;
        this.#offset += bytesRead;
        this.#rest += piece.toString('latin1', 0, bytesRead); // the lines hold ids and numbers
      }
    } finally {
      await file.close();
    }
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.map((line) => JSON.parse(line) as EffectLine); // only the scripted agent writes it
  }
}

/** P4: a run, named by turn and attempt, is started once, by one process. */
export function* startedOnce(effects: readonly EffectLine[]): Generator<Violation> {
  const starts = new Map<string, number>();
  for (const { what, task, turn, attempt, pid } of effects) {
    if (what !== 'start') continue;
    const run = `${turn} ${attempt}`;
    const before = starts.get(run);
    if (before !== undefined)
      yield { promise: 'P4', taskId: task, says: `attempt ${attempt} of turn ${turn} was started twice, by ${before} and ${pid}` };
    starts.set(run, pid);
  }
}
