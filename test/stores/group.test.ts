import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, StoreError } from '../../src/log/store.ts';
import type { Outcome, Work } from '../../src/stores/group.ts';
import { BUSY_MS_MAX, Group, WAITING_BYTES_MAX } from '../../src/stores/group.ts';

type Member = Work<string[], string>;

/** Writes its name into the session, as a verb writes its change. */
const member = (name: string, size: Partial<Member> = {}): Member => ({
  entries: 1,
  bytes: 1,
  ...size,
  run: (session) => {
    session.push(name);
    return name;
  },
});

/** A group over a list: what was committed, and in which groups. `trouble` may throw in place of a commit. */
function groupOver(trouble: (names: readonly string[]) => void = () => {}): {
  group: Group<string[]>;
  commits: string[][];
  readonly pass: (ms: number) => void;
} {
  const commits: string[][] = [];
  let offset = 0;
  const group = new Group<string[]>({
    clock: { ...systemClock, monotonic: () => systemClock.monotonic() + offset },
    random: systemRandom,
    commit: (members) => {
      const session: string[] = [];
      const outcomes = members.map((one): Outcome => ({ kind: 'done', result: one.run(session) }));
      trouble(session);
      commits.push(session);
      return outcomes;
    },
    judge: (error) => kinds.find((kind) => error instanceof Error && error.message === kind) ?? 'failed',
    toStoreError: (error) => new StoreError('unavailable', String(error)),
    isContended: () => false,
    busyMessage: 'locked',
  });
  return { group, commits, pass: (ms) => void (offset += ms) };
}

const kinds = ['busy', 'content'] as const;

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `m${index}`);

describe('a group commit', () => {
  test('takes together what waits, in its order, and gives each its own result', async () => {
    const { group, commits } = groupOver();
    const first = names(5).map((name) => group.add(member(name)));
    expect(await Promise.all(first)).toEqual(names(5));
    expect(await group.add(member('later'))).toBe('later');
    expect(commits).toEqual([names(5), ['later']]);
  });

  test('holds no more than a batch of entries or bytes; one that is larger alone goes alone', async () => {
    const { group, commits } = groupOver();
    const half = { entries: BATCH_ENTRIES_MAX / 2 };
    await Promise.all([
      ...names(3).map((name) => group.add(member(name, half))),
      group.add(member('large', { bytes: 2 * BATCH_BYTES_MAX })),
      group.add(member('small')),
    ]);
    expect(commits).toEqual([['m0', 'm1'], ['m2'], ['large'], ['small']]);
  });

  test('keeps the order of its members over a lock that others hold, also of those who come meanwhile', async () => {
    let tries = 0;
    const { group, commits } = groupOver(() => {
      tries += 1;
      if (tries <= 3) {
        late.push(group.add(member(`late${tries}`)));
        throw new Error('busy');
      }
    });
    const late: Promise<string>[] = [];
    await Promise.all(names(3).map((name) => group.add(member(name))));
    await Promise.all(late);
    expect(commits.flat()).toEqual([...names(3), 'late1', 'late2', 'late3']);
  });

  test('lets go of those who have waited too long for the lock, and of nobody else', async () => {
    let isLocked = true;
    const { group, commits, pass } = groupOver(() => {
      if (isLocked) throw new Error('busy');
    });
    const old = group.add(member('old')).catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    pass(BUSY_MS_MAX);
    const young = group.add(member('young'));
    expect(await old).toMatchObject({ kind: 'unavailable', message: 'locked', isUnknown: false });
    isLocked = false;
    expect(await young).toBe('young');
    expect(commits).toEqual([['young']]);
  });

  test('refuses bodies beyond what may wait while the lock is held, never what has none, and takes them again afterwards (P11)', async () => {
    let isLocked = true;
    const { group } = groupOver(() => {
      if (isLocked) throw new Error('busy');
    });
    const waiting = names(4).map((name) => group.add(member(name, { bytes: WAITING_BYTES_MAX / 4 })));
    for (let round = 0; round < 3; round++) {
      await expect(group.add(member('more', { bytes: 10 }))).rejects.toMatchObject({ kind: 'unavailable', isUnknown: false });
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve))); // a try that met the lock: they wait as before
    }
    const small = group.add(member('tick', { bytes: 0 }));
    isLocked = false;
    expect(await Promise.all([...waiting, small])).toEqual([...names(4), 'tick']);
    expect(await group.add(member('huge', { bytes: 2 * WAITING_BYTES_MAX }))).toBe('huge'); // alone it is taken, however large
  });

  test('is repeated member by member when its content is refused: only the culprit fails', async () => {
    const { group, commits } = groupOver((session) => {
      if (session.includes('m2')) throw new Error('content');
    });
    const results = await Promise.allSettled(names(4).map((name) => group.add(member(name))));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(commits).toEqual([['m0'], ['m1'], ['m3']]);
  });

  test('fails whole when nobody’s content is at fault, and goes on with the next', async () => {
    let isBroken = true;
    const { group } = groupOver(() => {
      if (isBroken) throw new Error('disk');
    });
    const results = await Promise.allSettled(names(3).map((name) => group.add(member(name))));
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StoreError', kind: 'unavailable' } });
    isBroken = false;
    expect(await group.add(member('next'))).toBe('next');
  });

  test('is still when it has stopped: what was added is settled, what comes later is refused', async () => {
    const { group, commits } = groupOver();
    const added = group.add(member('added'));
    await group.stop();
    expect(commits).toEqual([['added']]);
    expect(await added).toBe('added');
    await expect(group.add(member('late'))).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
