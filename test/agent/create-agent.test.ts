import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAgent, invalidParams, memory, silentLogger } from '../../src/index.ts';
import type { Agent, AgentOptions, Logger, StoreSource, WakeSource } from '../../src/index.ts';
import { StoreError } from '../../src/log/store.ts';
import { connect } from '../../src/client/connect.ts';
import { taskOf, textOf } from './replicas.ts';

const card = { name: 'Greeter', description: 'Greets people by name.', version: '1.0.0' };

// the agent of the README, to the letter
const greeter = (more: Partial<AgentOptions> = {}): Agent =>
  createAgent({
    card: { name: 'Greeter', description: 'Greets people by name.', version: '1.0.0' },
    async run(turn) {
      if (!turn.text) return turn.ask('Who should I greet?');
      await turn.working('Choosing warm words…');
      return `Hello, ${turn.text}!`;
    },
    logger: silentLogger,
    ...more,
  });

afterEach(() => {
  vi.restoreAllMocks();
});

describe('createAgent', () => {
  test('the first agent greets, asks back, and greets whoever answers', async () => {
    const agent = greeter();
    const client = await connect(agent);
    const hello = taskOf(await client.send('Ada'));
    expect(hello.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(hello.artifacts?.[0]?.parts)).toBe('Hello, Ada!');
    const question = taskOf(await client.send(''));
    expect(question.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Who should I greet?' }] } });
    const answer = taskOf(await client.task(question.id).send('Grace'));
    expect([answer.id, textOf(answer.artifacts?.[0]?.parts)]).toEqual([question.id, 'Hello, Grace!']);
    await agent.close();
  });

  test('streams what it says, while it says it (STRM-06)', async () => {
    const agent = greeter();
    const states: string[] = [];
    for await (const item of (await connect(agent)).stream('Ada')) if ('statusUpdate' in item) states.push(item.statusUpdate.status.state);
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    await agent.close();
  });

  test('starts with its first request, is ready then, and no longer once it closes', async () => {
    const agent = greeter();
    expect([agent.isAlive, agent.isReady]).toEqual([false, false]);
    const client = await connect(agent); // fetches the card, which needs no store
    expect(agent.isAlive).toBe(false);
    await client.send('Ada');
    expect([agent.isAlive, agent.isReady]).toEqual([true, true]);
    const closing = agent.close();
    expect([agent.isAlive, agent.isReady]).toEqual([false, false]);
    await closing;
    await agent.close(); // twice is fine
    await expect(agent.start()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('closes without ever having started', async () => {
    const agent = greeter();
    await agent.close();
    expect(agent.isAlive).toBe(false);
  });

  test('completes its card; the interfaces are those of the mount, or of the public URL (CARD-04)', async () => {
    const agent = greeter();
    expect(agent.card).toMatchObject({ ...card, capabilities: { streaming: true }, supportedInterfaces: [] });
    const at = async (which: Agent, url: string): Promise<unknown> =>
      (await which.fetch(new Request(`${url}/.well-known/agent-card.json`))).json();
    expect(await at(agent, 'https://a.example')).toMatchObject({
      supportedInterfaces: [
        { url: 'https://a.example/', protocolBinding: 'JSONRPC' },
        { url: 'https://a.example/rest', protocolBinding: 'HTTP+JSON' },
      ],
    });
    const behind = greeter({ publicUrl: 'https://agents.example/greeter/' });
    expect(behind.card.supportedInterfaces.map(({ url }) => url)).toEqual([
      'https://agents.example/greeter/',
      'https://agents.example/greeter/rest',
    ]);
    expect(await at(behind, 'http://10.0.0.7:4000')).toEqual(behind.card);
  });

  test.each<[string, Partial<AgentOptions>]>([
    ['capabilities', { card: { ...card, capabilities: { pushNotifications: true } } }],
    ['name', { card: { ...card, name: '' } }],
    ['leaseMs', { leaseMs: 100, tickMs: 600 }],
    ['concurrency', { concurrency: -1 }],
    ['name', { name: 'x'.repeat(256) }],
  ])('refuses what cannot work and names it: %s', (name, options) => {
    expect(() => greeter(options)).toThrow(name);
  });

  test('refuses a wake that leaves the process beside a store that does not (case 36)', () => {
    const wake: WakeSource = {
      name: 'nats',
      reach: 'network',
      open() {
        throw new Error('it is never opened');
      },
    };
    expect(() => greeter({ wake })).toThrow(/"nats" reaches other processes.*"memory".*this process only/s);
    expect(() => greeter({ wake, store: memory() })).toThrow('this process only');
  });

  test('says once, when it starts, that memory is for this process only', async () => {
    const info = vi.fn<Logger['info']>();
    const agent = greeter({ logger: { ...silentLogger, info } });
    expect(info).not.toHaveBeenCalled(); // an agent may be made and never started
    await agent.start();
    await agent.start();
    const said = info.mock.calls.filter(([event]) => event === 'tasks are kept in this process only: nothing survives it');
    expect(said).toHaveLength(1);
    await agent.close();
  });

  test('writes JSON lines to standard error unless told otherwise, never payloads', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line));
    const agent = createAgent({
      card,
      run() {
        throw new Error('broken inside');
      },
    });
    const client = await connect(agent);
    await expect(client.send('a secret text')).rejects.toMatchObject({ code: 'INTERNAL' });
    await agent.close();
    const parsed = lines.map((line) => JSON.parse(line) as { at: string; level: string; event: string }); // what the test is about
    expect(parsed.length).toBeGreaterThan(1);
    for (const line of parsed)
      expect(line).toMatchObject({ at: expect.stringMatching(/^\d{4}-.*Z$/), level: expect.any(String), event: expect.any(String) });
    expect(lines.join('\n')).toContain('broken inside');
    expect(lines.join('\n')).not.toContain('a secret text');
  });

  test('an A2AError that the code throws is the answer of a blocking send (P7, case 69)', async () => {
    const agent = greeter({
      run: () => {
        throw invalidParams('message.parts[0]', 'a name was expected');
      },
    });
    const failure: unknown = await (await connect(agent)).send('x').catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'INVALID_PARAMS',
      violations: [{ field: 'message.parts[0]' }],
      metadata: { taskId: expect.any(String) },
    });
    await agent.close();
  });

  test('identify tells who calls: owners see their own tasks only, and run knows its caller (P10, case 28, case 29)', async () => {
    const agent = greeter({
      identify: (request) => {
        const name = /^Bearer (\w+)$/.exec(request.header('authorization') ?? '')?.[1];
        return name === undefined ? undefined : { name, claims: { plan: 'gold' } };
      },
      run: (turn) => ({ data: { name: turn.caller.name ?? null, plan: turn.caller.claims?.['plan'] ?? null } }),
    });
    const as = (name: string): Promise<Awaited<ReturnType<typeof connect>>> =>
      connect(agent, { headers: { authorization: `Bearer ${name}` } });
    const [ann, bob, nobody] = await Promise.all([as('Ann'), as('Bob'), connect(agent)]);
    const task = taskOf(await ann.send('who am I?'));
    expect(task.artifacts).toMatchObject([{ parts: [{ data: { name: 'Ann', plan: 'gold' } }] }]);
    await expect(bob.task(task.id).get()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(nobody.task(task.id).get()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect((await ann.page()).totalSize).toBe(1);
    expect((await bob.page()).totalSize).toBe(0);
    expect(taskOf(await nobody.send('and I?')).artifacts).toMatchObject([{ parts: [{ data: { name: null, plan: null } }] }]);
    await agent.close();
  });

  test('two agents on one store are two agents; one name is one agent', async () => {
    const store = memory();
    const one = greeter({ store });
    const other = greeter({ store, name: 'Other' });
    const replica = greeter({ store });
    const { id } = taskOf(await (await connect(one)).send('Ada'));
    await expect((await connect(other)).task(id).get()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect((await (await connect(replica)).task(id).get()).status.state).toBe('TASK_STATE_COMPLETED');
    await Promise.all([one, other, replica].map((agent) => agent.close()));
  });

  test('with concurrency 0 it only answers: another replica does the work', async () => {
    const store = memory();
    const front = greeter({ store, concurrency: 0 });
    const worker = greeter({ store });
    await worker.start();
    const task = taskOf(await (await connect(front)).send('Ada'));
    expect(textOf(task.artifacts?.[0]?.parts)).toBe('Hello, Ada!');
    await Promise.all([front.close(), worker.close()]);
  });

  test.each([
    ['unavailable', 'UNAVAILABLE'],
    ['misconfigured', 'INTERNAL'],
  ] as const)(
    'a start that fails (%s) is told as %s, the card is served all the same, and the next request tries again (case 99)',
    async (kind, code) => {
      let failures = 2;
      const inner = memory();
      const store: StoreSource = {
        ...inner,
        open(parts) {
          const opened = inner.open(parts);
          const start = async (): Promise<void> => {
            if (failures-- > 0) throw new StoreError(kind, 'no rights on /var/lib/tasks.db');
          };
          return { ...opened, store: Object.assign(opened.store, { start }) };
        },
      };
      const agent = greeter({ store });
      const client = await connect(agent, { retry: { tries: 0 } });
      const refused: unknown = await client.send('Ada').catch((error: unknown) => error);
      expect(refused).toMatchObject({ code });
      expect(String(refused)).not.toContain('/var/lib');
      await expect(agent.start()).rejects.toThrow('/var/lib/tasks.db'); // the program itself is told in full
      expect(agent.isReady).toBe(false);
      expect(taskOf(await client.send('Ada')).status.state).toBe('TASK_STATE_COMPLETED');
      await agent.close();
    },
  );
});
