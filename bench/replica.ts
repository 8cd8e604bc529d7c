import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printHottest } from './profile.ts';
import { Program } from './programs.ts';

/** What a replica is started with. */
export interface ReplicaOptions {
  readonly file: string;
  readonly leaseMs?: number;
  readonly concurrency?: number;
}

/** One of our replicas in a process of its own. */
export interface Replica {
  /** Where its JSON-RPC is. */
  readonly url: string;
  readonly program: Program;
}

/** Replicas on one file, and the folder it is in. */
export class Fleet {
  readonly #folder = mkdtempSync(join(tmpdir(), 'chorus-bench-fleet-'));
  readonly #options: Omit<ReplicaOptions, 'file'>;
  readonly #isProfiled: boolean;
  readonly #replicas = new Set<Replica>();

  constructor(options: Omit<ReplicaOptions, 'file'> & { readonly isProfiled: boolean }) {
    const { isProfiled, ...rest } = options;
    this.#options = rest;
    this.#isProfiled = isProfiled;
  }

  /** Starts one more. */
  async start(): Promise<Replica> {
    const profile = this.#isProfiled ? ['--cpu-prof', `--cpu-prof-dir=${this.#folder}`] : [];
    const options: ReplicaOptions = { file: join(this.#folder, 'tasks.db'), ...this.#options };
    const program = new Program('replica-server', [JSON.stringify(options)], profile);
    const { url } = (await program.next('url')) as { url: string }; // its ready line
    const replica = { url, program };
    this.#replicas.add(replica);
    return replica;
  }

  /** Processor time that all of them have used up to now, ms. */
  async cpuMs(): Promise<number> {
    let sum = 0;
    for (const { program } of this.#replicas) {
      program.tell('cpu');
      sum += ((await program.next('cpuMs')) as { cpuMs: number }).cpuMs; // the replica's answer
    }
    return sum;
  }

  /** Ends one without a word to the others. */
  async kill(replica: Replica): Promise<void> {
    this.#replicas.delete(replica);
    await replica.program.kill();
  }

  /** Ends all, and removes what they left. */
  async stop(): Promise<void> {
    await Promise.all([...this.#replicas].map(({ program }) => program.stop()));
    if (this.#isProfiled) printHottest(this.#folder);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
