import { VIOLATIONS_MAX } from '../protocol/limits.ts';

/**
 * What a reader found wrong, with the path as far as it is known. Paths are put together on the way out (`within`), so that a good message
 * pays nothing for them.
 */
export interface Violations {
  readonly list: { field: string; readonly description: string }[];
  /** All of them, also those beyond the list's limit. */
  count: number;
}

/** Adds one violation of the value that is being read, and stands for "no value". */
export function refuse(found: Violations, description: string): undefined {
  found.count += 1;
  if (found.list.length < VIOLATIONS_MAX) found.list.push({ field: '', description });
}

/** Puts the name of a member or the index of an element before the paths of the violations from number `from` on. */
export function within(found: Violations, from: number, step: string | number): void {
  for (let i = from; i < found.list.length; i++) {
    const violation = found.list[i];
    if (violation) violation.field = join(step, violation.field);
  }
}

const plainName = /^[A-Za-z_$][\w$-]{0,63}$/;
const stepLengthMax = 64;
const pathLengthMax = 256;

function join(step: string | number, path: string): string {
  const isPlain = typeof step === 'string' && plainName.test(step);
  const head = isPlain ? step : typeof step === 'number' ? `[${step}]` : `[${JSON.stringify(step.slice(0, stepLengthMax))}]`;
  // a path of many long names would make the answer longer than the request; its beginning is what helps
  if (path.length > pathLengthMax) return `${head}…`;
  return path === '' || path.startsWith('[') ? head + path : `${head}.${path}`;
}
