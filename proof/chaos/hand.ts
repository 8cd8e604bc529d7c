import { callerClock } from '../../src/ground/clock.ts';
import type { Verdict } from '../../src/testing/checker.ts';
import type { KillFact } from '../../src/testing/facts.ts';
import type { Probe } from '../../src/testing/probe.ts';
import { oneOf } from '../chance.ts';
import type { Complain } from './complaint.ts';
import type { SmallDisk } from './disk.ts';
import { fillDisk } from './full-disk.ts';
import type { Policies, Policy } from './policies.ts';
import type { Reached } from './reached.ts';
import { LEASE_MS, pauseOutsideCommit, restarted } from './stage.ts';
import type { Stage } from './stage.ts';
import { stopInsideCommit } from './stopped-commit.ts';
import { isTrouble } from './user.ts';
import { eventually, pause } from './waits.ts';

/** How long a replica may drain. */
export const DRAIN_MS = 3_000;

/** What it may need beyond that: 2 s by its promise, and what a busy machine takes to start, signal and reap processes. */
const DRAIN_SLACK_MS = 5_000;

/** What a hand works on. */
export interface HandParts {
  readonly stage: Stage;
  readonly policies: Policies;
  readonly random: () => number;
  readonly reached: Reached;
  readonly complain: Complain;
  /** Numbers of replicas that some hand has taken: each is one hand's at a time. */
  readonly taken: Set<number>;
  /** What is used as a disk that becomes full. */
  readonly disk: SmallDisk['kind'] | undefined;
  /** Takes the verdict on a rig of its own. */
  readonly judged: (verdict: Verdict) => void;
}

/** Another process may need so long to come up on a machine that is busy. */
const MOVED_MS_MAX = 60_000;

/** How long a hand tries to give a replica a turn of its own. */
const HELD_MS_MAX = 20_000;

/** A turn that speaks all the time is long: it is not looked at more often than it has to be. */
const LOOK_MS = 150;

/** Kills, stops, drains and starts replicas while they hold turns. */
export class Hand {
  readonly #parts: HandParts;
  readonly #pinned: string[] = [];

  constructor(parts: HandParts) {
    this.#parts = parts;
  }

