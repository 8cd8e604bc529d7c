import { join, normalize } from 'node:path';
import { importsOf } from './sources.ts';
import type { Source } from './sources.ts';

/** The floor of each room (style.md, docs/architecture.md). */
export const floors: Readonly<Record<string, number>> = {
  ground: 0,
  protocol: 1,
  log: 2,
  wire: 2,
  stores: 3,
  wakes: 3,
  turn: 3,
  outbox: 3,
  client: 3,
  operations: 4,
  inspect: 4,
  bindings: 5,
  agent: 6,
  mounts: 7,
  testing: 7,
  console: 7,
  cli: 8,
};

/** Rooms that may talk to the machine; the others run wherever there is fetch. */
export const roomsWithNode: ReadonlySet<string> = new Set(['stores', 'wakes', 'outbox', 'mounts', 'testing', 'console', 'cli']);

/** The room a file of src/ stands in; undefined for a door (src/*.ts). */
export function roomOf(path: string): string | undefined {
  const parts = path.split('/');
  return parts[0] === 'src' && parts.length > 2 ? parts[1] : undefined;
}

/** The files, from the root, that a file imports by a relative path. */
export function neighboursOf(source: Source): readonly string[] {
  return importsOf(source)
    .filter((target) => target.startsWith('.'))
    .map((target) => normalize(join(source.path, '..', target)));
}

function offence(from: string, to: string): string | undefined {
  const [fromRoom, toRoom] = [roomOf(from), roomOf(to)];
  if (!to.startsWith('src/')) return `${from} → ${to}: leaves src`;
  if (fromRoom === undefined || fromRoom === toRoom) return undefined; // doors may look anywhere, a room into itself
  if (toRoom === undefined) return `${from} → ${to}: a room imports a door`;
  const [above, below] = [floors[fromRoom], floors[toRoom]];
  if (above === undefined || below === undefined) return `${from} → ${to}: unknown room`;
  return below < above ? undefined : `${from} → ${to}: floor ${above} imports floor ${below}`;
}

/** All imports that do not go downward. */
export function offences(sources: readonly Source[]): readonly string[] {
  return sources.flatMap((source) => neighboursOf(source).flatMap((to) => offence(source.path, to) ?? []));
}

/** All circles of imports, each told once as the path that closes it. */
export function cycles(sources: readonly Source[]): readonly string[] {
  const edges = new Map(sources.map((source) => [source.path, neighboursOf(source)]));
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (done.has(path) || trail.includes(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return found;
}
