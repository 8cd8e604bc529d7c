import { describe, expect, test } from 'vitest';
import type { Json, Struct } from '../../src/protocol/types.ts';
import type { OperationName } from '../../src/wire/operations.ts';
import { wellFormed } from '../bindings/callers.ts';
import type { RawCaller, Wanted } from '../bindings/callers.ts';
import { seeded } from '../../proof/chance.ts';
import { mutated } from './fuzz.ts';
import type { Dice } from './fuzz.ts';
import { callers, rounds, stageOf } from './support.ts';

const failures: string[] = [];
const stage = stageOf({ onLine: (_replica, line) => void (line['level'] === 'error' && failures.push(JSON.stringify(line))) });

const wholeSend: Wanted = {
  message: {
    messageId: 'm-1',
    role: 'ROLE_USER',
    contextId: 'c',
    parts: [
      { text: 'done', metadata: { a: 1 }, filename: 'f', mediaType: 'text/plain' },
      { data: { a: [1, { b: null }] } },
      { raw: 'AAEC' },
      { url: 'https://x' },
    ],
    metadata: { x: 1 },
    extensions: ['urn:x'],
    referenceTaskIds: ['t'],
  },
  configuration: { acceptedOutputModes: ['text/plain'], historyLength: 3, returnImmediately: true },
  metadata: { y: [1] },
};

/** Requests that name everything there is to get wrong. */
const forms: Readonly<Record<OperationName, Wanted>> = {
  ...wellFormed,
  SendMessage: wholeSend,
  SendStreamingMessage: wholeSend,
  GetTask: { id: 't', historyLength: 1 },
  ListTasks: {
    contextId: 'c',
    status: 'TASK_STATE_WORKING',
    pageSize: 10,
    pageToken: 'x',
    historyLength: 1,
    statusTimestampAfter: '2026-01-01T00:00:00Z',
    includeArtifacts: true,
  },
};

/** What no answer may be, whatever was asked. Undefined if it is fine. */
async function wrongIn(response: Response): Promise<string | undefined> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? 'none';
  if (response.status >= 500 || /"reason":"(?:INTERNAL|UNAVAILABLE)"/.test(text)) return `${response.status} ${text.slice(0, 500)}`;
  if (!/^(?:application\/(?:a2a\+)?json|text\/event-stream)$/.test(type)) return `${type} ${text.slice(0, 500)}`;
  if (type !== 'text/event-stream') JSON.parse(text);
  return /chorus_|SELECT |node_modules|\.ts:\d/.test(text) && !text.includes('DROP TABLE') ? text.slice(0, 500) : undefined;
}

/** A request that can be sent at all; Node's own client refuses some by itself. */
function printedOf(raw: RawCaller, operation: OperationName, request: Json): ReturnType<RawCaller['print']> | undefined {
  try {
    if (raw.name === 'JSON-RPC')
      return { ...raw.print(operation, {}), body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: operation, params: request }) };
    return raw.print(operation, isStruct(request) ? request : { odd: request });
  } catch {
    return undefined; // half of a surrogate pair in a path
  }
}

function isStruct(value: Json): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const diceOf = (seed: number): Dice => {
  const random = seeded(seed);
  return (limit) => Math.floor(random() * limit);
};

describe('requests that chance has spoiled', () => {
  test.each(callers)('$name: are answered or refused, typed, never with a failure of ours (ERR-09, case 71)', async (raw) => {
    let answered = 0;
    for (let seed = 1; seed <= rounds(3_000, 30); seed += 1) {
      const dice = diceOf(seed);
      const ask = async (operation: OperationName): Promise<void> => {
        const printed = printedOf(raw, operation, mutated(forms[operation], dice));
        const { url } = stage.by(raw);
        if (!printed || !URL.canParse(url + printed.path)) return;
        const response = await fetch(url + printed.path, { ...printed, headers: printed.headers });
        expect(await wrongIn(response), `seed ${seed}, ${operation}: ${printed.path} ${printed.body}`).toBeUndefined();
        answered += 1;
      };
      await Promise.all((Object.keys(forms) as OperationName[]).map(ask)); // its type says so
    }
    expect(answered).toBeGreaterThan(rounds(3_000, 30) * 9);
    expect(failures).toEqual([]);
  });

  test.each(callers)('$name: as bytes are no different: cut, doubled, flipped (ERR-09, case 70)', async (raw) => {
    const printed = raw.print('SendMessage', wholeSend);
    const whole = Buffer.from(printed.body ?? '');
    for (let seed = 1; seed <= rounds(3_000, 120); seed += 1) {
      const dice = diceOf(seed);
      let bytes = Buffer.from(whole);
      for (let times = 1 + dice(4); times > 0; times -= 1) {
        const at = dice(bytes.length || 1);
        const kind = dice(4);
        if (kind === 0) bytes = bytes.subarray(0, at);
        else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(dice(at + 1))]);
        else if (bytes.length > 0) bytes[at] = kind === 2 ? dice(256) : (bytes[at] ?? 0) ^ (1 << dice(8));
      }
      const response = await fetch(stage.by(raw).url + printed.path, { method: 'POST', headers: printed.headers, body: bytes });
      expect(await wrongIn(response), `seed ${seed}: ${bytes.toString('latin1')}`).toBeUndefined();
    }
    expect(failures).toEqual([]);
    expect((await stage.by(raw).send('done')).status.state).toBe('TASK_STATE_COMPLETED');
  });
});
