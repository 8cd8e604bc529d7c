import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesUnder, readSources, root } from './sources.ts';

interface Snippet {
  readonly from: string;
  readonly code: string;
}

const FENCE = /^[ \t]*```ts\n([\s\S]*?)^[ \t]*```/gm;

/** The ```ts blocks of a document. */
function ofDocument(path: string): readonly Snippet[] {
  return [...readFileSync(join(root, path), 'utf8').matchAll(FENCE)].map(([, code = ''], index) => ({
    from: `${path} #${index + 1}`,
    code,
  }));
}

/** The ```ts blocks of doc comments (`@example`). */
function ofComments(path: string, text: string): readonly Snippet[] {
  const comments = [...text.matchAll(/^[ \t]*\/\*\*[\s\S]*?\*\//gm)].map(([comment]) => comment.replace(/^[ \t]*\* ?/gm, ''));
  return comments.flatMap((comment) =>
    [...comment.matchAll(FENCE)].map(([, code = ''], index) => ({ from: `${path} @example #${index + 1}`, code })),
  );
}

const documents = ['README.md', 'CONTRIBUTING.md', ...filesUnder('docs', '.md')];
const snippets = [...documents.flatMap(ofDocument), ...readSources('src').flatMap(({ path, text }) => ofComments(path, text))];

describe('the code in documents and comments', () => {
  test('compiles, every block of it, as a program of its own', () => {
    expect(snippets.length).toBeGreaterThan(3);
    const folder = join(root, '.cache', 'snippets');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const names = snippets.map(({ from, code }, index) => {
      writeFileSync(join(folder, `snippet-${index}.ts`), `${code}\nexport {};\n`);
      return `snippet-${index}.ts is ${from}`;
    });
    const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, isolatedDeclarations: false, declaration: false };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] }));
    let wrong = '';
    try {
      execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', folder, '--pretty', 'false'], {
        cwd: root,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    } catch (error) {
      wrong = `${(error as { stdout?: string }).stdout ?? String(error)}\n${names.join('\n')}`; // what execFileSync throws carries it
    }
    expect(wrong).toBe('');
  });
});
