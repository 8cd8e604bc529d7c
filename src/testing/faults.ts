import { kill, pid } from 'node:process';
import { sleep } from '../ground/clock.ts';
import type { NewEntry } from '../log/entry.ts';
import type {
  AcceptAsk,
  AcceptResult,
  AppendAsk,
  AppendResult,
  CancelAsk,
  CancelResult,
  Store,
  StoreParts,
  StoreSource,
} from '../log/store.ts';
import { StoreError } from '../log/store.ts';
import { isTerminal } from '../protocol/states.ts';

/** What a bad database can do. Each is counted per process; only accept, append and cancel are writes here. */
export type Fault = 'final-write' | 'final-refused' | 'lost-ack' | 'dead-ack' | 'slow';

/** All faults, for those who read one from a command line. */
export const faults: readonly Fault[] = ['final-write', 'final-refused', 'lost-ack', 'dead-ack', 'slow'];

/**
 * Puts a fault around a store:
 * `final-write`: each turn's first write that carries a terminal status fails with a connection error, nothing stored;
 * `final-refused`: each write of a turn that carries COMPLETED is refused for its content, whenever it is tried;
 * `lost-ack`: of every five writes one is stored and then answered with a connection error;
 * `dead-ack`: the fifth write is stored, and the process kills itself (SIGKILL) before anyone is answered;
 * `slow`: each call starts 200 ms late.
 *
 * @example
 * ```ts
 * import { createAgent } from 'chorus-a2a';
 * import { sqlite } from 'chorus-a2a/sqlite';
 * import { withFault } from 'chorus-a2a/testing';
 *
 * const agent = createAgent({
 *   card: { name: 'Greeter', description: 'Greets people by name.', version: '1.0.0' },
 *   store: withFault(sqlite('tasks.db'), 'lost-ack'),
 *   run: (turn) => `Hello, ${turn.text}!`,
 * });
 * await agent.start();
 * ```
 */
export function withFault(source: StoreSource, fault: Fault): StoreSource {
  return {
    name: `${source.name} with ${fault}`,
    reach: source.reach,
    open(parts) {
      const { store, wake } = source.open(parts);
      return { store: faultyStore(store, fault, parts), wake };
    },
  };
}

function faultyStore(store: Store, fault: Fault, parts: StoreParts): Store {
  switch (fault) {
    case 'final-write':
      return overWrites(store, finalWrite(store));
    case 'final-refused':
      return overWrites(store, finalRefused(store));
    case 'lost-ack':
      return overWrites(
        store,
        lostAck(store, () => Promise.reject(connectionLost())),
      );
    case 'dead-ack':
      return overWrites(store, lostAck(store, die));
    case 'slow':
      return overAll(store, (call) => sleep(parts.clock, SLOW_MS).then(call));
  }
}

const SLOW_MS = 200;
const LOST_ACK_OF = 5;

interface Writes {
  accept?(ask: AcceptAsk): Promise<AcceptResult>;
  append?(ask: AppendAsk): Promise<AppendResult>;
  cancel?(ask: CancelAsk): Promise<CancelResult>;
}

// what a driver says of a connection that broke before the answer came: the caller cannot know whether the write was done
const connectionLost = (): StoreError =>
  new StoreError('unavailable', 'The connection was lost (a fault put in on purpose).', { isUnknown: true });

function finalWrite(store: Store): Writes {
  const failed = new Set<string>();
  return {
    async append(ask) {
      if (!ask.entries.some(isFinal)) return store.append(ask);
      const run = await runOf(store, ask);
      if (failed.has(run)) return store.append(ask);
      failed.add(run);
      throw connectionLost();
    },
  };
}

/** Names the turn, which the ask knows by its fence only: a turn that is run again has another fence and is still the same turn. */
async function runOf(store: Store, { taskId, fence }: AppendAsk): Promise<string> {
  const found = await store.read({ taskId, after: Number.MAX_SAFE_INTEGER });
  return found?.row.fence === fence ? `${taskId}.${found.row.turn}` : `${taskId}/${fence}`;
}

function finalRefused(store: Store): Writes {
  return {
    async append(ask) {
      if (!ask.entries.some((entry) => entry.state === 'TASK_STATE_COMPLETED')) return store.append(ask);
      throw new StoreError('unstorable', 'This content is refused (a fault put in on purpose).');
    },
  };
}

/** One write of so many is done, and in place of its answer comes what `answer` does. */
function lostAck(store: Store, answer: () => Promise<never>): Writes {
  let count = 0;
  const write = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const isLost = ++count % LOST_ACK_OF === 0;
    const result = await call();
    return isLost ? answer() : result;
  };
  return {
    accept: (ask) => write(() => store.accept(ask)),
    append: (ask) => write(() => store.append(ask)),
    cancel: (ask) => write(() => store.cancel(ask)),
  };
}

/** As when the power fails between the disk's answer and the caller's: nothing of this process gets to say another word. */
function die(): Promise<never> {
  kill(pid, 'SIGKILL');
  return new Promise(() => undefined); // for the moment until the signal arrives
}

function isFinal({ state }: NewEntry): boolean {
  return state !== undefined && isTerminal(state);
}

/** The store with some of its writes exchanged. */
function overWrites(store: Store, writes: Writes): Store {
  const plain = overAll(store, (call) => call());
  return { ...plain, ...writes };
}

/** The store with something around each of its calls. */
function overAll(store: Store, around: <Result>(call: () => Promise<Result>) => Promise<Result>): Store {
  return {
    start: () => store.start(),
    stop: () => store.stop(),
    join: (ask) => around(() => store.join(ask)),
    accept: (ask) => around(() => store.accept(ask)),
    append: (ask) => around(() => store.append(ask)),
    cancel: (ask) => around(() => store.cancel(ask)),
    claim: (ask) => around(() => store.claim(ask)),
    release: (ask) => around(() => store.release(ask)),
    resume: (ask) => around(() => store.resume(ask)),
    sweep: (ask) => around(() => store.sweep(ask)),
    tick: (ask) => around(() => store.tick(ask)),
    read: (ask) => around(() => store.read(ask)),
    entries: (ask) => around(() => store.entries(ask)),
    list: (ask) => around(() => store.list(ask)),
    purge: (ask) => around(() => store.purge(ask)),
  };
}
