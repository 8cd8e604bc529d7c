import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';

/** The machine in words that matter for the figures: nothing that names it. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const model = cpu?.model.trim() || 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores (${model}, ${arch()}), ${memory} GB, ${platform()} ${kernel()}, Node ${process.versions.node}`;
}

/** Version of the kernel, without what a vendor has appended. */
function kernel(): string {
  return /^\d+(?:\.\d+)*/.exec(release())?.[0] ?? '';
}

/** Processor time that a process has used since its start, in milliseconds: user and system, all threads, as Linux counts it. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // a name may hold blanks; the third field comes first here
  return ((Number(afterName[11]) + Number(afterName[12])) * 1_000) / TICKS_PER_SECOND;
}

/** USER_HZ: 100 on every Linux there is. */
const TICKS_PER_SECOND = 100;

/** Memory of a process that is resident and not shared with files, in bytes: heap, buffers, stacks; not the program itself. */
export function privateBytes(pid: number): number {
  const anonymous = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(anonymous) * 1_024;
}
