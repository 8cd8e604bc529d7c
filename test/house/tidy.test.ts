import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesUnder, placesOf, readSources, root } from './sources.ts';
import type { Source } from './sources.ts';

const src = readSources('src');
const all = [...src, ...readSources('test', 'examples', 'bench', 'scripts', 'proof')].filter(
  (source) => source.path !== 'test/house/tidy.test.ts',
);

const LINES_MAX = 400;

/** Files that may be longer, each with its reason. */
const longFiles: Readonly<Record<string, string>> = {};

/** Names that end so say nothing. AuthenticationInfo is the protocol's own word. */
const EMPTY_NAME =
  /\bexport (?:abstract |async )?(?:class|function\*?|const|interface|type) (?:I[A-Z][a-z]\w*|Default\w*|\w*(?:Manager|Handler|Helper|Helpers|Util|Utils|Common|(?<!Authentication)Info|Base|Impl))\b/;

const docs = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesUnder('docs', '.md')];
const readDoc = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('the code is tidy', () => {
  test('nothing is left to do, switched off or hidden from the compiler', () => {
    const leftover = /\b(?:TODO|FIXME|XXX|HACK)\b|@ts-(?:ignore|nocheck)|\bdebugger\b/;
    expect(all.flatMap((source) => placesOf(source, leftover, source.text))).toEqual([]);
    const shortcut = /\b(?:test|it|describe|suite)\.only\b|\bas any\b|:\s*any\b|<any>|^\s*(?:export )?(?:const )?enum \w/;
    expect(all.flatMap((source) => placesOf(source, shortcut))).toEqual([]);
  });

  test('no file is longer than 400 lines unless it is listed with its reason', () => {
    const long = all.filter((source) => source.text.split('\n').length > LINES_MAX + 1 && longFiles[source.path] === undefined);
    expect(long.map((source) => `${source.path}: ${source.text.split('\n').length} lines`)).toEqual([]);
  });

  test('no exported name says nothing', () => {
    expect(src.flatMap((source) => placesOf(source, EMPTY_NAME))).toEqual([]);
  });

  test('every `as` says in a comment why it is true: right above, on its line, or at the end of its statement', () => {
    const isAssertion = (line: string): boolean =>
      /\bas (?!const\b)[A-Za-z{(]/.test(line.replace(/'[^']*'|"[^"]*"|`[^`]*`/g, '')) && !/^\s*(?:import|export)\b/.test(line);
    const muteLines = ({ path, text, code }: Source): readonly string[] => {
      const lines = text.split('\n');
      return code.split('\n').flatMap((line, index) => {
        if (!isAssertion(line)) return [];
        const indent = line.search(/\S/);
        const end = lines.findIndex((later, at) => at >= index && later.search(/\S/) <= indent && /;(?:\s*\/\/.*)?$/.test(later));
        const isSaid = [index - 1, index, end].some((at) => /\/\/|\*\/\s*$/.test(lines[at] ?? ''));
        return isSaid ? [] : [`${path}:${index + 1}`];
      });
    };
    expect(src.flatMap(muteLines)).toEqual([]);
  });

  test('files are kebab-case nouns', () => {
    expect(all.map((source) => source.path).filter((path) => !/^[a-z0-9/-]+(?:\.(?:test|suite))?\.ts$/.test(path))).toEqual([]);
  });

  test('no default exports and no `export *`', () => {
    expect(src.flatMap((source) => placesOf(source, /^export (?:default\b|\*)/))).toEqual([]);
  });
});

describe('the documents are true', () => {
  test('every relative link leads to a file', () => {
    const lost = docs.flatMap((path) =>
      [...readDoc(path).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map((match) => match[1] ?? '')
        .filter((target) => !existsSync(join(root, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    );
    expect(lost).toEqual([]);
  });

  // a proof is written so: `test/room/file.test.ts` — "the test's name"; cases of an importable suite stand in src/testing
  test('every test that a document names as proof is there under that name', () => {
    const named = docs.flatMap((path) =>
      [...readDoc(path).matchAll(/`((?:test|src\/testing)\/[\w/.-]+\.ts)`(?: — "([^"]+)")?/g)].map((match) => ({
        path,
        file: match[1] ?? '',
        name: match[2],
      })),
    );
    const textOf = (file: string): string => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');
    const lost = named.filter(
      ({ file, name }) =>
        textOf(file) === '' ||
        !textOf(file)
          .replaceAll("\\'", "'")
          .includes(name ?? ''),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(lost.map(({ path, file, name }) => `${path}: ${file} — ${name ?? ''}`)).toEqual([]);
  });

  test('each promise P1 to P11 names at least one test, and P12 is said to be missing', () => {
    const sections = readDoc('docs/promises.md').split(/^## /m).slice(1);
    for (let number = 1; number <= 11; number++) {
      const section = sections.find((text) => text.startsWith(`P${number} `));
      expect(section, `P${number}`).toMatch(/`(?:test|src\/testing)\/[\w/.-]+\.ts` — "/);
    }
    expect(sections.find((text) => text.startsWith('P12 '))).toMatch(/not there yet/i);
  });

  test('the change log knows the version of the manifest', () => {
    const { version } = JSON.parse(readDoc('package.json')) as { version: string }; // it is our own manifest
    expect(readDoc('CHANGELOG.md')).toContain(`## ${version}`);
  });

  test('the licence is the full text of Apache 2.0', () => {
    const text = readDoc('LICENSE');
    expect(text).toContain('Version 2.0, January 2004');
    expect(text.length).toBeGreaterThan(10_000);
  });

  test('every example is mentioned in a document', () => {
    const text = docs.map(readDoc).join('\n');
    const examples = existsSync(join(root, 'examples')) ? readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.ts')) : [];
    expect(examples.filter((name) => !text.includes(`examples/${name}`))).toEqual([]);
  });
});
