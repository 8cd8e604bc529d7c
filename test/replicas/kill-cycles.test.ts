import { describe, expect, test } from 'vitest';
import { callerClock, sleep } from '../../src/ground/clock.ts';
import type { Verdict } from '../../src/testing/checker.ts';
import { Load } from './load.ts';
import { eventually, LEASE_MS, openStage, pauseOutsideCommit, seeded } from './support.ts';
import type { Stage } from './support.ts';

const cycles = Number(process.env['CHORUS_KILLS'] ?? 10);
const seed = Number(process.env['CHORUS_SEED'] ?? Date.now() % 1_000_000);

// each replica accepts turns under another rule, so every kill meets all of them
const RULES = ['fail', 'retry', 'ask'] as const;

/** After so many kills one replica is stopped past its lease. */
const CYCLES_PER_STOP = 5;

/** Kills, stops and starts replicas under load. */
class Chaos {
  readonly #stage: Stage;
  readonly #random: () => number;
  readonly #pinned: string[] = [];

  constructor(stage: Stage, random: () => number) {
    this.#stage = stage;
    this.#random = random;
  }

  /** kill -9 while the replica certainly holds turns, and a new one in its place once they are settled. */
  async kill(): Promise<void> {
    const { rig } = this.#stage;
    const index = this.#any();
    const holding = await this.#hold(index);
    await sleep(callerClock, this.#random() * 300);
    const { name } = rig.replica(index);
    const at = await rig.kill(index);
    this.#stage.history.record({ kind: 'kill', signal: 'SIGKILL', at, observer: 'chaos', replica: name, holding });
    const restarted = this.#random() < 0.5 ? rig.restart(index) : undefined; // sometimes the successor is there before the lease is over
    await this.#settled(holding, index);
    await (restarted ?? rig.restart(index));
  }

  /** SIGSTOP past the lease, while the others write; then it goes on, and its code has to learn that it is superseded. */
  async stop(): Promise<void> {
    const { rig } = this.#stage;
    const index = this.#any();
    const holding = await this.#hold(index);
    await sleep(callerClock, this.#random() * 100);
    const at = await pauseOutsideCommit(rig, index);
    this.#stage.history.record({ kind: 'kill', signal: 'SIGSTOP', at, observer: 'chaos', replica: rig.replica(index).name, holding });
    await sleep(callerClock, LEASE_MS + 2_000);
    rig.resume(index);
    await this.#settled(holding, index);
  }

  /** Ends the turns that the kills left with a successor. */
  async cleanUp(): Promise<void> {
    for (const taskId of this.#pinned)
      await this.#stage
        .probe(0)
        .cancel(taskId)
        .catch(() => undefined); // most have ended long ago
  }

  #any(): number {
    const living = this.#stage.rig.replicas.flatMap((replica, index) => (replica.isAlive && !replica.isStopped ? [index] : []));
    return living[Math.floor(this.#random() * living.length)] ?? 0;
  }

  /** Two turns that the replica holds: one that speaks and one that is silent. */
  async #hold(index: number): Promise<readonly string[]> {
    return Promise.all([this.#heldBy(index, 'emit 100000 5'), this.#heldBy(index, 'work; silent 600000')]);
  }

  /** The first answer tells: WORKING, if the replica took the turn itself; SUBMITTED, if the queue or another replica has it. */
  async #heldBy(index: number, script: string): Promise<string> {
    const probe = this.#stage.probe(index);
    return eventually('a turn of its own', async () => {
      const { id, status } = await probe.sendForTask(script, { returnImmediately: true });
      this.#pinned.push(id);
      if (status.state === 'TASK_STATE_WORKING') return id;
      await probe.cancel(id);
      return undefined;
    });
  }

  /** By the record of the log: the checker judges how long it took, this only waits for it. */
  async #settled(holding: readonly string[], dead: number): Promise<void> {
    const probe = this.#stage.probe(dead === 0 ? 1 : 0);
    for (const taskId of holding) {
      await eventually(`the turn of ${taskId} to be settled`, async () => {
        const { status, metadata } = await probe.get(taskId);
        return status.state !== 'TASK_STATE_WORKING' || metadata?.['chorus/lost'] !== undefined;
      });
      await probe.cancel(taskId).catch(() => undefined); // FAILED already, as half of them are
    }
  }
}

/** A user that waits for ever is a broken promise: somebody's task never ended. */
async function everybodyLeaves(load: Load, stage: Stage): Promise<void> {
  const isDone = await Promise.race([load.stop().then(() => true), sleep(callerClock, 60_000).then(() => false)]);
  if (isDone) return;
  const left = await Promise.all(load.followed.map((taskId) => stage.probe(0).get(taskId)));
  throw new Error(`users wait in vain for ${JSON.stringify(left.map(({ id, status, metadata }) => ({ id, status, metadata })))}`);
}

async function run(stage: Stage, random: () => number): Promise<{ readonly load: Load; readonly verdict: Verdict }> {
  const { rig } = stage;
  rig.recordLag();
  const load = new Load(stage, random);
  const chaos = new Chaos(stage, random);
  load.start(6);
  try {
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await Promise.race([chaos.kill(), load.failed()]);
      if (cycle % CYCLES_PER_STOP === 0) await Promise.race([chaos.stop(), load.failed()]);
      if (process.env['CHORUS_VERBOSE']) console.log(`cycle ${cycle} of ${cycles}`);
    }
  } catch (error) {
    throw new Error(`the run broke off; replicas say:\n${stage.troubles.slice(-20).join('\n')}`, { cause: error });
  } finally {
    load.leave();
  }
  await everybodyLeaves(load, stage);
  await chaos.cleanUp();
  return { load, verdict: await stage.verdict() };
}

describe(`${cycles} kills of random replicas under load, seed ${seed}`, () => {
  test(
    'break no promise, and every turn is settled within lease + 1.5 s (P1 to P9)',
    async () => {
      await using stage = await openStage({ flags: (index) => ['--on-lost', RULES[index % RULES.length] ?? 'fail'] });
      const { load, verdict } = await run(stage, seeded(seed));
      const { counted, kills, violations } = verdict;
      const times = kills.flatMap(({ settled }) => settled.flatMap(({ wallMs }) => wallMs ?? [])).toSorted((one, other) => one - other);
      console.log(
        JSON.stringify({ seed, counted, reached: load.reached, lost: stage.rig.lag.lost.length, settledMs: times.map(Math.round) }),
      );
      expect(violations).toEqual([]);
      // a verdict over nothing is worth nothing: every road was taken, and nine of ten kills could be judged
      for (const [what, count] of Object.entries(load.reached)) if (what !== 'repeats') expect(count, what).toBeGreaterThan(0);
      const judged = kills.filter(({ kill, isJudged }) => kill.signal === 'SIGKILL' && isJudged);
      expect(judged.length).toBeGreaterThanOrEqual(Math.floor(cycles * 0.9));
    },
    120_000 + cycles * 10_000,
  );
});
