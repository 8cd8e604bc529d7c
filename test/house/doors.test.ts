import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSources, root } from './sources.ts';
import type { Source } from './sources.ts';

const sources = new Map(readSources('src').map((source) => [source.path, source]));
const doors = [...sources.values()].filter((source) => source.path.split('/').length === 2);
const subpathOf = (door: Source): string => (door.path === 'src/index.ts' ? '.' : `./${door.path.slice('src/'.length, -'.ts'.length)}`);

interface DoorExport {
  readonly door: string;
  readonly name: string;
  readonly file: string;
}

/** What a door hands on: `export { a, type B, c as d } from './room/file.ts'`. */
function exportsOf(door: Source): readonly DoorExport[] {
  return [...door.code.matchAll(/export (?:type )?\{([^}]*)\} from '\.\/([^']+)'/g)].flatMap(([, names = '', file = '']) =>
    names
      .split(',')
      .map(
        (name) =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0] ?? '',
      )
      .filter((name) => name !== '')
      .map((name) => ({ door: door.path, name, file: `src/${file}` })),
  );
}

/** True if a doc comment stands right above the declaration of that name. */
function isDocumented({ name, file }: DoorExport): boolean {
  const text = sources.get(file)?.text ?? '';
  const kinds = '(?:declare |abstract |async )*(?:function\\*?|class|const|interface|type)';
  const declaration = new RegExp(`\\*/\\s*\\nexport ${kinds} ${name.replaceAll('$', '\\$')}\\b`);
  // a file may hand on what another declares: the comment stands there
  return declaration.test(text) || new RegExp(`export (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from`).test(text);
}

describe('the doors', () => {
  test('each subpath of the manifest is one file of src, and each such file a subpath', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, unknown> }; // our own manifest
    const subpaths = Object.keys(manifest.exports).filter((subpath) => subpath !== './package.json');
    expect(doors.map(subpathOf).toSorted()).toEqual(subpaths.toSorted());
  });

  test('a door only hands on what rooms declare, by name', () => {
    for (const door of doors) {
      expect(exportsOf(door).length, door.path).toBeGreaterThan(0);
      expect(door.code.replace(/export (?:type )?\{[^}]*\} from '[^']+';/g, '').trim(), door.path).toBe('');
    }
  });

  test('everything a door hands on says in a comment what it is and when to use it', () => {
    const silent = doors.flatMap(exportsOf).filter((one) => !isDocumented(one));
    expect(silent.map(({ door, name, file }) => `${door}: ${name} of ${file}`)).toEqual([]);
  });
});
