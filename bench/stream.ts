import { request } from 'node:http';
import { performance } from 'node:perf_hooks';

/** One stream, read to its end: when each artifact chunk came, in ms since the request. */
export interface StreamTimes {
  readonly chunkMs: readonly number[];
  readonly totalMs: number;
}

/** One event of a stream, as far as the benches look at it. */
export interface StreamItem {
  readonly result?: {
    readonly artifactUpdate?: { readonly artifact: { readonly parts: readonly { readonly text?: string }[] } };
    readonly statusUpdate?: { readonly status: { readonly state: string } };
    readonly task?: unknown;
  };
  readonly error?: unknown;
}

function* dataLines(text: string): Generator<StreamItem> {
  for (const line of text.split('\n')) if (line.startsWith('data:')) yield JSON.parse(line.slice(5)) as StreamItem; // checked by the caller
}

/** Posts a streaming request and hands on its events until `take` says that it has seen enough. */
export function readEvents(url: string, body: string, take: (item: StreamItem) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', accept: 'text/event-stream' };
    const asking = request(url, { method: 'POST', headers, agent: false }, (response) => {
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        rest += text;
        const end = rest.lastIndexOf('\n\n');
        if (end < 0) return;
        try {
          for (const item of dataLines(rest.slice(0, end))) if (take(item)) resolve();
        } catch (error) {
          reject(error);
          response.destroy();
        }
        rest = rest.slice(end + 2);
      });
      response.on('end', () => reject(new Error('bench: the stream ended too early'))); // no news if all was seen
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

/** Posts a streaming request and reads its events until COMPLETED; each chunk must be its own event and carry exactly `chunk`. */
export async function readStream(url: string, body: string, chunk: string): Promise<StreamTimes> {
  const begin = performance.now();
  const chunkMs: number[] = [];
  await readEvents(url, body, (item) => {
    const { artifactUpdate, statusUpdate, task } = item.result ?? {};
    if (artifactUpdate) {
      const { parts } = artifactUpdate.artifact;
      if (parts.length !== 1 || parts[0]?.text !== chunk) throw new Error('bench: an event does not carry exactly one chunk');
      chunkMs.push(performance.now() - begin);
    } else if (!statusUpdate && !task) throw new Error(`bench: an unexpected event: ${JSON.stringify(item).slice(0, 500)}`);
    return statusUpdate?.status.state === 'TASK_STATE_COMPLETED';
  });
  return { chunkMs, totalMs: performance.now() - begin };
}
