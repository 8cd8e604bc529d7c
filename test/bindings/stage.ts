import type { Exchange, Mountable } from '../../src/bindings/exchange.ts';
import { interfacesAt } from '../../src/bindings/paths.ts';
import { createRouter } from '../../src/bindings/router.ts';
import type { RouterParts } from '../../src/bindings/router.ts';
import type { Clock, Timer } from '../../src/ground/clock.ts';
import { systemClock } from '../../src/ground/clock.ts';
import type { LogFields, Logger } from '../../src/ground/logger.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { serve } from '../../src/mounts/node.ts';
import type { ServeOptions, Served } from '../../src/mounts/node.ts';
import type { Call, Operations, StreamItem } from '../../src/operations/call.ts';
import { completeCard } from '../../src/protocol/card.ts';
import { A2AError } from '../../src/protocol/errors.ts';
import type { AgentCard, AgentExtension, Json, Task } from '../../src/protocol/types.ts';

/** Time that stands still until the test moves it. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #due = new Set<{ readonly at: number; readonly task: () => void }>();

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): Timer {
    const entry = { at: this.#now + ms, task };
    this.#due.add(entry);
    return { cancel: () => this.#due.delete(entry) };
  }

  get pending(): number {
    return this.#due.size;
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const entry of this.#due) {
      if (entry.at > this.#now) continue;
      this.#due.delete(entry);
      entry.task();
    }
  }
}

/** What an operation was called with. */
export interface Seen {
  readonly operation: string;
  readonly call: Call;
  readonly request: Json;
}

export interface StageOptions extends Partial<Omit<RouterParts, 'operations' | 'card' | 'logger'>> {
  readonly operations?: Partial<Operations>;
  readonly extensions?: readonly AgentExtension[];
}

/** An agent without an inside: the test says what its operations do. */
export class Stage implements Mountable {
  readonly handle: Mountable['handle'];
  readonly clock: Clock;
  readonly drainMs = 300;
  readonly seen: Seen[] = [];
  readonly logged: { readonly event: string; readonly fields: LogFields }[] = [];
  isReady = false;
  starts = 0;
  closes = 0;
  /** What `close` waits for. */
  drained: Promise<void> = Promise.resolve();

  constructor({ operations = {}, extensions, ...parts }: StageOptions = {}) {
    this.clock = parts.clock ?? systemClock;
    this.handle = createRouter({
      random: systemRandom,
      ...parts,
      clock: this.clock,
      logger: this.logger,
      card: (base) => this.cardAt(base, extensions),
      operations: this.#watched(operations),
    });
  }

  readonly #cards = new Map<string, AgentCard>();

  cardAt(base: string, extensions: readonly AgentExtension[] = []): AgentCard {
    const known = this.#cards.get(base);
    if (known) return known;
    const capabilities = { streaming: true, ...(extensions.length > 0 ? { extensions } : {}) };
    const card = completeCard(
      { name: 'Stage', description: 'Does what the test says.', version: '1.0.0', capabilities },
      { interfaces: interfacesAt(base), capabilities },
    );
    this.#cards.set(base, card);
    return card;
  }

  get logger(): Logger {
    const log = (event: string, fields: LogFields = {}): void => void this.logged.push({ event, fields });
    return { debug: log, info: log, warn: log, error: log };
  }

  async start(): Promise<void> {
    this.starts += 1;
    this.isReady = true;
  }

  async close(): Promise<void> {
    this.closes += 1;
    this.isReady = false;
    await this.drained;
  }

  #watched(given: Partial<Operations>): Operations {
    const seen = this.seen;
    return new Proxy(given, {
      get(target, name: keyof Operations) {
        return async (call: Call, request: Json): Promise<unknown> => {
          seen.push({ operation: name, call, request });
          const own: unknown = target[name];
          if (typeof own !== 'function') throw new A2AError('UNSUPPORTED_OPERATION', `The stage has no ${name}.`);
          return own(call, request);
        };
      },
    }) as Operations; // every member is there: the proxy makes it
  }
}

/** A stage on a server of its own; closes with the test's scope. */
export async function onStage(options: StageOptions & { readonly serve?: ServeOptions } = {}): Promise<OpenStage> {
  const { serve: serveOptions, ...rest } = options;
  const stage = new Stage(rest);
  const served = await serve(stage, { signals: false, ...serveOptions });
  return { stage, served, url: served.url, [Symbol.asyncDispose]: () => served.close() };
}

export interface OpenStage extends AsyncDisposable {
  readonly stage: Stage;
  readonly served: Served;
  readonly url: string;
}

/** A GET as a mount would hand it in. */
export function exchangeAt(base: string, path: string, headers: Readonly<Record<string, string>> = {}): Exchange {
  return {
    method: 'GET',
    path,
    base,
    query: new URLSearchParams(),
    header: (name) => headers[name.toLowerCase()],
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
  };
}

/** A task as an operation might answer with it. */
export const aTask: Task = {
  id: 'task-1',
  contextId: 'context-1',
  status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-02T03:04:05.006Z' },
};

/** A message as a client might send it. */
export const aMessage = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } as const;

/** An item of a stream with its cursor. */
export const chunk = (seq: number, text = `${seq} `): StreamItem => ({
  seq,
  item: { artifactUpdate: { taskId: 'task-1', contextId: 'context-1', artifact: { artifactId: 'out', parts: [{ text }] }, append: true } },
});

/** A stream in the hands of the test. */
export class Feed implements AsyncIterable<StreamItem> {
  readonly #items: (StreamItem | Error | undefined)[] = [];
  #wake: () => void = () => {};
  /** True once its reader has left or has read to the end. */
  isLeft = false;

  push(...items: (StreamItem | Error | undefined)[]): this {
    this.#items.push(...items);
    this.#wake();
    return this;
  }

  end(): this {
    return this.push(undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamItem> {
    try {
      for (;;) {
        while (this.#items.length > 0) {
          const item = this.#items.shift();
          if (item === undefined) return;
          if (item instanceof Error) throw item;
          yield item;
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.isLeft = true;
    }
  }

  /** Ends when the call's signal fires, as the real ones do. */
  for(call: Call): AsyncIterable<StreamItem> {
    call.signal.addEventListener('abort', () => this.end(), { once: true });
    return this;
  }
}

/** Waits for something to become true; fails after the deadline. */
export async function until(holds: () => boolean, what: string, deadlineMs = 10_000): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
