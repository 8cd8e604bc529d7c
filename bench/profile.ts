import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const SHOWN = 40;
const IDLE = '(idle) :0';

/** Milliseconds by function: its own, and with all that it called. */
interface Costs {
  readonly own: ReadonlyMap<string, number>;
  readonly whole: ReadonlyMap<string, number>;
}

function placeOf({ callFrame }: ProfileNode): string {
  const { functionName, url, lineNumber } = callFrame;
  return `${functionName || '(anonymous)'} ${url.split('/').slice(-3).join('/')}:${lineNumber + 1}`;
}

function costsOf(profile: CpuProfile): Costs {
  const places = new Map(profile.nodes.map((node) => [node.id, placeOf(node)]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const own = new Map<string, number>();
  const whole = new Map<string, number>();
  const add = (costs: Map<string, number>, place: string, ms: number): void => void costs.set(place, (costs.get(place) ?? 0) + ms);
  for (const [index, sample] of profile.samples.entries()) {
    const ms = (profile.timeDeltas[index] ?? 0) / 1_000;
    add(own, places.get(sample) ?? '?', ms);
    const onStack = new Set<string>(); // a recursive function counts once
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) onStack.add(places.get(id) ?? '?');
    for (const place of onStack) add(whole, place, ms);
  }
  return { own, whole };
}

function print(title: string, costs: ReadonlyMap<string, number>, busyMs: number): void {
  console.log(title);
  const sorted = [...costs].toSorted(([, a], [, b]) => b - a).filter(([place]) => place !== IDLE);
  for (const [place, ms] of sorted.slice(0, SHOWN))
    console.log(`  ${ms.toFixed(0).padStart(7)} ms ${((100 * ms) / busyMs).toFixed(1).padStart(5)} %  ${place}`);
}

/** Prints the functions of a server's profile in which most time was spent. */
export function printHottest(folder: string): void {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'))) {
    const { own, whole } = costsOf(JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile); // V8 wrote it
    const busyMs = [...own].reduce((all, [place, ms]) => (place === IDLE ? all : all + ms), 0);
    print(`busy ${Math.round(busyMs)} ms; by own time:`, own, busyMs);
    print('with all that they called:', whole, busyMs);
  }
}
