import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { callers, ended, opened, stageOf, statesOf, taskIn, textsIn } from './support.ts';

const program = fileURLToPath(new URL('../../src/cli/start.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'chorus-start-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How a start went: the ready line, or the exit code and what was said on standard error. */
interface Start {
  readonly ready?: { readonly url: string };
  readonly code?: number | null;
  readonly said: readonly string[];
}

/** Somebody without rights of his own, if this process may become somebody else. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Starts a replica by its command line; `use` gets it while it runs. */
async function startOf(
  flags: readonly string[],
  {
    as = {},
    use,
  }: { readonly as?: { readonly uid?: number; readonly gid?: number }; readonly use?: (url: string) => Promise<unknown> } = {},
): Promise<Start> {
  const child = spawn(process.execPath, ['--import', 'tsx', program, '--agent', 'scripted', '--port', '0', ...flags, '--end-with-input'], {
    ...as,
    // tsx keeps what it has compiled under a folder of the user; Node 22 warns that its SQLite is new, which is nothing of ours
    env: { ...process.env, HOME: folder, TMPDIR: tmpdir(), NODE_NO_WARNINGS: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [out, errors] = ['', ''];
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const ready = new Promise<string>((resolve) => {
    child.stdout.on('data', (text: Buffer) => {
      out += text.toString();
      if (out.includes('\n')) resolve(out);
    });
  });
  const first = await Promise.race([ready, exited]);
  // what it says for a person; the lines of the logger are JSON
  const lines = (): readonly string[] => errors.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  if (typeof first !== 'string') return { code: first, said: lines() };
  try {
    const line = JSON.parse(first) as { readonly url: string }; // the contract of `npm start`
    await use?.(line.url);
    return { ready: line, said: lines() };
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

const send = async (url: string, text: string): Promise<{ readonly task?: { readonly status: { readonly state: string } } }> => {
  const body = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] } });
  const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' };
  return (await (await fetch(`${url}/rest/message:send`, { method: 'POST', headers, body })).json()) as object; // what it is, the tests look at
};

const completed = { task: { status: { state: 'TASK_STATE_COMPLETED' } } };

describe('a start', () => {
  test('on an empty file, and on none, makes the tables: the first request works (case 99)', async () => {
    const empty = join(folder, 'empty.db');
    writeFileSync(empty, '');
    for (const path of [empty, join(folder, 'none.db')]) {
      const { ready } = await startOf(['--store', path], { use: async (url) => expect(await send(url, 'done')).toMatchObject(completed) });
      expect(ready).toBeDefined();
      expect(readFileSync(path).length).toBeGreaterThan(0);
    }
  });

  test('with --migrate check on a file without tables says in one sentence what is missing, and makes none (case 99)', async () => {
    const path = join(folder, 'unchecked.db');
    writeFileSync(path, '');
    const refused = await startOf(['--store', path, '--migrate', 'check']);
    expect(refused).toMatchObject({ code: 1, said: [`The database ${path} has no tables yet: start once with migrate: 'auto'.`] });
    await startOf(['--store', path]);
    const { ready } = await startOf(['--store', path, '--migrate', 'check'], {
      use: async (url) => expect(await send(url, 'done')).toMatchObject(completed),
    });
    expect(ready).toBeDefined();
  });

  test.runIf('uid' in nobody)(
    'by a user who may not write says so in one sentence: the folder, the file, and a file in a folder of others (case 99)',
    async () => {
      const readOnly = join(folder, 'read-only.db');
      await startOf(['--store', readOnly], { use: (url) => send(url, 'done') });
      chmodSync(readOnly, 0o644);
      for (const path of [readOnly, join(folder, 'new.db')]) {
        const { code, said } = await startOf(['--store', path], { as: nobody });
        expect(code).toBe(1);
        expect(said, said.join('\n')).toHaveLength(1);
        expect(said[0]).toMatch(/^The database .*\.db (cannot be written|cannot be opened): .*(rights|read-only).*\.$/);
        expect(said[0]).not.toMatch(/SQLITE|Error|\bat \w/);
      }
      expect(existsSync(join(folder, 'new.db'))).toBe(false);
    },
  );

  test.runIf('uid' in nobody)('by a user who owns the folder works, whoever that is (case 99)', async () => {
    const own = mkdtempSync(join(folder, 'own-'));
    chownSync(own, 65_534, 65_534);
    const { ready } = await startOf(['--store', join(own, 'tasks.db')], {
      as: nobody,
      use: async (url) => expect(await send(url, 'done')).toMatchObject(completed),
    });
    expect(ready).toBeDefined();
  });

  test('with a wake for several processes and a store of one is refused in one sentence (case 36)', async () => {
    const agent = fileURLToPath(new URL('far-wake.ts', import.meta.url));
    const { code, said } = await startOf(['--agent', agent, '--store', 'memory']);
    expect([code, said.length], said.join('\n')).toEqual([1, 1]);
    expect(said[0]).toMatch(/^The wake "far" reaches other processes, but the store "memory" keeps tasks in this process only\./);
  });

  test('on what is no database says so in one sentence: a text, a folder, a place in no folder', async () => {
    writeFileSync(join(folder, 'text.db'), 'this is a text, and a text is no database at all\n'.repeat(100));
    const wrong = [
      ['text.db', 'not a SQLite database'],
      ['.', 'cannot be opened'],
      ['nowhere/tasks.db', 'There is no folder '],
    ] as const;
    const starts = await Promise.all(wrong.map(([name]) => startOf(['--store', join(folder, name)])));
    for (const [index, { code, said }] of starts.entries()) {
      expect([code, said.length], said.join('\n')).toEqual([1, 1]);
      expect(said[0]).toContain(wrong[index]?.[1]);
    }
  });
});

describe('a restart of all replicas', () => {
  const stage = stageOf();

  test.each(callers)(
    '$name: leaves paused tasks as they were: to subscribe to, to answer, to cancel (case 51, SUB-04, SUB-05, SUB-07)',
    async (raw) => {
      const who = stage.by(raw);
      const paused = await who.at(0).send('emit 2 0; ask who?');
      const other = await who.at(1).send('auth sign in');
      const done = await who.at(1).send('artifact a b; done');
      for (const index of [0, 1]) await stage.rig.kill(index);
      await Promise.all([0, 1].map((index) => stage.rig.restart(index)));
      expect(await who.at(0).get(paused.id)).toEqual(paused);
      expect(await who.at(1).get(done.id)).toEqual(done);
      const following = await Promise.all([0, 1].map((index) => opened(who.at(index).subscribe(paused.id))));
      await who.at(1).send('emit 1 0; done', { taskId: paused.id });
      const task = await ended(who.at(0), paused.id);
      expect(textsIn(task).join('')).toBe('1 2 1 ');
      for (const { all } of following) {
        const items = await all;
        expect(taskIn(items[0])).toEqual(paused);
        expect(statesOf(items).at(-1)).toBe('TASK_STATE_COMPLETED');
      }
      expect((await who.at(1).cancel(other.id)).status.state).toBe('TASK_STATE_CANCELED');
    },
  );
});
