import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LabRun } from './options.ts';
import type { Played } from './play.ts';
import { play, storeOf } from './play.ts';

type Word =
  | { readonly kind: 'idle' }
  | { readonly kind: 'begins'; readonly seed: number }
  | { readonly kind: 'played'; readonly played: Played };

/** A seed makes much and keeps nothing: with room for it the young are swept once in a while, and not all the time. */
const YOUNG_SPACE = '--max-semi-space-size=32';
/** Seeds given out at once: few enough that the cores end together. */
const ERRAND = 20;
/** A seed takes a fraction of a second. One that takes so long waits for something that never comes, or goes round in a circle. */
const STUCK_MS = 45_000;

/** Plays all seeds, in this process if it is only one. */
export async function playAll(run: LabRun): Promise<readonly Played[]> {
  if (run.seeds === 1) return [await play(run.first, storeOf(run.first, run.store))];
  const team = new Team(run);
  await Promise.all(Array.from({ length: run.jobs }, () => team.hire()));
  return team.played;
}

/** Processes that play seeds side by side. */
class Team {
  readonly played: Played[] = [];
  readonly #run: LabRun;
  #next: number;
  readonly #end: number;

  constructor(run: LabRun) {
    this.#run = run;
    this.#next = run.first;
    this.#end = run.first + run.seeds;
  }

  /** One process, until there are no seeds left. One that gets stuck is ended, and another goes on. */
  async hire(): Promise<void> {
    while (this.#next < this.#end) {
      const stuck = await this.#employ();
      if (stuck !== undefined) this.#take(stuck);
    }
  }

  /** Resolves with the seed that it broke down in, if it did. */
  #employ(): Promise<Played | undefined> {
    const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [...process.execArgv, YOUNG_SPACE],
    });
    let seed: number | undefined;
    let left: readonly number[] = [];
    let timer: NodeJS.Timeout | undefined;
    return new Promise((resolve) => {
      const fire = (why: string): void => {
        clearTimeout(timer);
        child.kill('SIGKILL');
        this.#next = Math.min(this.#next, this.#end);
        const rest = left.filter((one) => one !== seed);
        this.#returned.push(...rest);
        resolve(seed === undefined ? undefined : broken(seed, storeOf(seed, this.#run.store), why));
      };
      child.on('message', (word: Word) => {
        clearTimeout(timer);
        if (word.kind === 'begins') ({ seed } = word);
        if (word.kind === 'played') {
          this.#take(word.played);
          left = left.filter((one) => one !== word.played.seed);
          seed = undefined;
        }
        if (word.kind === 'idle' && !this.#give(child, (seeds) => (left = seeds))) {
          child.disconnect();
          return resolve(undefined);
        }
        timer = setTimeout(() => fire(`it came to no end in ${STUCK_MS} ms`), STUCK_MS);
      });
      child.once('exit', (code) => fire(`its process ended with ${code}`));
    });
  }

  /** Seeds of a process that broke down. */
  readonly #returned: number[] = [];

  #give(child: ChildProcess, onGiven: (seeds: readonly number[]) => void): boolean {
    const isOver = this.#run.isBailing && this.played.some(({ violations }) => violations.length > 0);
    const seeds = this.#returned.splice(0, ERRAND);
    while (seeds.length < ERRAND && this.#next < this.#end) seeds.push(this.#next++);
    if (isOver || seeds.length === 0) return false;
    onGiven(seeds);
    child.send({ seeds, store: this.#run.store });
    return true;
  }

  #take(played: Played): void {
    this.played.push(played);
  }
}

function broken(seed: number, store: Played['store'], why: string): Played {
  return { seed, store, violations: [{ promise: 'the lab', says: why }], reached: {}, trace: [] };
}
