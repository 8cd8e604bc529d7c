import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import type { ViteUserConfig } from 'vitest/config';

// suites that start OS processes: one at a time, so that two cores do not make their deadlines lie
const processes = [
  'test/*/processes/**/*.test.ts',
  'test/{cases,cli,examples,interop,peers,replicas}/**/*.test.ts',
  'test/client/{process,sdk-server}.test.ts',
  'test/mounts/drain.test.ts',
];
// suites that run npm, the compiler or the packaging judges
const packaging = ['test/house/packaging.test.ts', 'test/house/snippets.test.ts', 'test/bench/**/*.test.ts'];

// examples and snippets import the package by its name, as its users do: here that is the source
const source = (door: string): string => fileURLToPath(new URL(`./src/${door}.ts`, import.meta.url));
const alias = [
  { find: /^chorus-a2a$/, replacement: source('index') },
  { find: /^chorus-a2a\/([a-z]+)$/, replacement: source('$1') },
];

const config: ViteUserConfig = defineConfig({
  resolve: { alias },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...processes, ...packaging],
          // when to give up on a test that hangs, on a machine that has ten other things to do
          testTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: processes,
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'packaging',
          include: packaging,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

export default config;
