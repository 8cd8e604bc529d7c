import { expect, test } from 'vitest';
import type { StreamResponse } from '../../src/client.ts';
import { connect } from '../../src/client.ts';
import { cardAt, chunkItem, quick, statusItem, taskIn } from './fake-agent.ts';

const log: readonly (readonly [StreamResponse, number])[] = [
  [{ task: taskIn('TASK_STATE_SUBMITTED') }, 1],
  [statusItem('TASK_STATE_WORKING'), 2],
  [chunkItem('zwölf ', false), 3],
  [chunkItem('🦊🦊'), 4],
  [statusItem('TASK_STATE_COMPLETED'), 6],
];

/** What a replica streams behind a cursor. */
function tailOf(after: number): Uint8Array {
  const events = log.filter(([, seq]) => seq > after).map(([item, seq]) => `id: ${seq}\ndata: ${JSON.stringify(item)}\n\n`);
  return new TextEncoder().encode(events.join(''));
}

/** The first so many bytes, and then a clean end or a broken one. */
function partOf(bytes: Uint8Array, length: number, isClean: boolean): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (length > 0) controller.enqueue(bytes.slice(0, length));
      if (isClean) controller.close();
    },
    pull: (controller) => controller.error(new Error('cut')),
  });
}

const lengths = Array.from({ length: tailOf(0).length }, (_, index) => index).filter((index) => index % 3 === 0);

test.each([true, false])(
  'a stream cut at any byte goes on without gap or repeat, the end of the cut one being clean: %s (P1, case 20)',
  async (isClean) => {
    for (const length of lengths) {
      const keys = new Set<string | null>();
      let connections = 0;
      const fetch = ({ url, headers }: Request): Response => {
        if (url.endsWith('.json')) return Response.json(cardAt('http://agent.example'));
        connections += 1;
        if (url.endsWith('/message:stream')) keys.add(headers.get('idempotency-key'));
        const bytes = tailOf(Number(headers.get('last-event-id') ?? 0));
        const body = connections === 1 ? partOf(bytes, length, isClean) : partOf(bytes, bytes.length, true);
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      };
      const client = await connect('http://agent.example', { fetch, prefer: 'HTTP+JSON', retry: quick, reconnect: quick });
      const stream = client.stream('count');
      const items: StreamResponse[] = [];
      for await (const item of stream) items.push(item);
      expect(items, `cut after ${length} bytes`).toEqual(log.map(([item]) => item));
      expect(keys.size).toBe(1);
      expect(connections).toBe(2);
    }
  },
);
