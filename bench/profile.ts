import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const SHOWN = 40;

/** Prints the functions of a profile in which most time was spent, by their own time. */
export function printHottest(folder: string): void {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile; // V8 wrote it
    const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
    const selfMs = new Map<string, number>();
    for (const [index, id] of profile.samples.entries()) {
      const frame = nodes.get(id);
      if (!frame) continue;
      const place = `${frame.functionName || '(anonymous)'} ${frame.url.split('/').slice(-3).join('/')}:${frame.lineNumber + 1}`;
      selfMs.set(place, (selfMs.get(place) ?? 0) + (profile.timeDeltas[index] ?? 0) / 1_000);
    }
    const total = [...selfMs].filter(([place]) => !place.startsWith('(idle)')).reduce((all, [, ms]) => all + ms, 0);
    console.log(`busy ${Math.round(total)} ms, the hottest functions by own time:`);
    for (const [place, ms] of [...selfMs].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN))
      console.log(`  ${ms.toFixed(0).padStart(7)} ms ${((100 * ms) / total).toFixed(1).padStart(5)} %  ${place}`);
  }
}
