import { getEventListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { queryObjects } from 'node:v8';

/** What a process holds at one moment, after a collection of all garbage. */
export interface Held {
  /** Cycles done when it was measured. */
  readonly cycles: number;
  readonly heapBytes: number;
  /** All objects there are: plain ones, functions, promises, arrays, and those of classes. */
  readonly objects: number;
  /** Functions, promises, arrays and maps among them: what a forgotten listener, timer or waiter is made of. */
  readonly moving: number;
  /** Open sockets, timers and the like, by kind: what stays, and the most there was at any look. */
  readonly resources: Readonly<Record<string, number>>;
  readonly resourcesMost: Readonly<Record<string, number>>;
  /** Listeners on the process and on the targets that were handed in. */
  readonly listeners: number;
}

const movingKinds = [Function, Promise, Array, Map];

/** Counts and weighs. `targets` are signals and emitters whose listeners are counted too. */
export async function measure(cycles: number, targets: readonly (EventTarget | NodeJS.EventEmitter)[] = []): Promise<Held> {
  const heapBytes = await weigh();
  return {
    cycles,
    heapBytes,
    objects: queryObjects(Object, { format: 'count' }),
    moving: movingKinds.reduce((sum, kind) => sum + queryObjects(kind, { format: 'count' }), 0),
    ...(await open()),
    listeners: listenersOf(targets),
  };
}

/** Bytes that are left when all garbage is gone. */
export async function weigh(): Promise<number> {
  const collect = globalThis.gc;
  if (!collect) throw new Error('leaks: start with --expose-gc');
  // with pauses: the platform's fetch takes its listeners off when it is told what was collected, some turns of the loop later
  for (let round = 0; round < 3; round++) {
    collect();
    await setTimeout(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Looks at different moments, to tell what stays from what a tick or a commit has open just now. */
const LOOKS = 10;

/** The fewest and the most of each kind that any look found. */
async function open(): Promise<Pick<Held, 'resources' | 'resourcesMost'>> {
  const looks = [resources()];
  while (looks.length < LOOKS) {
    await setTimeout(7);
    looks.push(resources());
  }
  const kinds = [...new Set(looks.flatMap((look) => Object.keys(look)))];
  const over = (pick: (...counts: number[]) => number): Record<string, number> =>
    Object.fromEntries(kinds.map((kind) => [kind, pick(...looks.map((look) => look[kind] ?? 0))]));
  return { resources: over(Math.min), resourcesMost: over(Math.max) };
}

function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function listenersOf(targets: readonly (EventTarget | NodeJS.EventEmitter)[]): number {
  const own = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  return targets.reduce((sum, target) => sum + namesOf(target).reduce((all, name) => all + getEventListeners(target, name).length, 0), own);
}

function namesOf(target: EventTarget | NodeJS.EventEmitter): readonly string[] {
  return 'eventNames' in target ? target.eventNames().map(String) : ['abort'];
}

/** How much of a measure a cycle leaves behind: the slope of a line through all points, so that one noisy point does not decide. */
export function slope(points: readonly Held[], of: (held: Held) => number): number {
  const mean = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const [x, y] = [mean(points.map(({ cycles }) => cycles)), mean(points.map(of))];
  const along = points.reduce((sum, point) => sum + (point.cycles - x) * (of(point) - y), 0);
  const across = points.reduce((sum, point) => sum + (point.cycles - x) ** 2, 0);
  return across === 0 ? 0 : along / across;
}

/** What one cycle may leave behind on the average: less than the smallest thing that can be forgotten. */
export interface Bounds {
  readonly bytesPerCycle: number;
  readonly objectsPerCycle: number;
  readonly movingPerCycle: number;
}

/** What two measures of the same thing differ by: compiled code comes and goes, and the platform makes some things when it first needs them. */
const NOISE = { bytes: 262_144, objects: 100 };

/** A forgotten closure is one object of 32 bytes and a place in what holds it. */
export const strict: Bounds = { bytesPerCycle: 40, objectsPerCycle: 0.25, movingPerCycle: 0.1 };

/**
 * The same for cycles of so many turns: a replica remembers the grant of each, two objects, until it remembers all it ever will
 * (src/turn/grants.ts).
 */
export function withGrants(turns: number, { bytesPerCycle, objectsPerCycle, movingPerCycle }: Bounds = strict): Bounds {
  return { bytesPerCycle: bytesPerCycle + turns * 400, objectsPerCycle: objectsPerCycle + turns * 2, movingPerCycle };
}

/** What came of a scenario. */
export interface Verdict {
  readonly scenario: string;
  readonly store: string;
  readonly cycles: number;
  readonly bytesPerCycle: number;
  readonly objectsPerCycle: number;
  readonly movingPerCycle: number;
  /** What is wrong; nothing when all is well. */
  readonly faults: readonly string[];
  readonly ms: number;
}

/** Holds the points after the warm-up against the bounds, and the last one's resources and listeners against the first one's. */
export function judge(
  points: readonly Held[],
  bounds: Bounds = strict,
): Pick<Verdict, 'bytesPerCycle' | 'objectsPerCycle' | 'movingPerCycle' | 'faults'> {
  const bytesPerCycle = slope(points, ({ heapBytes }) => heapBytes);
  const objectsPerCycle = slope(points, ({ objects }) => objects);
  const movingPerCycle = slope(points, ({ moving }) => moving);
  const faults: string[] = [];
  const span = (points.at(-1)?.cycles ?? 0) - (points[0]?.cycles ?? 0);
  const check = (what: string, value: number, bound: number, noise: number): void => {
    const most = bound + (span > 0 ? noise / span : 0);
    if (value > most) faults.push(`${what}: ${value.toFixed(2)} per cycle, at most ${most.toFixed(2)} expected`);
  };
  check('bytes', bytesPerCycle, bounds.bytesPerCycle, NOISE.bytes);
  check('objects', objectsPerCycle, bounds.objectsPerCycle, NOISE.objects);
  check('functions, promises, arrays and the like', movingPerCycle, bounds.movingPerCycle, NOISE.objects);
  faults.push(...leftOpen(points[0], points.at(-1)));
  return { bytesPerCycle, objectsPerCycle, movingPerCycle, faults };
}

function leftOpen(first: Held | undefined, last: Held | undefined): readonly string[] {
  if (!first || !last) return ['nothing was measured'];
  const grown = Object.entries(last.resources).filter(([kind, count]) => count > (first.resourcesMost[kind] ?? 0));
  const faults = grown.map(([kind, count]) => `${kind}: ${count} open, ${first.resourcesMost[kind] ?? 0} at the start`);
  if (last.listeners > first.listeners) faults.push(`listeners: ${last.listeners}, ${first.listeners} at the start`);
  return faults;
}
