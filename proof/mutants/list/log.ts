import type { Mutation } from '../mutation.ts';
import { lab, suite } from '../mutation.ts';

const reads = 'test/log/reads.test.ts';

/** Faults in how the log is read and how its hints go round. */
export const logMutations: readonly Mutation[] = [
  {
    name: 'hint-cleared-after-the-read',
    does: 'a hint that comes during a read is lost',
    breaks: ['P8', 'latch'],
    file: 'src/log/follow.ts',
    find: `        this.#hint.clear(this.#after); // before the read: a wake during it is kept
        const batch = await tail.read(this.#taskId, this.#after); // shared with the replica's other followers`,
    replace: `        const batch = await tail.read(this.#taskId, this.#after);
        this.#hint?.clear(this.#after);`,
    caughtBy: [suite(reads, 'a hint that comes during the read is not lost')],
  },
  {
    name: 'latch-after-the-first-read',
    does: 'a hint that comes during the first read meets nobody',
    breaks: ['P8', 'latch'],
    file: 'src/log/follow.ts',
    find: `        this.#hint ??= latches.open(this.#taskId); // registered before the first read
        this.#hint.clear(this.#after); // before the read: a wake during it is kept
        const batch = await tail.read(this.#taskId, this.#after); // shared with the replica's other followers`,
    replace: `        this.#hint?.clear(this.#after);
        const batch = await tail.read(this.#taskId, this.#after);
        this.#hint ??= latches.open(this.#taskId);`,
    caughtBy: [suite(reads, 'a hint that comes during the read is not lost'), suite(reads)],
  },
  {
    name: 'follower-skips-one',
    does: 'a follower goes on one entry too far',
    breaks: ['P1'],
    file: 'src/log/follow.ts',
    find: `    this.#after = last.seq;
    if (isSettled(last))`,
    replace: `    this.#after = last.seq + 1;
    if (isSettled(last))`,
    caughtBy: [suite(reads, 'a follower sees every entry once'), suite('test/operations/streams.test.ts'), lab],
  },
  {
    name: 'recent-entries-with-a-hole',
    does: 'a reader gets what is in memory although it does not reach down to its cursor',
    breaks: ['P1'],
    file: 'src/log/tail.ts',
    find: `|| !last || after + 1 < first.seq || after >= last.seq) return undefined;
    const from = after + 1 - first.seq;`,
    replace: `|| !last || after >= last.seq) return undefined;
    const from = Math.max(0, after + 1 - first.seq);`,
    caughtBy: [suite(reads, 'what is kept answers nobody whose cursor it does not reach down to')],
  },
  {
    name: 'recent-entries-without-bound',
    does: 'a replica keeps every entry that it has read',
    breaks: ['P11'],
    file: 'src/log/tail.ts',
    find: `if (this.#bytes > this.#bytesMax) this.#shrink();`,
    replace: ``,
    caughtBy: [suite(reads, 'what was just read is kept, and memory is bounded')],
  },
  {
    name: 'fold-not-bounded-by-seq',
    does: 'an answer shows what was committed after it',
    breaks: ['P2'],
    file: 'src/log/folds.ts',
    find: `return fold && fold.seq <= seq ? fold : undefined;`,
    replace: `return fold;`,
    caughtBy: [suite(reads, 'a fold is exactly as of the seq that was asked for')],
  },
  {
    name: 'fold-reads-too-far',
    does: 'an answer shows what was committed after it, when it comes in the same read',
    breaks: ['P2'],
    file: 'src/log/folds.ts',
    find: `if (entry.seq === fold.seq + 1 && entry.seq <= seq) fold.apply(entry);`,
    replace: `if (entry.seq === fold.seq + 1) fold.apply(entry);`,
    caughtBy: [suite(reads, 'a fold takes nothing from beyond its seq')],
  },
  {
    name: 'folds-without-bound',
    does: 'a replica keeps the fold of every task that it has shown',
    breaks: ['P11'],
    file: 'src/log/folds.ts',
    find: `if (this.#bytes > this.#bytesMax) this.#shrink();`,
    replace: ``,
    caughtBy: [suite(reads, 'the cache of folds is bounded')],
  },
  {
    name: 'wake-before-commit',
    does: 'the hint of a cancel goes out before there is anything to see',
    breaks: ['P2', 'P8', 'wake'],
    file: 'src/log/task-log.ts',
    find: `const result = await this.#store.cancel(ask);`,
    replace: `this.#emit([
      { kind: 'grew', taskId: ask.taskId, seq: Number.MAX_SAFE_INTEGER },
      { kind: 'moved', taskId: ask.taskId },
    ]);
    const result = await this.#store.cancel(ask);
    if (ask.taskId !== '') return result;`,
    caughtBy: [suite('test/log/hints.test.ts', 'when its commit is known and not before')],
  },
  {
    name: 'words-hinted-before-commit',
    does: 'the hint of what an agent says goes out before it can be read',
    breaks: ['P2', 'wake'],
    file: 'src/log/task-log.ts',
    find: `const result = await this.#store.append(ask);`,
    replace: `this.#emit([{ kind: 'grew', taskId: ask.taskId, seq: Number.MAX_SAFE_INTEGER }]);
    const result = await this.#store.append(ask);
    if (ask.taskId !== '') return result;`,
    caughtBy: [suite('test/log/hints.test.ts', 'when its commit is known and not before'), lab],
  },
  {
    name: 'cancel-hints-growth-only',
    does: 'the replica that runs a canceled turn hears of it at its next tick',
    breaks: ['P8'],
    file: 'src/log/task-log.ts',
    find: `if (result.kind === 'canceled' && !result.isRepeat) this.#tell(result.row, 'moved');`,
    replace: `if (result.kind === 'canceled' && !result.isRepeat) this.#tell(result.row, 'grew');`,
    caughtBy: [suite('test/turn/signals.test.ts', 'by the hint and not by a poll')],
  },
];
