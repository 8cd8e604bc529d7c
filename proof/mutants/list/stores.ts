import type { Mutation } from '../mutation.ts';
import { onMemory, onSqlite, suite } from '../mutation.ts';

/** Faults in how stores write and read. */
export const storeMutations: readonly Mutation[] = [
  {
    name: 'sweep-by-timestamp',
    does: 'a turn that has said nothing for ten seconds is taken from a living replica',
    breaks: ['P6', 'liveness'],
    file: 'src/stores/memory.ts',
    find: `const dead = [...this.#tasks.holders()].filter((holder) => isDead(this.#replicas.get(holder)));
    const orphans = dead.flatMap((holder) => [...this.#tasks.heldBy(holder)]).toSorted(byNumber);`,
    replace: `const holders = [...this.#tasks.holders()];
    const held = holders.flatMap((holder) => [...this.#tasks.heldBy(holder)]).toSorted(byNumber);
    const orphans = held.filter(({ row }) => isDead(this.#replicas.get(row.holder ?? '')) || row.statusAt + 10_000 < now);`,
    caughtBy: [
      suite('test/turn/lives.test.ts', 'a step of the wall clock kills nobody'),
      suite('test/turn/lives.test.ts', 'an outage kills nobody'),
    ],
  },
  {
    name: 'decided-before-the-lock',
    does: 'a write decides on a row that was read before its transaction began',
    breaks: ['P3', 'P4', 'lockedRow'],
    file: 'src/stores/sqlite.ts',
    find: `    return this.#write({
      entries,
      bytes,
      run: (session) => {
        const { result, change } = decide({ now: session.now, row: session.row(taskId) });`,
    replace: `    const row = readTask(this.#file.connection, { taskId, after: Number.MAX_SAFE_INTEGER })?.row;
    return this.#write({
      entries,
      bytes,
      run: (session) => {
        const { result, change } = decide({ now: session.now, row });`,
    caughtBy: [onSqlite('of a cancel and a last word at the same moment one wins'), suite('test/stores/sqlite.test.ts')],
  },
  {
    name: 'answered-without-commit',
    does: 'a verb is answered although its commit has failed',
    breaks: ['P2', 'P7'],
    file: 'src/stores/sqlite-connection.ts',
    find: `      const result = work();
      this.#database.exec('COMMIT');
      return result;`,
    replace: `      const result = work();
      try {
        this.#database.exec('COMMIT');
      } catch {
        this.#rollBack();
      }
      return result;`,
    caughtBy: [suite('test/stores/sqlite-faults.test.ts', 'under which a commit fails')],
  },
  {
    name: 'taken-not-written',
    does: 'what a turn took from its inbox waits again after a restart',
    breaks: ['P5', 'P9'],
    file: 'src/stores/sqlite-session.ts',
    find: `    before.waiting === after.waiting &&
    before.isInterrupted === after.isInterrupted`,
    replace: `    before.isInterrupted === after.isInterrupted`,
    caughtBy: [onSqlite('messages that a turn took no longer wait')],
  },
  {
    name: 'content-fails-the-group',
    does: 'one task that cannot be stored fails its neighbours',
    breaks: ['P7'],
    file: 'src/stores/group.ts',
    find: `judgement === 'content' && members.length > 1`,
    replace: `judgement === 'content' && members.length < 1`,
    caughtBy: [suite('test/stores/group.test.ts', 'is repeated member by member')],
  },
  {
    name: 'news-of-others-passed-over',
    does: 'what another process wrote just before an own commit is never hinted',
    breaks: ['P8'],
    file: 'src/stores/sqlite-feed.ts',
    find: `if (appended !== undefined && appended.first === this.#last + 1) this.#last = appended.last;`,
    replace: `if (appended !== undefined) this.#last = appended.last;`,
    caughtBy: [suite('test/stores/sqlite-feed.test.ts', 'misses nothing that came in between')],
  },
  {
    name: 'purged-while-owed',
    does: 'a task that waits for its user is removed',
    breaks: ['P5'],
    file: 'src/stores/sqlite-purge.ts',
    find: `WHERE is_terminal = 1 AND due_at <= ?`,
    replace: `WHERE due_at <= ?`,
    caughtBy: [onSqlite('a purge takes ended tasks past their retention and nothing else')],
  },
  {
    name: 'list-of-everybody',
    does: 'a list shows the tasks of all owners',
    breaks: ['P10'],
    file: 'src/stores/memory-tasks.ts',
    find: `const scopeName = ({ agent, tenant, owner }: Scope): string => JSON.stringify([agent, tenant, owner]);`,
    replace: `const scopeName = ({ agent, tenant }: Scope): string => JSON.stringify([agent, tenant]);`,
    caughtBy: [onMemory('a list shows the tasks of its scope and no others')],
  },
];
