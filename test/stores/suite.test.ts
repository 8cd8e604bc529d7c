import { describe, expect, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import type { Store, StoreSource } from '../../src/log/store.ts';
import { StoreBench } from '../../src/testing/store-suite/bench.ts';
import { storeCases, storeSuite } from '../../src/testing/store-suite.ts';

/** A memory source whose stores do some verbs in another way. */
function broken(change: (store: Store) => Partial<Store>): StoreSource {
  const source = memory();
  return {
    ...source,
    open(parts) {
      const { store, wake } = source.open(parts);
      const changed = change(store);
      const verb = (target: Store, name: string | symbol): unknown => {
        const found: unknown = Reflect.get(name in changed ? changed : target, name);
        return typeof found === 'function' ? found.bind(name in changed ? changed : target) : found;
      };
      return { store: new Proxy(store, { get: verb }), wake };
    },
  };
}

/** The cases that fail for this source. */
async function failures(open: () => StoreSource): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const one of storeCases) {
    const bench = await StoreBench.open(open());
    let isFailed = true;
    try {
      await one.run(bench);
      isFailed = false;
    } catch {
      failed.push(one.name); // that it fails is what is asked for
    }
    await bench.close({ isFailed }).catch(() => failed.push(one.name));
  }
  return failed;
}

let number = 0;
const faults: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  'forgets its keys': (store) => ({ accept: (ask) => store.accept({ ...ask, key: `${ask.key}-${(number += 1)}` }) }),
  'applies what it has applied': (store) => ({
    append: async (ask) => {
      const found = await store.read({ taskId: ask.taskId, after: 0 });
      return store.append({ ...ask, from: (found?.row.ordinal ?? 0) + 1 });
    },
  }),
  'lets any fence write': (store) => ({
    append: async (ask) => {
      const found = await store.read({ taskId: ask.taskId, after: 0 });
      return store.append({ ...ask, fence: found?.row.fence ?? ask.fence });
    },
  }),
  'says canceled and stores nothing': (store) => ({
    cancel: async (ask) => {
      const found = await store.read({ taskId: ask.taskId, after: 0, scope: ask.scope });
      return found === undefined
        ? { kind: 'absent' }
        : { kind: 'canceled', isRepeat: false, row: { ...found.row, state: 'TASK_STATE_CANCELED' } };
    },
  }),
  'shows tasks to strangers': (store) => ({
    read: (ask) => {
      const { scope: _scope, ...rest } = ask;
      return store.read(rest);
    },
  }),
  'kills the living': (store) => ({
    tick: async (ask) => {
      const { beats } = await store.tick({ ...ask, own: 'look', suspects: [] });
      return store.tick({
        ...ask,
        suspects: ask.suspects.map(({ replica }) => beats.find((one) => one.replica === replica) ?? { replica, beat: 0 }),
      });
    },
  }),
  'lists by offset': (store) => ({
    list: async (ask) => {
      const { rows, total } = await store.list(ask);
      return { rows: ask.after === undefined ? rows : rows.slice(1), total };
    },
  }),
  'leaves out what does not fit': (store) => ({
    entries: async (ask) => (await store.entries(ask)).map((answer) => ({ ...answer, rows: answer.rows.slice(0, 2) })),
  }),
};

describe('the store suite', () => {
  test('passes a store that is right', async () => {
    expect(await failures(memory)).toEqual([]);
  });

  for (const [name, change] of Object.entries(faults))
    test(`fails a store that ${name}`, async () => {
      expect(await failures(() => broken(change))).not.toEqual([]);
    });

  test('takes the runner it is given, and says what it needs where there is none', () => {
    const names: string[] = [];
    storeSuite('mine', memory, { describe: (name, body) => (names.push(name), body()), test: (name) => void names.push(name) });
    expect(names).toEqual(['mine keeps the log', ...storeCases.map(({ name }) => name)]);
    expect(() => storeSuite('mine', memory)).toThrow(/pass \{ describe, test \}/);
  });
});
