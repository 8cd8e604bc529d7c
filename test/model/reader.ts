import { Deferred } from '../../src/ground/deferred.ts';
import type { Mutable } from '../../src/ground/mutable.ts';
import { Stopper } from '../../src/ground/signal.ts';
import type { Entry, EntryRow } from '../../src/log/entry.ts';
import { Follower } from '../../src/log/follow.ts';
import type { Latch } from '../../src/log/latches.ts';
import { Latches } from '../../src/log/latches.ts';
import type { EntriesAsk, EntriesOfTask, Store } from '../../src/log/store.ts';
import { Tail } from '../../src/log/tail.ts';
import type { Action, Stage } from './runs.ts';

// One log of three entries, one writer, and a reader on another replica with its client behind it. The follower, its latch and the shared read
// are production's; the writer, the link of the wakes and the start of a subscription are the model's, a few lines each.

const LAST = 3;

/** How the reader's side goes; a rule is taken away by another part. */
export interface ReaderRules {
  /** `kept`: production's latch as the follower uses it. */
  readonly hint: 'kept' | 'clearedAfterRead' | 'registeredAfterRead' | 'droppedUnlessAwaited';
  /** When the writer sends its wake. */
  readonly wakes: 'whenTold' | 'whenSent';
  /** A wake has the entry in it, and is sent for an unknown outcome too. */
  readonly wakesCarry: boolean;
  readonly snapshot: 'oneRead' | 'twoReads';
  readonly resumes: 'byCursor' | 'bySnapshot';
  readonly endedResume: 'tail' | 'refused';
  readonly foreignCursor: 'asNone' | 'believed';
}

/** With all rules. */
export const readerRules: ReaderRules = {
  hint: 'kept',
  wakes: 'whenTold',
  wakesCarry: false,
  snapshot: 'oneRead',
  resumes: 'byCursor',
  endedResume: 'tail',
  foreignCursor: 'asNone',
};

/** How often each thing may go wrong. */
export interface ReaderTroubles {
  readonly cuts?: number;
  /** A write of unknown outcome that was rolled back; the next one says something else. */
  readonly rollbacks?: number;
  readonly lostWakes?: number;
  readonly doubledWakes?: number;
  readonly forgedWakes?: number;
  /** The client comes with a cursor of another log. */
  readonly foreignCursor?: number;
}

/** A call of the reader's that waits for the store. */
interface Read {
  readonly ask: EntriesAsk | 'row';
  readonly answer: Deferred<readonly EntriesOfTask[]>;
  given?: readonly EntriesOfTask[];
}

interface WakeUnderWay {
  readonly seq: number;
  readonly rows: readonly EntryRow[];
}

/**
 * Production's latches, looked at from outside: what is hidden in them is part of what a stage prints. They are a class with private parts, so
 * this has to be one of them.
 */
class SeenLatches extends Latches {
  isSet = false;
  isWaiting = false;
  #cursor = 0;
  readonly #hint: ReaderRules['hint'];

  constructor(hint: ReaderRules['hint']) {
    super();
    this.#hint = hint;
  }

