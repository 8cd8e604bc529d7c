import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cycles, neighboursOf, offences, roomOf, roomsWithNode } from './floors.ts';
import { importsOf, placesOf, readSources, root, withoutComments } from './sources.ts';
import type { Source } from './sources.ts';

const sources = readSources('src');

const made = (path: string, text: string): Source => ({ path, text, code: withoutComments(text) });

describe('the floors', () => {
  test('imports go downward only, types too, and never to a neighbour or a door', () => {
    expect(sources.length).toBeGreaterThan(10);
    expect(offences(sources)).toEqual([]);
  });

  test('no file imports itself, however long the way', () => {
    expect(cycles(sources)).toEqual([]);
  });

  test('every relative import names a file that is there', () => {
    const lost = sources.flatMap((source) => neighboursOf(source).filter((path) => !existsSync(join(root, path))));
    expect(lost).toEqual([]);
  });

  test('only rooms that may talk to the machine import node:', () => {
    const bad = sources.filter((source) => {
      const room = roomOf(source.path);
      return !(room !== undefined && roomsWithNode.has(room)) && importsOf(source).some((target) => target.startsWith('node:'));
    });
    expect(bad.map((source) => source.path)).toEqual([]);
  });

  test('every package that src imports is a dependency or an optional peer, never a development dependency', () => {
    const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const { dependencies = {}, peerDependencies = {} } = manifest as Record<string, Record<string, string>>; // it is our own manifest
    const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
    const nameOf = (target: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target;
    const bad = sources.flatMap((source) =>
      importsOf(source)
        .filter((target) => !target.startsWith('.') && !target.startsWith('node:') && !known.has(nameOf(target)))
        .map((target) => `${source.path} → ${target}`),
    );
    expect(bad).toEqual([]);
  });

  test('time and chance come from ground alone, so that a lab can own them', () => {
    const clockOrChance =
      /\b(?:Date\.now|performance\.now|Math\.random|crypto\.randomUUID|setTimeout|setInterval)\s*\(|new Date\(\s*\)|AbortSignal\.timeout/;
    const bad = sources.filter((source) => roomOf(source.path) !== 'ground').flatMap((source) => placesOf(source, clockOrChance));
    expect(bad).toEqual([]);
  });
});

describe('the floors test itself', () => {
  test('tells an upward, a sideways and a door import, in types and in import()', () => {
    const bad = [
      made('src/log/fold.ts', "import type { Turn } from '../turn/turn.ts';"),
      made('src/wire/sse.ts', "export { fold } from '../log/fold.ts';"),
      made('src/turn/turn.ts', "const door = await import('../index.ts');"),
      made('src/turn/run.ts', "import { x } from '../../test/x.ts';"),
    ];
    expect(offences(bad)).toHaveLength(4);
    expect(offences([made('src/turn/turn.ts', "import { fold } from '../log/fold.ts'; // from '../cli/x.ts'")])).toEqual([]);
  });

  test('tells a circle of three files', () => {
    const circle = ['a', 'b', 'c'].map((name, index) => made(`src/log/${name}.ts`, `import './${['b', 'c', 'a'][index]}.ts';`));
    expect(cycles(circle)).toEqual(['src/log/a.ts → src/log/b.ts → src/log/c.ts → src/log/a.ts']);
  });
});
