import assert from 'node:assert/strict';
import type { ListAsk, TaskRow } from '../../log/store.ts';
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX } from '../../log/store.ts';
import type { SuiteCase } from '../suite-runner.ts';
import type { StoreBench } from './bench.ts';
import { chunk, limits, scope, status } from './bench.ts';

const newestFirst = (rows: readonly TaskRow[]): readonly string[] =>
  rows.toSorted((one, other) => other.statusAt - one.statusAt || (one.id < other.id ? 1 : -1)).map(({ id }) => id);

/** Walks all pages. `between` happens after each page. */
async function pages(
  bench: StoreBench,
  ask: Omit<ListAsk, 'after'>,
  between?: (page: readonly TaskRow[]) => Promise<void>,
): Promise<readonly TaskRow[]> {
  const rows: TaskRow[] = [];
  for (let page = await bench.a.list(ask); page.rows.length > 0;) {
    rows.push(...page.rows);
    await between?.(page.rows);
    const last = page.rows.at(-1);
    page = await bench.a.list({ ...ask, ...(last === undefined ? {} : { after: last }) });
  }
  return rows;
}

/** What a store gives to read, lists and forgets. */
export const readCases: readonly SuiteCase<StoreBench>[] = [
  {
    name: 'a read gives the row and what is above the cursor, as of one moment, to its owner alone (P10, GET-02)',
    async run(bench) {
      const row = await bench.append(await bench.working(), [chunk('a'), chunk('b')]);
      const found = await bench.b.read({ taskId: row.id, after: 2, scope });
      assert.deepEqual([found?.row, found?.rows.map(({ seq }) => seq)], [row, [3, 4]]);
      assert.deepEqual((await bench.b.read({ taskId: row.id, after: 4 }))?.rows, []);
      assert.deepEqual((await bench.b.read({ taskId: row.id, after: 99 }))?.rows, []);
      for (const foreign of [{ agent: 'other' }, { tenant: 'other' }, { owner: 'other' }])
        assert.equal(await bench.b.read({ taskId: row.id, after: 0, scope: { ...scope, ...foreign } }), undefined);
      assert.equal(await bench.b.read({ taskId: 'unknown', after: 0 }), undefined);
    },
  },
  {
    name: 'what one replica has been answered, every other one reads (AMB-39, case 34)',
    async run(bench) {
      let row = await bench.working();
      for (let count = 0; count < 20; count += 1) {
        row = await bench.append(row, [chunk(String(count))]);
        assert.deepEqual((await bench.b.read({ taskId: row.id, after: row.seq - 1 }))?.row, row);
      }
    },
  },
  {
    name: 'a clock that steps back takes no time back: what comes later is never older (AMB-40)',
    async run(bench) {
      const { id, statusAt } = await bench.working();
      bench.pass(-60_000);
      const asked = await bench.append(await bench.row(id), [chunk('a'), status('TASK_STATE_INPUT_REQUIRED')]);
      assert.ok(asked.statusAt >= statusAt);
      const { row } = await bench.accept({ taskId: id, canStart: false });
      assert.ok(row.statusAt >= statusAt && (row.queuedAt ?? 0) >= statusAt);
      for (const { at } of await bench.log(id)) assert.ok(at >= statusAt);
    },
  },
  {
    name: 'no read carries more than a batch, and the next one goes on where it ended',
    async run(bench) {
      const { id } = await bench.append(
        await bench.working(),
        Array.from({ length: 300 }, (_, index) => chunk(String(index))),
      );
      const first = await bench.b.read({ taskId: id, after: 0 });
      assert.equal(first?.rows.length, BATCH_ENTRIES_MAX);
      const next = await bench.b.read({ taskId: id, after: BATCH_ENTRIES_MAX });
      assert.deepEqual([next?.rows[0]?.seq, next?.rows.length], [BATCH_ENTRIES_MAX + 1, 302 - BATCH_ENTRIES_MAX]);
      const large = await bench.working();
      await bench.append(
        large,
        Array.from({ length: 5 }, () => chunk('x'.repeat(BATCH_BYTES_MAX / 3))),
      );
      assert.deepEqual(
        (await bench.b.read({ taskId: large.id, after: 0 }))?.rows.map(({ seq }) => seq),
        [1, 2, 3, 4],
      );
    },
  },
  {
    name: 'entries of many tasks come in the order they were asked for, with bounds and kinds, and say who is gone',
    async run(bench) {
      const one = await bench.append(await bench.working(), [chunk('a'), status('TASK_STATE_WORKING'), chunk('b')]);
      const two = await bench.working();
      const wants = [
        { taskId: two.id, after: 0 },
        { taskId: 'unknown', after: 0 },
        { taskId: one.id, after: 1, upTo: 4 },
        { taskId: two.id, after: 2 },
      ];
      const all = { entriesMax: 100, bytesMax: 100_000 };
      const seqs = (await bench.b.entries({ wants, ...all })).map(({ taskId, rows, isGone }) => [
        taskId,
        rows.map(({ seq }) => seq),
        isGone,
      ]);
      assert.deepEqual(seqs, [
        [two.id, [1, 2], false],
        ['unknown', [], true],
        [one.id, [2, 3, 4], false],
        [two.id, [], false],
      ]);
      const [answer] = await bench.b.entries({ wants: [{ taskId: one.id, after: 0 }], kinds: ['message', 'status'], ...all });
      assert.deepEqual(
        answer?.rows.map(({ seq }) => seq),
        [1, 2, 4],
      );
      const [none] = await bench.b.entries({ wants: [{ taskId: one.id, after: 0, upTo: 0 }], ...all });
      assert.deepEqual(none?.rows, []);
    },
  },
  {
    name: 'a limit cuts the answers at their end, never to nothing, and an empty answer always means that there is nothing',
    async run(bench) {
      const rows = await Promise.all(Array.from({ length: 3 }, () => bench.working()));
      for (const row of rows) await bench.append(row, [chunk('x'.repeat(1_000)), chunk('y'.repeat(1_000))]);
      const wants = rows.map(({ id }) => ({ taskId: id, after: 0 }));
      for (const limit of [
        { entriesMax: 1, bytesMax: 1 },
        { entriesMax: 5, bytesMax: 100_000 },
        { entriesMax: 100, bytesMax: 2_500 },
        { entriesMax: 4, bytesMax: 100_000 },
      ]) {
        const cursors = new Map(wants.map(({ taskId, after }) => [taskId, after]));
        for (let round = 0; [...cursors.values()].some((seq) => seq < 4); round += 1) {
          assert.ok(round < 20, 'every read makes progress');
          const open = [...cursors].filter(([, after]) => after < 4).map(([taskId, after]) => ({ taskId, after }));
          const answers = await bench.b.entries({ wants: open, ...limit });
          assert.deepEqual(
            answers.map(({ taskId }) => taskId),
            open.slice(0, answers.length).map(({ taskId }) => taskId),
          );
          assert.ok(answers.length > 0 && answers.every((answer) => answer.rows.length > 0));
          for (const { taskId, rows: got } of answers) cursors.set(taskId, got.at(-1)?.seq ?? 0);
        }
      }
    },
  },
  {
    name: 'a list is newest status first, then by id, and its pages neither skip nor repeat, equal times or not (LIST-03, AMB-11, case 59)',
    async run(bench) {
      const rows: TaskRow[] = [];
      for (let count = 0; count < 12; count += 1) {
        rows.push(await bench.working());
        if (count % 4 === 3) bench.pass(1); // four of the same millisecond
      }
      for (const limit of [1, 3, 5, 50]) {
        const listed = await pages(bench, { scope, limit });
        assert.deepEqual(
          listed.map(({ id }) => id),
          newestFirst(rows),
        );
      }
      assert.equal((await bench.a.list({ scope, limit: 2 })).total, 12);
    },
  },
  {
    name: 'a task that changes between two pages disturbs no other: each of them is listed exactly once',
    async run(bench) {
      const rows = await Promise.all(Array.from({ length: 9 }, () => bench.working()));
      const still = new Set(rows.slice(0, 6).map(({ id }) => id));
      const moving = rows.slice(6);
      const listed = await pages(bench, { scope, limit: 2 }, async () => {
        bench.pass(1);
        const row = moving.pop();
        if (row !== undefined) await bench.append(row, [status('TASK_STATE_WORKING')]);
      });
      const ids = listed.map(({ id }) => id).filter((id) => still.has(id));
      assert.deepEqual(ids.toSorted(), [...still].toSorted());
    },
  },
  {
    name: 'filters go by equality and the time bound is inclusive; the total counts what matches before paging (LIST-11, LIST-12, LIST-15, case 58)',
    async run(bench) {
      const one = await bench.ended('TASK_STATE_COMPLETED', { contextId: 'one' });
      bench.pass(5);
      const two = await bench.working({ contextId: 'one' });
      bench.pass(5);
      const three = await bench.working({ contextId: 'two' });
      const ids = async (filter: Partial<ListAsk>): Promise<unknown> => {
        const { rows, total } = await bench.b.list({ scope, limit: 1, ...filter });
        const all = await pages(bench, { scope, limit: 1, ...filter });
        assert.equal(rows.length, Math.min(1, total));
        assert.equal(all.length, total);
        return all.map(({ id }) => id);
      };
      assert.deepEqual(await ids({ contextId: 'one' }), newestFirst([two, one]));
      assert.deepEqual(await ids({ state: 'TASK_STATE_WORKING' }), newestFirst([three, two]));
      assert.deepEqual(await ids({ contextId: 'one', state: 'TASK_STATE_WORKING' }), [two.id]);
      assert.deepEqual(await ids({ statusAtMin: two.statusAt }), newestFirst([three, two]));
      assert.deepEqual(await ids({ statusAtMin: three.statusAt + 1 }), []);
      assert.deepEqual(await ids({ contextId: 'three' }), []);
    },
  },
  {
    name: 'a list shows the tasks of its scope and no others (LIST-01, LIST-13, case 26)',
    async run(bench) {
      const mine = await bench.working();
      const scopes = [{ agent: 'other' }, { tenant: 'other' }, { owner: 'other' }, { owner: '' }].map((foreign) => ({
        ...scope,
        ...foreign,
      }));
      const theirs = await Promise.all(scopes.map((foreign) => bench.working({ scope: foreign })));
      for (const [index, one] of [scope, ...scopes].entries()) {
        const { rows, total } = await bench.b.list({ scope: one, limit: 10 });
        assert.deepEqual([rows.map(({ id }) => id), total], [[[mine, ...theirs][index]?.id], 1]);
      }
      assert.deepEqual(await bench.b.list({ scope: { ...scope, owner: 'nobody' }, limit: 10 }), { rows: [], total: 0 });
    },
  },
  {
    name: 'a purge takes ended tasks past their retention and nothing else, whole; their keys start anew (AMB-36)',
    async run(bench) {
      const short = { limits: { ...limits, retentionMs: 20 } };
      const ask = bench.ask(short);
      const { row } = await bench.accept(ask);
      await bench.append(row, [...Array.from({ length: 200 }, () => chunk('a')), status('TASK_STATE_COMPLETED')]);
      const kept = [
        await bench.working(short),
        await bench.queued(short),
        await bench.ended('TASK_STATE_INPUT_REQUIRED', short),
        await bench.ended('TASK_STATE_FAILED'),
        // past their time as well, but those are the sweep's: their users are owed an end
        await bench.ended('TASK_STATE_INPUT_REQUIRED', { limits: { ...limits, pausedTtlMs: 20 } }),
        await bench.queued({ limits: { ...limits, queueMs: 20 } }),
      ];
      bench.pass(20);
      const ids = await bench.until('the retention to end', async () => {
        const purged = await bench.a.purge({ limit: 10 });
        return purged.length > 0 ? purged : undefined;
      });
      assert.deepEqual(ids, [row.id]);
      for (const { id } of kept) assert.ok((await bench.log(id)).length > 0);
      assert.equal(await bench.b.read({ taskId: row.id, after: 0 }), undefined);
      const [answer] = await bench.b.entries({ wants: [{ taskId: row.id, after: 0 }], entriesMax: 10, bytesMax: 1_000 });
      assert.deepEqual(answer, { taskId: row.id, rows: [], isGone: true });
      assert.deepEqual((await bench.a.tick(bench.tickAsk({ watched: [{ taskId: row.id, seq: 1 }] }))).gone, [row.id]);
      const anew = await bench.b.accept({ ...ask, digest: 'other' });
      assert.ok(anew.kind === 'accepted' && !anew.isRepeat);
      assert.deepEqual(await bench.words(row.id), ['message', 'WORKING'], 'nothing of the old log shows in the new one');
    },
  },
  {
    name: 'a purge takes no more than it is asked to',
    async run(bench) {
      for (let count = 0; count < 5; count += 1) await bench.ended('TASK_STATE_COMPLETED', { limits: { ...limits, retentionMs: 1 } });
      bench.pass(1);
      const ids = new Set<string>();
      await bench.until('all five to be purged', async () => {
        const purged = await bench.a.purge({ limit: 2 });
        assert.ok(purged.length <= 2);
        for (const id of purged) ids.add(id);
        return ids.size === 5 ? true : undefined;
      });
      assert.deepEqual(await bench.b.list({ scope, limit: 10 }), { rows: [], total: 0 });
    },
  },
];
