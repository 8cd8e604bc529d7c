import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { rules } from './rules.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const law = readFileSync(new URL('../../docs/log.md', import.meta.url), 'utf8');
const tests = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts') && name !== 'rules.test.ts')
  .map((name) => readFileSync(`${folder}/${name}`, 'utf8'))
  .join('\n');

/** Each of these tests shows both: `expectNeeded` explores with all rules first, then without this one. */
const proofs = [...tests.matchAll(/test\('⚖ ([a-z-]+): ([\s\S]*?)\n {2}\}\);/g)].map(([, name = '', body = '']) => ({ name, body }));

describe('every rule that a counterexample made', () => {
  test('is shown to hold, and shown to be needed, under its name', () => {
    expect(
      rules
        .filter(({ name }) => !proofs.some((proof) => proof.name === name && proof.body.includes('expectNeeded(')))
        .map(({ name }) => name),
    ).toEqual([]);
    expect(proofs.filter(({ name }) => !rules.some((rule) => rule.name === name)).map(({ name }) => name)).toEqual([]);
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  });

  test('stands in docs/log.md, and its counterexample with it', () => {
    const sections = new Map(law.split(/^\*\*(?=L\d+\.)/m).map((section) => [section.split('.', 1)[0] ?? '', section]));
    expect(
      rules
        .filter(({ name, law: number }) => !sections.get(number)?.includes(`"⚖ ${name}:`))
        .map(({ name, law: number }) => `${number} ${name}`),
    ).toEqual([]);
  });
});