  override open(taskId: string): Latch {
    let latch = this.#hint === 'registeredAfterRead' ? undefined : super.open(taskId);
    const clear = (cursor: number): void => {
      this.isSet = false;
      this.#cursor = cursor;
      latch?.clear(cursor);
    };
    return {
      clear: (cursor) => {
        if (this.#hint === 'clearedAfterRead') this.#cursor = cursor;
        else clear(cursor);
      },
      next: async (signal) => {
        latch ??= super.open(taskId);
        if (this.#hint !== 'kept' && this.#hint !== 'droppedUnlessAwaited') clear(this.#cursor);
        this.isWaiting = true;
        await latch.next(signal);
        this.isWaiting = false;
      },
      [Symbol.dispose]: () => latch?.[Symbol.dispose](),
    };
  }

  override set(taskId: string, seq: number): void {
    if (this.#hint === 'droppedUnlessAwaited' && !this.isWaiting) return;
    if (this.isWatching && seq > this.#cursor) this.isSet = true;
    super.set(taskId, seq);
  }
}

/** What one client has seen, over all its connections. */
interface ClientView {
  readonly seen: string[];
  /** Bodies, as its fold of snapshot and stream has them. */
  parts: string[];
  lastId: number;
  isDone: boolean;
  refused: boolean;
}

/** The stage that is played. */
export class ReaderStage implements Stage {
  readonly #rules: ReaderRules;
  readonly #log: EntryRow[] = [];
  readonly #wakes: WakeUnderWay[] = [];
  readonly #reads: Read[] = [];
  readonly #latches: SeenLatches;
  readonly #tail: Tail;
  readonly #client: ClientView;
  readonly #left: Mutable<Required<ReaderTroubles>>;
  #writer: 'idle' | 'sent' | 'committed' | 'doubt' = 'idle';
  #isOtherWord = false;
  #connection: 'open' | 'starting' | 'cut' | 'ended' = 'cut';
  #follower: Follower | undefined;
  #connections = 0;
  #isPolled = false;
  /** What the snapshot under way covers. */
  #covered = 0;
  /** What the tail keeps of what it read: it answers from that. */
  #kept: EntryRow[] = [];

  constructor(rules: ReaderRules, troubles: ReaderTroubles) {
    this.#rules = rules;
    this.#left = { cuts: 0, rollbacks: 0, lostWakes: 0, doubledWakes: 0, forgedWakes: 0, foreignCursor: 0, ...troubles };
    this.#log.push(this.#entry(1)); // whoever may subscribe knows of the task, so it is there
    this.#latches = new SeenLatches(rules.hint);
    const entries = (ask: EntriesAsk): Promise<readonly EntriesOfTask[]> => this.#read(ask);
    this.#tail = new Tail({ entries } as Store); // a tail calls nothing else of its store
    this.#client = { seen: [], parts: [], lastId: this.#left.foreignCursor > 0 ? 9 : 0, isDone: false, refused: false };
  }

  print(): string {
    const { isSet, isWaiting } = this.#latches;
    const reads = this.#reads.map(({ ask, given }) => [ask, given]);
    const state = [this.#writer, this.#isOtherWord, this.#connection, this.#isPolled, this.#covered, isSet, isWaiting];
    return JSON.stringify([this.#log, this.#wakes, this.#kept, reads, this.#client, this.#left, state]);
  }

  actions(): readonly Action[] {
    return [...this.#writerActions(), ...this.#wakeActions(), ...this.#readActions(), ...this.#clientActions()];
  }

  broken(): string | undefined {
    const { seen, parts } = this.#client;
    for (const [index, item] of seen.entries()) {
      const seq = Number(item.split(':', 1)[0]);
      const entry = this.#log[seq - 1];
      if (entry === undefined) return 'P2: an entry is shown that is not committed';
      if (`${seq}:${entry.body}` !== item) return 'P2: an entry is shown that the log does not hold';
      const before = Number(seen[index - 1]?.split(':', 1)[0] ?? seq - 1);
      if (seq <= before) return 'P1: an entry is shown twice';
      if (seq > before + 1) return 'P1: entries are missing between two that were shown';
    }
    if (new Set(parts).size < parts.length) return 'P1: the client’s fold has a part twice';
    return parts.some((part, index) => part !== this.#log[index]?.body) ? 'P1: the client’s fold is not the log’s' : undefined;
  }

  unfinished(): string | undefined {
    if (this.#log.length < LAST || this.#client.isDone) return undefined;
    return this.#client.refused ? 'P1: the last entries are never seen' : 'P1: a follower sleeps although its log has grown';
  }

  // -- the writer --

  #writerActions(): readonly Action[] {
    const seq = this.#log.length + 1;
    switch (this.#writer) {
      case 'idle':
        return seq > LAST ? [] : [{ label: `W: sends ${seq}`, act: () => this.#send(seq) }];
      case 'sent':
        return [
          { label: `store: commits ${seq}`, act: () => this.#commit(seq) },
          ...this.#fault('rollbacks', `ROLLBACK of ${seq}, its outcome unknown to W`, () => (this.#writer = 'doubt')),
        ];
      case 'committed':
        return [{ label: `W: is told of ${seq - 1}, wakes`, act: () => this.#told(seq - 1) }];
      case 'doubt':
        return [{ label: `W: goes on with other words for ${seq}`, act: () => this.#doubt(seq) }];
    }
  }

  #send(seq: number): void {
    this.#writer = 'sent';
    if (this.#rules.wakes === 'whenSent') this.#wakes.push({ seq, rows: [] });
  }

  #commit(seq: number): void {
    this.#log.push(this.#entry(seq));
    this.#writer = 'committed';
  }

  #told(seq: number): void {
    this.#writer = 'idle';
    if (this.#rules.wakes === 'whenTold') this.#wakes.push({ seq, rows: this.#rules.wakesCarry ? this.#log.slice(seq - 1, seq) : [] });
  }

  #doubt(seq: number): void {
    if (this.#rules.wakesCarry) this.#wakes.push({ seq, rows: [this.#entry(seq)] });
    this.#isOtherWord = true;
    this.#writer = 'idle';
  }

  #entry(seq: number): EntryRow {
    const body = JSON.stringify({ metadata: { word: this.#isOtherWord ? `${seq} anew` : `${seq}` } });
    const place = { seq, turn: 1, fence: 1, ordinal: seq, at: 1, body };
    return seq === LAST
      ? { ...place, kind: 'status', state: 'TASK_STATE_COMPLETED' }
      : { ...place, kind: 'status', state: 'TASK_STATE_WORKING' };
  }

  // -- wakes: a hint sets the latches, as a task log does it --

  #wakeActions(): readonly Action[] {
    const actions = [...new Map(this.#wakes.map((wake) => [`${wake.seq} ${wake.rows[0]?.body ?? ''}`.trim(), wake]))].flatMap(
      ([name, wake]) => [
        { label: `wake ${name} arrives`, act: () => this.#hear(wake) },
        ...this.#fault('lostWakes', `LOST wake ${name}`, () => {
          this.#wakes.splice(this.#wakes.indexOf(wake), 1);
          this.#isPolled = true;
        }),
        ...this.#fault('doubledWakes', `DOUBLED wake ${name}`, () => this.#wakes.push(wake)),
      ],
    );
    const forged = this.#fault('forgedWakes', 'FORGED wake 9', () => this.#latches.set('task', 9));
    // once a wake is lost the tick that polls is what is left
    const poll = { label: 'tick: tells that the log has grown', act: () => this.#latches.set('task', this.#log.length) };
    return [...actions, ...forged, ...(this.#isPolled ? [poll] : [])];
  }

  #hear(wake: WakeUnderWay): void {
    this.#wakes.splice(this.#wakes.indexOf(wake), 1);
    if (wake.rows.length > 0) this.#tail.offer('task', wake.rows);
    this.#keep(wake.rows);
    this.#latches.set('task', wake.seq);
  }

  // -- reads: the store looks at one moment, its answer arrives at another --

  #keep(rows: readonly EntryRow[]): void {
    const last = rows.at(-1);
    const known = this.#kept.at(-1);
    if (last === undefined) return;
    if (known?.seq === (rows[0]?.seq ?? 0) - 1) this.#kept.push(...rows);
    else if ((known?.seq ?? 0) < last.seq) this.#kept = [...rows];
  }

  #read(ask: Read['ask']): Promise<readonly EntriesOfTask[]> {
    const read: Read = { ask, answer: new Deferred() };
    this.#reads.push(read);
    return read.answer.promise;
  }

  #readActions(): readonly Action[] {
    return this.#reads.map((read) => {
      const name = read.ask === 'row' ? 'row and entries' : `entries above ${read.ask.wants[0]?.after ?? 0}`;
      if (read.given === undefined) return { label: `store: reads ${name}`, act: () => void (read.given = this.#answer(read.ask)) };
      return { label: `reader: gets ${name}`, act: () => this.#give(read) };
    });
  }

  #give(read: Read): void {
    this.#reads.splice(this.#reads.indexOf(read), 1);
    if (read.ask !== 'row') this.#keep(read.given?.[0]?.rows ?? []);
    read.answer.resolve(read.given ?? []);
  }

  #answer(ask: Read['ask']): readonly EntriesOfTask[] {
    const wants = ask === 'row' ? [{ taskId: 'task', after: 0 }] : ask.wants;
    return wants.map(({ taskId, after }) => ({ taskId, rows: this.#log.slice(after), isGone: false }));
  }

  // -- the client and its subscription --

  #clientActions(): readonly Action[] {
    const { lastId, isDone, refused } = this.#client;
    if (isDone || refused) return [];
    if (this.#connection === 'cut')
      return [{ label: `client: subscribes with ${lastId === 0 ? 'no cursor' : `cursor ${lastId}`}`, act: () => void this.#subscribe() }];
    return this.#connection === 'open' ? this.#fault('cuts', 'CUT of the client', () => this.#cut()) : [];
  }

  #cut(): void {
    this.#connection = 'cut';
    void this.#follower?.return();
  }

  async #subscribe(): Promise<void> {
    this.#connection = 'starting';
    const { lastId, seen } = this.#client;
    const connection = ++this.#connections;
    const [found] = await this.#read('row');
    const rows = found?.rows ?? [];
    const isValid = lastId > 0 && (lastId <= rows.length || this.#rules.foreignCursor === 'believed');
    if (isValid && this.#rules.resumes === 'byCursor') {
      if (rows.length === LAST && this.#rules.endedResume === 'refused') {
        this.#client.refused = true;
        return;
      }
      return this.#follow(lastId, connection);
    }
    // a snapshot in two reads: the number it covers is the first one's, what is in it the second one's
    this.#covered = rows.length;
    const [second] = this.#rules.snapshot === 'twoReads' ? await this.#read('row') : [found];
    this.#client.parts = (second?.rows ?? []).map(({ body }) => body);
    if (seen.length === 0) for (const { seq, body } of rows) seen.push(`${seq}:${body}`);
    this.#client.lastId = rows.length;
    if (rows.length === LAST) this.#client.isDone = true;
    else await this.#follow(rows.length, connection);
  }

  async #follow(after: number, connection: number): Promise<void> {
    this.#connection = 'open';
    const follower = new Follower({ taskId: 'task', after }, { tail: this.#tail, latches: this.#latches, signal: new Stopper() });
    this.#follower = follower;
    for await (const item of follower) {
      if (connection !== this.#connections || this.#connection !== 'open') return;
      if (item.kind === 'entries') for (const entry of item.entries) this.#show(entry);
    }
  }

  #show(entry: Entry): void {
    const body = JSON.stringify({ metadata: entry.kind === 'status' ? entry.metadata : undefined });
    const client = this.#client;
    client.seen.push(`${entry.seq}:${body}`);
    client.parts.push(body);
    client.lastId = entry.seq;
    if (entry.seq === LAST) client.isDone = true;
  }

  #fault(kind: keyof ReaderTroubles, label: string, act: () => void): readonly Action[] {
    if (this.#left[kind] <= 0) return [];
    return [
      {
        label,
        isFault: true,
        act: () => {
          this.#left[kind] -= 1;
          act();
        },
      },
    ];
  }
}