  /** kill -9 while the replica certainly holds turns, and a new one in its place once they are settled. */
  async kill(wanted?: Policy['onLost']): Promise<void> {
    await this.#with(wanted, async (index) => {
      const holding = await this.#hold(index);
      if (holding.length === 0) return;
      await pause(this.#parts.random() * 300);
      const { rig } = this.#parts.stage;
      const { name } = rig.replica(index);
      const at = await rig.kill(index);
      this.#record({ signal: 'SIGKILL', at, replica: name, holding });
      const successor = this.#parts.random() < 0.5 ? restarted(rig, index) : undefined; // sometimes the successor is there before the lease is over
      successor?.catch(() => undefined); // awaited below
      await this.#settled(holding);
      await (successor ?? restarted(rig, index));
      this.#parts.reached.add('kill');
    });
  }

  /** SIGSTOP past the lease, while the others write; then it goes on, and its code has to learn that it is superseded. */
  async stop(): Promise<void> {
    await this.#with(undefined, async (index) => {
      const holding = await this.#hold(index);
      if (holding.length === 0) return;
      await pause(this.#parts.random() * 100);
      const { rig } = this.#parts.stage;
      const at = await pauseOutsideCommit(rig, index);
      this.#record({ signal: 'SIGSTOP', at, replica: rig.replica(index).name, holding });
      await pause(LEASE_MS + 2_000);
      rig.resume(index);
      await this.#settled(holding);
      this.#parts.reached.add('stop');
    });
  }

  /** SIGTERM: turns that end in time end, the others are settled as if they were lost, and the process ends with 0 in time. */
  async drain(): Promise<void> {
    await this.#with(undefined, async (index) => {
      const { stage, reached, complain } = this.#parts;
      const holding = await this.#hold(index);
      if (holding.length === 0) return;
      const { name } = stage.rig.replica(index);
      const at = callerClock.wall();
      const end = await stage.rig.terminate(index);
      const tookMs = stage.rig.lag.fairMs(at, callerClock.wall());
      if (end.code !== 0 || tookMs > DRAIN_MS + DRAIN_SLACK_MS) {
        const how = end.code === undefined ? `by ${end.signal}` : `with ${end.code}`;
        complain({ promise: 'P6', says: `${name} was told to leave and ended ${how} after ${Math.round(tookMs)} ms` });
      }
      await this.#settled(holding);
      reached.add('drainSettled');
      // until its successor comes: readers may have to go through what they were sent before they see the end
      stage.history.record({ kind: 'leave', at, observer: 'chaos', replica: name, until: callerClock.wall() });
      await restarted(stage.rig, index);
      reached.add('drain');
    });
  }

  /** A stop inside a commit: nobody can write until it goes on, and everybody can read. */
  async stoppedCommit(): Promise<void> {
    await this.#with(undefined, async (index) => {
      const holding = await this.#held(index, ['emit 100000 1', 'emit 100000 1', 'emit 100000 1']);
      const [readable] = holding;
      if (readable === undefined) return;
      await stopInsideCommit({ ...this.#parts, index, readable });
      await this.#end(holding);
      this.#parts.reached.add('stoppedCommit');
    });
  }

  /** A process that is killed between a commit and its answer: whoever asked asks again elsewhere, and finds what was done (case 5). */
  async deadAck(): Promise<void> {
    await this.#with(undefined, async (index) => {
      const { rig } = this.#parts.stage;
      await rig.kill(index);
      const replica = await restarted(rig, index, () => this.#parts.policies.once(index, ['--fault', 'dead-ack']));
      const asked: { readonly key: string; readonly messageId: string }[] = [];
      const script = 'emit 20 2; done';
      for (const end = callerClock.monotonic() + MOVED_MS_MAX; replica.isAlive && callerClock.monotonic() < end;) {
        const named = { key: crypto.randomUUID(), messageId: crypto.randomUUID() };
        asked.push(named);
        await this.#probe(index)
          .send(script, named)
          .catch(() => undefined); // what it did is asked below
      }
      const died = replica.isAlive ? 'none' : await replica.ended();
      if (died === 'none' || died.signal !== 'SIGKILL')
        throw new Error(`a process that kills itself was expected, it ended with ${JSON.stringify(died)}`);
      for (const named of asked) await this.#patiently(() => this.#other().send(script, { ...named, returnImmediately: true }));
      await restarted(rig, index);
      this.#parts.reached.add('deadAck');
    });
  }

  /** A disk that is full, and cleared again. */
  async full(): Promise<void> {
    const { disk, judged, ...parts } = this.#parts;
    judged(await fillDisk({ ...parts, ...(disk === undefined ? {} : { disk }) }));
  }

  /** Ends the turns that kills left with a successor. */
  async cleanUp(): Promise<void> {
    await this.#end(this.#pinned.splice(0));
  }

  async #end(taskIds: readonly string[]): Promise<void> {
    for (const taskId of taskIds) await this.#patiently(() => this.#other().cancel(taskId)).catch(() => undefined); // most have ended long ago
  }

  /** Does something to a living replica that no other hand has taken; one is always left alone. */
  async #with(onLost: Policy['onLost'] | undefined, work: (index: number) => Promise<void>): Promise<void> {
    const index = await eventually('a replica to take', () => this.#take(onLost), MOVED_MS_MAX);
    try {
      await work(index);
    } finally {
      this.#parts.taken.delete(index);
    }
  }

  /** Chosen and taken at once: two hands that look at the same moment do not take the same one. */
  #take(onLost: Policy['onLost'] | undefined): number | undefined {
    const { stage, policies, random, taken } = this.#parts;
    const { replicas } = stage.rig;
    const free = replicas.flatMap((replica, index) => (replica.isAlive && !replica.isStopped && !taken.has(index) ? [index] : []));
    if (free.length < 2) return undefined;
    const fitting = free.filter((index) => policies.of(index)?.onLost === onLost);
    const index = oneOf(random, fitting) ?? oneOf(random, free);
    if (index !== undefined) taken.add(index);
    return index;
  }

  /** Two turns that the replica holds: one that speaks and one that is silent. */
  #hold(index: number): Promise<readonly string[]> {
    return this.#held(index, ['emit 100000 20', 'work; silent 600000']);
  }

  /** Turns of the replica's own, as many as it took within the time: a machine that is far behind has older turns waiting. */
  async #held(index: number, scripts: readonly string[]): Promise<readonly string[]> {
    const held = await Promise.all(scripts.map((script) => this.#heldBy(index, script)));
    return held.filter((taskId) => taskId !== undefined);
  }

  /** The first answer tells: WORKING, if the replica took the turn itself; SUBMITTED, if the queue or another replica has it. */
  async #heldBy(index: number, script: string): Promise<string | undefined> {
    for (const end = callerClock.monotonic() + HELD_MS_MAX; callerClock.monotonic() < end; await pause(LOOK_MS)) {
      const { id, status } = await this.#patiently(() => this.#probe(index).sendForTask(script, { returnImmediately: true }));
      this.#pinned.push(id);
      if (status.state === 'TASK_STATE_WORKING') return id;
      await this.#end([id]);
    }
    return undefined;
  }

  /** By the record of the log: the checker judges how long it took, this only waits for it. */
  async #settled(holding: readonly string[]): Promise<void> {
    for (const taskId of holding) {
      await eventually(
        `the turn of ${taskId} to be settled`,
        async () => {
          const { status, metadata } = await this.#patiently(() => this.#other().get(taskId));
          if (status.state !== 'TASK_STATE_WORKING' || metadata?.['chorus/lost'] !== undefined) return true;
          await pause(LOOK_MS);
          return false;
        },
        MOVED_MS_MAX,
      );
    }
    await this.#end(holding);
  }

  #record(kill: Pick<KillFact, 'signal' | 'at' | 'holding'> & { readonly replica: string }): void {
    this.#parts.stage.history.record({ kind: 'kill', observer: 'chaos', ...kill });
  }

  #probe(index: number): Probe {
    return this.#parts.stage.probe(index);
  }

  /** Of a living replica, whichever. */
  #other(): Probe {
    const { stage, random } = this.#parts;
    const replica = oneOf(random, stage.rig.living);
    return stage.probe(replica ? stage.rig.replicas.indexOf(replica) : 0);
  }

  /** Asks again while replicas die under it. */
  async #patiently<Result>(call: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (!isTrouble(error) || attempt >= 20) throw error;
        await pause(50);
      }
    }
  }
}
