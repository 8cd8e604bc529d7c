import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mutation } from './mutation.ts';
import { plant } from './mutation.ts';

/** What a run of the proofs needs of the repository. */
const isNeeded = (name: string): boolean =>
  ['src', 'test', 'proof', 'examples', 'scripts', 'package.json', 'vitest.config.ts'].includes(name) || /^tsconfig.*\.json$/.test(name);

/** A copy of the repository in a folder of its own: faults are planted there and never in the tree that people work in. */
export class Tree implements Disposable {
  readonly path: string;

  constructor(root: string) {
    this.path = mkdtempSync(join(tmpdir(), 'chorus-mutants-'));
    for (const name of readdirSync(root).filter(isNeeded)) cpSync(join(root, name), join(this.path, name), { recursive: true });
    linkPackages(join(root, 'node_modules'), join(this.path, 'node_modules'));
  }

  /** Runs something while the fault is in the tree; the tree is whole again afterwards, whatever happens. */
  async with<T>(mutation: Mutation, run: () => Promise<T>): Promise<T> {
    const path = join(this.path, mutation.file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, plant(mutation, text));
    try {
      return await run();
    } finally {
      writeFileSync(path, text);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Package by package and not the folder as a whole: tools keep caches beside the packages, and two trees must not share those. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    const isCache = name.startsWith('.') && name !== '.bin';
    if (!isCache) symlinkSync(join(from, name), join(to, name));
  }
}
