import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { wireLimits } from '../../src/bindings/router.ts';
import { clientSettings } from '../../src/client/options.ts';
import { turnSettings } from '../../src/turn/options.ts';
import { readSources, root } from './sources.ts';
import type { Source } from './sources.ts';

const doc = readFileSync(join(root, 'docs/limits.md'), 'utf8');

/** What runs in somebody's service. Suites, labs and the demo live for one run. */
const sources = readSources('src').filter(({ path }) => !/^src\/(?:testing|cli)\//.test(path));

/** Rows of a table as their cells. */
const rows: readonly (readonly string[])[] = [...doc.matchAll(/^\| `.*\|$/gm)].map(([line]) =>
  line
    .slice(1, -1)
    .split(' | ')
    .map((cell) => cell.trim()),
);

/** A limit with its value, whatever bounds it: rows of five cells. */
const limits = new Map(
  rows.filter((cells) => cells.length === 5).map(([name = '', value = '', , , proof = '']) => [code(name), { value, proof }]),
);

function code(cell: string): string {
  return /`([^`]+)`/.exec(cell)?.[1] ?? '';
}

const units: Readonly<Record<string, number>> = { KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 };

/** `64 MiB`, `10,000`. */
function told(value: string): number {
  const [, digits = '', unit = ''] = /^([\d,]+)(?: (\w+))?$/.exec(value) ?? [];
  return Number(digits.replaceAll(',', '')) * (units[unit] ?? 1);
}

/** Constants that bound how much there is. Those that bound how long something takes end in MS_MAX and stand elsewhere. */
const CONSTANT = /^(?:export )?const ((?!\w*_MS_MAX\b)\w+_(?:MAX|LIMIT|KEPT)|REMEMBERED_MIN)\b(?:: number)? = ([^;]+);/gm;

const constants = sources.flatMap(({ code: text }) => [...text.matchAll(CONSTANT)].map(([, name = '', value = '']) => ({ name, value })));

/** Such a constant is a number, or a product of numbers. */
function valueOf(text: string): number {
  return text.split('*').reduce((product, factor) => product * Number(factor.trim().replaceAll('_', '')), 1);
}

/** Options that bound how much there is, with their defaults. */
const options: Readonly<Record<string, unknown>> = { ...wireLimits, ...turnSettings({}), ...clientSettings({}) };

/** Collections that outlive a call: fields of classes, and variables of modules that begin empty. What a WeakMap holds is held by others. */
const FIELD = /^\s+(?:readonly )?(#\w+)(?:: | = )/;
const COLLECTION = /\[\](?: \| undefined)?(?: = .*)?;$|^[^=]*: (?:Map|Set|ReadonlySet|Heap)<|= new (?:Map|Set|Heap)\b/;
const VARIABLE = /^const (\w+)(?:: [^=]*)? = new (?:Map|Set)\b.*\(\);$/;

function collectionsOf({ path, code: text }: Source): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const field = COLLECTION.test(line) ? FIELD.exec(line)?.[1] : undefined;
    const name = field ?? VARIABLE.exec(line)?.[1];
    return name === undefined ? [] : [`${path} ${name}`];
  });
}

describe('docs/limits.md', () => {
  test('tells every constant that bounds how much there is, with the value that the code has', () => {
    expect(constants.length).toBeGreaterThan(25);
    const said = Object.fromEntries(constants.map(({ name }) => [name, told(limits.get(name)?.value ?? '')]));
    expect(said).toEqual(Object.fromEntries(constants.map(({ name, value }) => [name, valueOf(value)])));
  });

  test('tells every option that bounds how much there is, with its default', () => {
    const names = [...Object.keys(options).filter((name) => name.endsWith('Max')), 'concurrency'];
    const said = Object.fromEntries(names.map((name) => [name, told(limits.get(name)?.value ?? '')]));
    expect(said).toEqual(Object.fromEntries(names.map((name) => [name, options[name]])));
  });

  test('names no limit that is not there, and for each the test that hits it', () => {
    const known = new Set([...constants.map(({ name }) => name), ...Object.keys(options)]);
    expect([...limits.keys()].filter((name) => !known.has(name))).toEqual([]);
    // that the test is there under that name, tidy.test.ts sees to
    const bare = [...limits].filter(([, { proof }]) => !/^`(?:test|src\/testing)\/[\w/.-]+\.ts` — "[^"]+"$/.test(proof));
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  test('says of every collection that outlives a call what bounds it, and of none that is not there', () => {
    const listed = rows
      .filter((cells) => cells.length === 3)
      .flatMap(([where = '']) => {
        const [path, ...names] = [...where.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
        return names.map((name) => `${path} ${name}`);
      });
    const found = sources.flatMap(collectionsOf);
    expect(found.filter((one) => !listed.includes(one))).toEqual([]);
    expect(listed.filter((one) => !found.includes(one))).toEqual([]);
  });
});
