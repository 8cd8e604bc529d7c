import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from './sources.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, unknown>; version: string }; // ours
const subpaths = Object.keys(manifest.exports).filter((subpath) => subpath !== './package.json');
const specifierOf = (subpath: string): string => `chorus-a2a${subpath.slice(1)}`;

/** Subpaths that must work where there is no Node: browsers, Deno, Workers. */
const anywhere = ['.', './client', './protocol'];

function run(file: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(file, args, { cwd, encoding: 'utf8', stdio: 'pipe', timeout: 120_000 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }; // what execFileSync throws carries both
    throw new Error(`${file} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

const bin = (name: string): string => join(root, 'node_modules', '.bin', name);
let folder = '';
let scratch = '';
let tarball = '';

function compile(name: string, files: Readonly<Record<string, string>>, options: Readonly<Record<string, unknown>>): string {
  const project = join(scratch, name);
  mkdirSync(project);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text);
  const strict = { strict: true, noEmit: true, skipLibCheck: false, target: 'es2022', ...options };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict, include: ['*.ts'] }));
  return run(bin('tsc'), ['-p', project], scratch);
}

const consumerOf = (subpath: string): string =>
  `import * as door from '${specifierOf(subpath)}';\nexport const names: string[] = Object.keys(door);\n`;
const consumers = (of: readonly string[]): Record<string, string> =>
  Object.fromEntries(of.map((subpath, index) => [`consumer-${index}.ts`, consumerOf(subpath)]));

const firstAgent = `import { createAgent } from 'chorus-a2a';
import { serve } from 'chorus-a2a/node';
import { connect } from 'chorus-a2a/client';
import { sqlite } from 'chorus-a2a/sqlite';

const greeter = createAgent({
  card: { name: 'Greeter', description: 'Greets people by name.', version: '1.0.0' },
  store: sqlite('tasks.db'),
  async run(turn) {
    if (!turn.text) return turn.ask('Who should I greet?');
    await turn.working('Choosing warm words…');
    return \`Hello, \${turn.text}!\`;
  },
});
const served = await serve(greeter, { port: 4000 });
const client = await connect(served.url);
await client.send('Ada');
await served.close();
`;

describe('the package as npm packs it', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'chorus-pack-'));
    scratch = join(folder, 'scratch');
    mkdirSync(scratch);
    run('npm', ['pack', '--silent', '--pack-destination', folder], root);
    tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? 'none');
    writeFileSync(join(scratch, 'package.json'), JSON.stringify({ name: 'scratch', private: true, type: 'module' }));
    run('npm', ['install', '--silent', '--prefer-offline', '--no-audit', '--no-fund', tarball], scratch);
    // the consumer's own @types/node, without asking the registry again
    mkdirSync(join(scratch, 'node_modules', '@types'), { recursive: true });
    symlinkSync(join(root, 'node_modules', '@types', 'node'), join(scratch, 'node_modules', '@types', 'node'));
    symlinkSync(join(root, 'node_modules', 'undici-types'), join(scratch, 'node_modules', 'undici-types'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('carries the build, the licence and the documents of a package, and nothing else', () => {
    const packed = run('tar', ['tzf', tarball], folder).split('\n').filter(Boolean);
    for (const file of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist/index.js', 'dist/index.d.ts'])
      expect(packed).toContain(`package/${file}`);
    expect(packed.filter((file) => !/^package\/(?:dist\/.*\.(?:js|d\.ts)|[A-Za-z]+\.(?:md|json)|LICENSE)$/.test(file))).toEqual([]);
  });

  test.each(subpaths)('%s is imported by a plain Node program, which then ends by itself', (subpath) => {
    const program = `const door = await import('${specifierOf(subpath)}'); console.log(JSON.stringify(Object.keys(door)));`;
    const names: unknown = JSON.parse(run(process.execPath, ['--input-type=module', '--eval', program], scratch));
    expect(names).toSatisfy((list: unknown) => Array.isArray(list) && list.length > 0);
  });

  test('no subpath needs a driver or a test framework to be imported', () => {
    const installed = readdirSync(join(scratch, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed.toSorted()).toEqual(['@noble', '@types', 'chorus-a2a', 'undici-types']);
  });

  test.each(anywhere)('%s reaches no module of Node, so it runs wherever there is fetch', (subpath) => {
    const dist = join(scratch, 'node_modules', 'chorus-a2a', 'dist');
    const seen = new Set<string>();
    const nodeModules: string[] = [];
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'"]*['"]([^'"]+)['"]/gm)) {
        if (target.startsWith('.')) visit(join(file, '..', target));
        else if (target.startsWith('node:')) nodeModules.push(`${file}: ${target}`);
      }
    };
    visit(join(dist, subpath === '.' ? 'index.js' : `${subpath.slice(2)}.js`));
    expect(nodeModules).toEqual([]);
  });

  test('strict consumers compile against every subpath (nodenext)', () => {
    const files = { ...consumers(subpaths), 'first.ts': firstAgent };
    compile('nodenext', files, {
      module: 'nodenext',
      types: ['node'],
      lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable', 'dom.asynciterable'],
    });
  });

  test('strict consumers compile against the subpaths for everywhere without the types of Node (bundler)', () => {
    const lib = ['es2023', 'esnext.disposable', 'dom', 'dom.iterable', 'dom.asynciterable'];
    compile('bundler', consumers(anywhere), { module: 'esnext', moduleResolution: 'bundler', types: [], lib });
  });

  test('a consumer with a wrong answer does not compile', () => {
    const wrong = firstAgent.replace("return turn.ask('Who should I greet?')", 'return turn.ask(42)');
    expect(() => compile('wrong', { 'wrong.ts': wrong }, { module: 'nodenext', types: ['node'] })).toThrow(/error TS/);
  });

  test('publint and are-the-types-wrong find nothing', () => {
    run(bin('publint'), ['run', tarball, '--strict'], folder);
    run(bin('attw'), [tarball, '--profile', 'esm-only'], folder);
  });
});
