import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program } from './programs.ts';

/**
 * What no wake between processes of one machine can be faster than: two bare processes, one commits a row of 1 KB and touches a file, the
 * other watches the file and reads the row. Time is counted from before the commit to after the read.
 */
export class Floor {
  readonly #folder = mkdtempSync(join(tmpdir(), 'chorus-bench-floor-'));
  readonly #args: readonly string[] = [join(this.#folder, 'floor.db'), join(this.#folder, 'bell')];
  readonly #reader = new Program('floor-reader', this.#args);
  #writer: Program | undefined;

  async start(): Promise<void> {
    await this.#reader.next('ready');
    this.#writer = new Program('floor-writer', this.#args);
    await this.#writer.next('ready');
  }

  /** Milliseconds for each of so many rows. */
  async measure(count: number): Promise<readonly number[]> {
    this.#writer?.tell(String(count));
    await this.#writer?.next('done');
    const latencies: number[] = [];
    while (latencies.length < count) latencies.push(((await this.#reader.next('latencyMs')) as { latencyMs: number }).latencyMs); // the reader's line
    return latencies;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#writer?.kill(), this.#reader.kill()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
