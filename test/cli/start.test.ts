import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Probe } from '../../src/testing/probe.ts';
import { ReplicaProcess } from '../../src/testing/replica-process.ts';
import { dataOf, ended, partsOf } from '../replicas/support.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'chorus-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs the command line to its end; for those that do not get as far as serving. */
function run(...args: readonly string[]): Promise<Run> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/start.ts', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (piece) => (output += String(piece)));
  child.stderr.on('data', (piece) => (errors += String(piece)));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output, errors })));
}

describe('npm start', () => {
  test.each([
    ['an unknown flag', ['--colour', 'red'], /--colour/],
    ['a number that is none', ['--lease-ms', 'soon'], /--lease-ms: a number was expected, soon came/],
    ['an option of another kind', ['--on-lost', 'cry'], /--on-lost: fail or retry or ask was expected, cry came/],
    ['a store that is not there yet', ['--store', 'postgres://x/y'], /--store: .* postgres:\/\/ is not there yet/],
    ['a fault that is none', ['--fault', 'fire'], /--fault: .* fire came/],
    ['an agent that is none', ['--agent', 'nobody.ts'], /--agent: .*nobody\.ts/],
    ['a word too many', ['agent.ts'], /agent\.ts/],
  ])('says in one line what is wrong with %s and ends with 2', async (_what, args, says) => {
    const { code, output, errors } = await run(...args);
    expect(code).toBe(2);
    expect(output).toBe('');
    expect(errors.trimEnd().split('\n')).toHaveLength(1);
    expect(errors).toMatch(says);
  });

  test('says in one line what keeps it from starting and ends with 1', async () => {
    const missing = await run('--store', join(folder, 'none.db'), '--migrate', 'check', '--port', '0');
    expect(missing).toMatchObject({ code: 1, output: '' });
    expect(missing.errors).toMatch(/none\.db/);
    writeFileSync(join(folder, 'text.db'), 'this is no database, and long enough to be read as the header of one by whoever looks at it');
    expect(await run('--store', join(folder, 'text.db'), '--port', '0')).toMatchObject({ code: 1, output: '' });
    const lease = await run('--lease-ms', '100', '--tick-ms', '50');
    expect(lease).toMatchObject({ code: 1, output: '' });
    expect(lease.errors).toMatch(/leaseMs/);
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address ? String(address.port) : '';
    const busy = await run('--port', port);
    taken.close();
    expect(busy).toMatchObject({ code: 1, output: '' });
    expect(busy.errors).toMatch(/EADDRINUSE/);
  });

  test('shows its flags on --help, on standard error', async () => {
    const { code, output, errors } = await run('--help');
    expect(code).toBe(0);
    expect(output).toBe('');
    for (const flag of ['--agent', '--store', '--fault', '--lease-ms', '--while-working', '--task-entries-max'])
      expect(errors).toContain(flag);
  });

  test('serves the first agent by default, in memory, and ends with 0 on SIGTERM', async () => {
    const replica = await ReplicaProcess.start('A', ['--port', '0']);
    const probe = new Probe({ url: replica.url });
    expect((await probe.card()).name).toBe('Greeter');
    expect(partsOf(await probe.sendForTask('Ada'))).toEqual(['Hello, Ada!']);
    expect(replica.errors.join('\n')).toContain('this process only');
    replica.signal('SIGTERM');
    expect(await replica.ended()).toEqual({ code: 0, signal: undefined });
  });

  test('makes the tables of an empty file at start, and answers the first request (case 99)', async () => {
    const store = join(folder, 'empty.db');
    const replica = await ReplicaProcess.start('A', [
      '--port',
      '0',
      '--agent',
      'scripted',
      '--store',
      store,
      '--effects',
      join(folder, 'e.jsonl'),
    ]);
    const probe = new Probe({ url: replica.url, caller: 'Ada' });
    const task = await probe.sendForTask('whoami; done');
    expect(dataOf(task, 'caller')).toEqual({ name: 'Ada', tenant: null, replica: replica.ready.replica, attempt: 1 });
    await replica.destroy();
    const effects = readFileSync(join(folder, 'e.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    const line = { pid: replica.pid, task: task.id, turn: `${task.id}.1`, attempt: 1, at: expect.any(Number) };
    expect(effects).toEqual([
      { ...line, what: 'start' },
      { ...line, what: 'end' },
    ]);
    const checked = await ReplicaProcess.start('A', ['--port', '0', '--agent', 'scripted', '--store', store, '--migrate', 'check']);
    expect((await ended(new Probe({ url: checked.url, caller: 'Ada' }), task.id)).status.state).toBe('TASK_STATE_COMPLETED');
    await checked.destroy();
  });

  test('serves the agent of a file under the options of its flags', async () => {
    const replica = await ReplicaProcess.start('A', [
      '--port',
      '0',
      '--agent',
      'examples/two-turns.ts',
      '--public-url',
      'https://agents.example/waiter',
    ]);
    const card = await new Probe({ url: replica.url }).card();
    expect(card.supportedInterfaces.map(({ url }) => url)).toEqual([
      'https://agents.example/waiter/',
      'https://agents.example/waiter/rest',
    ]);
    expect(replica.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/); // where it listens, whatever the card says
    await replica.destroy();
  });
});
