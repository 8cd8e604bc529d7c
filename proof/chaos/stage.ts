import { sqlite } from '../../src/agent/sqlite.ts';
import { callerClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { StoreSource } from '../../src/log/store.ts';
import { isA2AError } from '../../src/protocol/errors.ts';
import { checkHistory } from '../../src/testing/checker.ts';
import type { Verdict } from '../../src/testing/checker.ts';
import type { StoredTask } from '../../src/testing/checks/check.ts';
import { History, taskIdsIn } from '../../src/testing/facts.ts';
import { Probe } from '../../src/testing/probe.ts';
import { Rig } from '../../src/testing/rig.ts';
import type { RigOptions } from '../../src/testing/rig.ts';
import { readStored } from '../../src/testing/stored.ts';
import { eventually, pause } from './waits.ts';

/** Lease of the replicas in these runs. */
export const LEASE_MS = 2_000;

/** What a stage is made of. */
export interface StageOptions extends RigOptions {
  /** Opens the rig's store as one more process that only looks. A SQLite file unless told. */
  readonly source?: (store: string) => StoreSource;
}

/** Whose eyes a probe has. */
export interface ProbeWords {
  readonly caller?: string;
  readonly binding?: 'JSONRPC' | 'HTTP+JSON';
}

/** A verdict, and what it was given on. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly stored: ReadonlyMap<string, StoredTask>;
}

/** A rig, a probe for each replica, and the history of all that they see. */
export interface Stage extends AsyncDisposable {
  readonly rig: Rig;
  readonly history: History;
  /** What replicas logged as errors, the last of it: the text behind every reference. */
  readonly troubles: readonly string[];
  /** Of the replica of that number, as it is now. */
  probe(index: number, words?: ProbeWords): Probe;
  /** Of all living replicas. */
  probes(): Probe[];
  /** Waits until nothing moves any more, reads every task on every living replica, and judges. */
  verdict(): Promise<Verdict>;
  /** The same; each task is read on `readers` living replicas, and what was judged is given too. */
  judge(words?: { readonly readers?: number }): Promise<Judgement>;
  /** Begins a new history: what was judged need not be kept. */
  forget(): void;
}

const TROUBLES_MAX = 200;

/** Opens a rig whose replicas have this file's lease, with a history of what its probes see. */
export async function openStage({ source = sqlite, ...options }: StageOptions = {}): Promise<Stage> {
  const { flags = [] } = options;
  let history = new History();
  const troubles: string[] = [];
  const rig = await Rig.open({
    ...options,
    onLine: (replica, line) => {
      if (line['level'] !== 'error') return;
      troubles.push(`${replica}: ${JSON.stringify(line)}`);
      if (troubles.length > TROUBLES_MAX) troubles.shift();
    },
    flags: (index) => ['--lease-ms', String(LEASE_MS), ...(typeof flags === 'function' ? flags(index) : flags)],
  });
  const known = new Map<string, Probe>();
  const probeOf = (index: number, words: ProbeWords = {}): Probe => {
    const { url, name } = rig.replica(index);
    const place = JSON.stringify([name, url, words]);
    const observer = words.caller ? `${name} for ${words.caller}` : name;
    const probe = known.get(place) ?? new Probe({ url, replica: name, observer, history, ...words });
    known.set(place, probe); // a new one asks for the card first
    return probe;
  };
  const judge: Stage['judge'] = ({ readers = rig.living.length } = {}) => judgeStage({ rig, history, source, probeOf, readers });
  return {
    rig,
    get history() {
      return history;
    },
    probe: probeOf,
    probes: () => rig.living.map((replica) => probeOf(rig.replicas.indexOf(replica))),
    troubles,
    verdict: async () => (await judge()).verdict,
    judge,
    forget: () => {
      history = new History();
      known.clear();
    },
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

interface Judged {
  readonly rig: Rig;
  readonly history: History;
  readonly source: (store: string) => StoreSource;
  readonly probeOf: Stage['probe'];
  readonly readers: number;
}

/** How long the last turns may need once nobody brings any more. */
const QUIET_MS_MAX = 30_000;

/** Final reads that are under way at once. */
const READS_AT_ONCE = 8;

async function judgeStage({ rig, history, source, probeOf, readers }: Judged): Promise<Judgement> {
  const taskIds = taskIdsIn(history.facts);
  const stored = await eventually(
    'every turn to close',
    async () => {
      const read = await readStored(source(rig.store), taskIds);
      return [...read.values()].every(({ row }) => row.phase === 'closed') && read;
    },
    QUIET_MS_MAX,
  );
  const living = rig.living.map((replica) => rig.replicas.indexOf(replica));
  const reader = (index: number, owner: string): Probe => probeOf(index, owner === '' ? {} : { caller: owner });
  const reads = [...stored].flatMap(([taskId, { row }], place) =>
    // in turns, so that each replica reads its share when not all of them read all
    Array.from({ length: Math.min(readers, living.length) }, (_, number) => ({
      taskId,
      row,
      index: living[(place + number) % living.length] ?? 0,
    })),
  );
  const next = reads.values();
  const readOn = async (): Promise<void> => {
    for (const { taskId, row, index } of next) {
      await reader(index, row.owner)
        .get(taskId, { isFinal: true })
        .catch(() => undefined); // recorded: the checker looks at it
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readOn));
  const verdict = checkHistory({ facts: history.facts, stored }, { leaseMs: LEASE_MS, fairMs: (from, to) => rig.lag.fairMs(from, to) });
  return { verdict, stored };
}

/** Names nothing: to cancel it asks for the store's write lock and changes nothing. */
export const NO_TASK = '00000000-0000-4000-8000-000000000000';

/** True if the replica could write within that time. */
export async function canWrite({ url, name }: Rig['replicas'][number], timeoutMs: number): Promise<boolean> {
  const probe = new Probe({ url, replica: name, timeoutMs });
  const answer = await probe.cancel(NO_TASK).catch((error: unknown) => error);
  return isA2AError(answer) && answer.code === 'TASK_NOT_FOUND';
}

/**
 * Stops a replica (SIGSTOP) while another can write, and gives the moment. A process that stands still inside a commit stops every writer of
 * a SQLite file: that is a fault of its own (design, section 4), so it is let go and stopped again.
 */
export async function pauseOutsideCommit(rig: Rig, index: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const at = callerClock.wall();
    rig.pause(index);
    if (await canWrite(rig.living[0] ?? rig.replica(index), 500)) return at;
    rig.resume(index);
    await pause(10 + systemRandom.fraction() * 50);
  }
  throw new Error('the replica was inside a commit at every look');
}

const STARTS_MAX = 5;

/** A new process in the place of one that has ended; one that does not get at the store in time is started again, as a process manager would. */
export async function restarted(rig: Rig, index: number, before: () => void = () => undefined): Promise<Rig['replicas'][number]> {
  for (let start = 1; ; start++) {
    try {
      before();
      return await rig.restart(index);
    } catch (error) {
      const isKeptOut = error instanceof Error && /is locked by another process|cannot grow/.test(error.message);
      if (!isKeptOut || start >= STARTS_MAX) throw error;
      await pause(500);
    }
  }
}
