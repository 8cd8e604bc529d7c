import { Grants } from '../../src/turn/grants.ts';
import type { Answer, Ask, Call, Client, Replica, Run, Setup, World } from './one-task.ts';
import { replaced, withCalls, withReplica } from './one-task.ts';

// What the steps of the model are made of: calls that go out, grants that are started, clients that are told.

/** How a trace calls a process, whatever its incarnation. */
export const name = (by: number): string => 'AB'[by] ?? '?';

/** A replica asks the store for something. */
export function call(setup: Setup, world: World, by: number, ask: Ask): World {
  const from = world.replicas[by]?.id ?? '';
  const made: Call = { by, from, ask, stage: 'asked', ...(setup.habits.decidesUnderLock ? {} : { read: world.shelf }) };
  return withCalls(world, [...world.calls, made]);
}

/** A world with one client changed. */
export function withClient(world: World, at: number, client: Client): World {
  return { ...world, clients: replaced(world.clients, at, client) };
}

/** An outcome that nobody knows is asked for once more, under the same key, wherever the client gets to. */
export function heard(client: Client): Client {
  return client.told === 'unknown' && client.tries === 0 ? { at: 'idle', told: '', tries: 1 } : { ...client, at: 'told' };
}

/** The client that a replica serves hears what became of its call. */
export function tell(world: World, by: number, told: string): World {
  const at = world.replicas[by]?.serves ?? -1;
  const client = world.clients[at];
  return client === undefined ? world : withReplica(withClient(world, at, heard({ ...client, told })), by, { serves: -1 });
}

/** One trouble less that may still come. */
export function spend(world: World, fault: keyof World['left']): World {
  return { ...world, left: { ...world.left, [fault]: world.left[fault] - 1 } };
}

/** Starts a grant, wherever it was told: by the answer to an accept, a resume or a claim, or by a look. */
export function start({ habits }: Setup, world: World, by: number, answer: Pick<Answer, 'grant'> | undefined): World {
  const replica = world.replicas[by];
  const grant = answer?.grant;
  if (replica === undefined || grant === undefined || grant.holder !== replica.id) return world;
  if (habits.startsOnce && !grantsOf(replica).take({ id: 'task', fence: grant.fence })) return world;
  const { turn, attempt, fence } = grant;
  const run: Run = {
    no: world.runs.length,
    turn,
    fence,
    at: 0,
    words: [],
    known: 0,
    sent: 0,
    flights: 0,
    isTroubled: false,
    isMending: false,
    isDoubtful: false,
  };
  return withReplica({ ...world, runs: [...world.runs, { by: replica.id, turn, attempt, fence }] }, by, { run, started: fence, over: '' });
}

/** The replica's own memory of grants, as production keeps it. */
export function grantsOf({ started }: Replica): Grants {
  const grants = new Grants();
  if (started > 0) grants.take({ id: 'task', fence: started });
  return grants;
}

/** No renewal of its own has come through for a lease: it takes no turns, and gives none back, until one does. */
export function isSuspected({ suspects, shelf }: World, id: string): boolean {
  const row = shelf.replicas[id];
  return row !== undefined && row.diedAt === undefined && suspects[id] === row.beat;
}
