import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** A file of ours: its path from the root, its text, and its text without comments (line numbers kept). */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly code: string;
}

// literals first, so that `'http://…'` is not read as a comment
const LITERAL_OR_COMMENT = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/.*/g;

/** Blanks out comments and keeps line breaks. */
export function withoutComments(text: string): string {
  return text.replace(LITERAL_OR_COMMENT, (found) => (found.startsWith('/') ? found.replace(/[^\n]/g, ' ') : found));
}

function* walk(folder: string): Generator<string> {
  for (const name of readdirSync(folder).toSorted()) {
    const path = join(folder, name);
    if (name === 'node_modules' || name.startsWith('.')) continue;
    if (statSync(path).isDirectory()) yield* walk(path);
    else yield path;
  }
}

/** The paths, from the root, of all files under a folder whose names end so. */
export function filesUnder(folder: string, ending: string): readonly string[] {
  try {
    return [...walk(join(root, folder))].filter((path) => path.endsWith(ending)).map((path) => relative(root, path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []; // no such folder: no files
    throw error;
  }
}

/** Reads all TypeScript files under these folders. */
export function readSources(...folders: readonly string[]): readonly Source[] {
  return folders
    .flatMap((folder) => filesUnder(folder, '.ts'))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, code: withoutComments(text) };
    });
}

const IMPORT = /\b(?:from|import)(?:\s+|\s*\(\s*)['"]([^'"\n]+)['"]/g;

/** What a file imports or exports from, types included, as written. */
export function importsOf(source: Source): readonly string[] {
  return [...source.code.matchAll(IMPORT)].map((match) => match[1] ?? '');
}

/** All places where a pattern stands in the code of a file, as `path:line`. */
export function placesOf(source: Source, pattern: RegExp, text: string = source.code): readonly string[] {
  const places: string[] = [];
  for (const [index, line] of text.split('\n').entries())
    if (pattern.test(line)) places.push(`${source.path}:${index + 1}: ${line.trim()}`);
  return places;
}
