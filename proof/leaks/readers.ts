import { connect as connectSocket } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Agent } from '../../src/index.ts';
import { serve } from '../../src/node.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Bounds, Held } from './measure.ts';
import { measure, weigh, withGrants } from './measure.ts';
import type { StoreName } from './stand.ts';
import { ask, many, nearWake, replica, send, sockets, tempStore, until } from './stand.ts';

const READERS = 2;

/** What each of their tasks says: 16 MB, more than the buffers of two sockets take. */
const FLOOD = 'flood 400 40000';

/** Tasks of the work beside them. */
const WORK = 200;

const MINUTE_MS = 60_000;

/**
 * What a reader that takes nothing may hold: a batch of entries (1 MiB and one more), and some pieces of 64 KiB on their way to its socket.
 */
const READER_BYTES_MAX = 3 * 1_048_576;

/** How much more the same work may cost beside them: they do nothing, so nothing; the machine may. */
const BESIDE_MAX = 2;

/** A cycle is so many turns, and what the platform keeps of sockets for a while. */
export const readersBounds: Bounds = withGrants(2 * WORK + READERS, { bytesPerCycle: 65_536, objectsPerCycle: 50, movingPerCycle: 50 });

/**
 * Readers that subscribe over a socket and never take a byte, each to a task of its own, round after round: what they hold while they stand,
 * what the work beside them costs, that they are cut after a minute and not before, and what is left then.
 */
export async function readers(store: StoreName, cycles: number): Promise<readonly Held[]> {
  await using temp = tempStore(store);
  const clock = new VirtualClock();
  const options = { leaseMs: 40_000, tickMs: 10_000, retentionMs: 60 * MINUTE_MS, purgeEveryMs: MINUTE_MS };
  const agent = replica({ store: temp.source, wake: nearWake(), clock, ...options });
  const served = await serve(agent, { signals: false });
  const work = (): Promise<void> => many(WORK, () => send(agent, 'echo'));
  const points: Held[] = [];
  const [alone, beside]: [number[], number[]] = [[], []];
  for (let cycle = 0; cycle <= cycles; cycle++) {
    const ids = await Promise.all(Array.from({ length: READERS }, () => flooded(agent)));
    alone.push(await processorMs(work));
    const idle = sockets();
    const stalled = ids.map((id) => stalledReader(served.url, id));
    await atRest();
    const standing = await weigh();
    beside.push(await processorMs(work));
    await clock.advance(MINUTE_MS - 1);
    expectSockets('none is cut before its minute', idle + 2 * READERS);
    await clock.advance(1);
    await until('all are cut', () => sockets() <= idle + READERS); // our own ends stay: they are not read either
    const cut = await weigh();
    const bytesEach = (standing - cut) / READERS;
    if (bytesEach > READER_BYTES_MAX) throw new Error(`leaks: a reader that takes nothing holds ${Math.round(bytesEach)} bytes`);
    for (const socket of stalled) socket.destroy();
    await until('their sockets are closed', () => sockets() <= idle);
    await clock.advance(2 * options.retentionMs);
    if (cycle > 0) points.push(await measure(cycle));
  }
  const ratio = least(beside) / least(alone);
  if (ratio > BESIDE_MAX) throw new Error(`leaks: work costs ${ratio.toFixed(2)} times as much beside readers that take nothing`);
  const closing = served.close();
  await clock.advance(MINUTE_MS);
  await closing;
  return points;
}

/** A task that has said all of it. */
async function flooded(agent: Agent): Promise<string> {
  const { id } = await send(agent, FLOOD, { begun: true });
  const { body } = await ask(agent, `GET /rest/tasks/${id}:subscribe`);
  if (typeof body === 'object') for await (const _ of body); // else it has ended already
  return id;
}

function stalledReader(url: string, taskId: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connectSocket({ host: hostname, port: Number(port) });
  socket.on('error', () => {}); // it is cut: that is what this is about
  socket.write(`GET /rest/tasks/${taskId}:subscribe HTTP/1.1\r\nhost: x\r\na2a-version: 1.0\r\nlast-event-id: 0\r\n\r\n`);
  return socket;
}

function expectSockets(what: string, count: number): void {
  if (sockets() !== count) throw new Error(`leaks: ${what}: ${count} sockets were expected, ${sockets()} are open`);
}

/** Resolves when this process has nothing to do, whatever others do on the machine. */
async function atRest(): Promise<void> {
  for (let still = 0; still < 3;) still = (await processorMs(() => setTimeout(50))) < 5 ? still + 1 : 0;
}

async function processorMs(act: () => Promise<unknown>): Promise<number> {
  const from = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}

/** The least disturbed of several rounds. */
const least = (numbers: readonly number[]): number => Math.min(...numbers);
