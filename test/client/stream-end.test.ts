import { describe, expect, test } from 'vitest';
import {
  FakeAgent,
  TASK_ID,
  bindings,
  eventText,
  eventually,
  openStream,
  sendAndCut,
  sendError,
  sendResult,
  sendStream,
  statusItem,
  taskIn,
} from './fake-agent.ts';

const unsupported = { jsonRpc: -32004, http: 400, reason: 'UNSUPPORTED_OPERATION' };

/** Where a stream ends, and what the client makes of each way to end. */
describe.each(bindings)('the end of a stream over %s:', (binding) => {
  test('one of a send ends where its own turn asks its user something, however the server ends it (AMB-01)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      const items = [
        [{ task: taskIn('TASK_STATE_WORKING') }, 1],
        [statusItem('TASK_STATE_INPUT_REQUIRED'), 2],
      ] as const;
      if (agent.asked.length === 1) sendStream(asked, response, items);
      else if (agent.asked.length === 2) sendAndCut(asked, response, items);
      else {
        openStream(response); // and stays open
        response.write(items.map(([item, seq]) => eventText(asked, item, seq)).join(''));
      }
    });
    const client = await agent.connect(binding);
    for (let round = 0; round < 3; round++) {
      const stream = client.stream('ask me');
      await stream.result();
      expect(stream.state).toBe('TASK_STATE_INPUT_REQUIRED');
    }
    expect(agent.operations).toEqual(['SendStreamingMessage', 'SendStreamingMessage', 'SendStreamingMessage']);
    await eventually(() => agent.open === 0);
  });

  test('one of a send that was cut finds its turn paused when it comes back', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      if (agent.asked.length === 1) sendAndCut(asked, response, [[{ task: taskIn('TASK_STATE_WORKING') }]]);
      else {
        openStream(response); // a server without ids, and one that stays open
        response.write(eventText(asked, { task: taskIn('TASK_STATE_INPUT_REQUIRED') }));
      }
    });
    const stream = (await agent.connect(binding)).stream('ask me');
    await stream.result();
    expect(stream.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  test('one of a send to a paused task does not take the state before the answer for the end (case 8)', async () => {
    await using agent = await FakeAgent.open((asked, response) => {
      sendStream(asked, response, [
        [{ task: taskIn('TASK_STATE_INPUT_REQUIRED') }],
        [statusItem('TASK_STATE_WORKING')],
        [statusItem('TASK_STATE_COMPLETED')],
      ]);
    });
    const stream = (await agent.connect(binding)).task(TASK_ID).stream('Ada');
    await stream.result();
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
  });

  test('one of a send takes a close after AUTH_REQUIRED for normal (AMB-01)', async () => {
    await using agent = await FakeAgent.open((asked, response) =>
      sendStream(asked, response, [[{ task: taskIn('TASK_STATE_AUTH_REQUIRED') }]]),
    );
    const stream = (await agent.connect(binding)).stream('sign in');
    await stream.result();
    expect(agent.asked).toHaveLength(1);
  });

  test('one of a task goes on over INPUT_REQUIRED to the end, also where servers close there, and ignores messages (AMB-01, AMB-44)', async () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'psst' }] } as const;
    await using agent = await FakeAgent.open((asked, response) => {
      const paused = [{ task: taskIn('TASK_STATE_INPUT_REQUIRED') }] as const;
      if (agent.asked.length < 4) sendStream(asked, response, [paused, [{ message }]]);
      else sendStream(asked, response, [paused, [statusItem('TASK_STATE_WORKING')], [statusItem('TASK_STATE_COMPLETED')]]);
    });
    const stream = (await agent.connect(binding)).task(TASK_ID).follow();
    const kinds: (string | undefined)[] = [];
    for await (const item of stream) kinds.push(Object.keys(item)[0]);
    expect(kinds).toEqual(['task', 'statusUpdate', 'statusUpdate']);
    expect(agent.asked).toHaveLength(4);
  });

  test('one whose end was missed gets the final state of the task and ends with it (SUB-03)', async () => {
    const final = taskIn('TASK_STATE_COMPLETED', { artifacts: [{ artifactId: 'out', parts: [{ text: 'done' }] }] });
    await using agent = await FakeAgent.open((asked, response) => {
      if (asked.operation === 'SendStreamingMessage') sendAndCut(asked, response, [[{ task: taskIn('TASK_STATE_WORKING') }, 1]]);
      else if (asked.operation === 'SubscribeToTask') sendError(asked, response, unsupported);
      else sendResult(asked, response, final);
    });
    const client = await agent.connect(binding);
    const stream = client.stream('work');
    expect(await stream.result()).toEqual(final);
    expect(agent.operations).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'GetTask']);
    expect(await client.task(TASK_ID).follow().result()).toEqual(final); // of a task that had ended before
  });
});
